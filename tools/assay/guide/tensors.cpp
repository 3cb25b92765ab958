#include <fmt/format.h>

#include <set>
#include <type_traits>

#include "assay/spec/operators.hpp"
#include "guide/guide.hpp"

namespace assay::cli {
namespace {

std::string kind_of(const spec::Parameter& tensor) {
  if (!tensor.present) return "none by default |";
  return fmt::format("{} | ({})", to_string(tensor.dtype), fmt::join(tensor.shape, ", "));
}

/// Returns one table row for every tensor of an operator: name, direction, type and shape.
template <class Op>
std::string rows_of_tensors() {
  std::set<std::string_view> outputs;
  typename Op::Outputs written;
  visit_fields(written, [&](std::string_view name, const auto&) { outputs.insert(name); });
  std::string rows;
  const auto call =
      spec::call_of(typename Op::Problem(), typename Op::EntryPoint(), spec::Product::a2,
                    spec::Striding::contiguous, spec::Striding::contiguous);
  visit_fields(call.parameters, [&](std::string_view name, const auto& parameter) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(parameter)>, spec::Parameter>)
      rows += fmt::format("| `{}` | {} | {} |\n", name, outputs.contains(name) ? "output" : "input",
                          kind_of(parameter));
  });
  return rows;
}

}  // namespace

std::string table_of_tensors(std::string_view operator_name) {
  std::string rows;
  spec::for_each_operator([&]<class Op> {
    if (Op::name == operator_name) rows = rows_of_tensors<Op>();
  });
  return "\nThe tensors, with the names that kernels in Python, packs and reports use. Types and "
         "shapes are those of a call without flags.\n\n| tensor | | type | shape "
         "|\n|---|---|---|---|\n" +
         rows;
}

}  // namespace assay::cli
