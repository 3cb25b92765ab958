#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "assay/conformance/operators.hpp"
#include "assay/conformance/report/record.hpp"
#include "assay/fixtures/file.hpp"
#include "assay/fixtures/named.hpp"

namespace assay::cli {

inline std::string text_of(const fixtures::Field& field) {
  if (const auto* text = std::get_if<std::string>(&field)) return "'" + *text + "'";
  if (const auto* integer = std::get_if<std::int64_t>(&field)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&field)) return fmt::format("{}", *real);
  return fmt::format("a list of {}", std::get<std::vector<std::int64_t>>(field).size());
}

using Fields = std::vector<std::pair<std::string, fixtures::Field>>;

inline const fixtures::Field* value_of(const Fields& fields, const std::string& name) {
  const auto found = std::ranges::find(fields, name, &Fields::value_type::first);
  return found == fields.end() ? nullptr : &found->second;
}

/// Compares the fields in a file with the fields that follow from the replay line. Returns a
/// description of the first different, additional or missing field; an empty string if all are
/// equal.
inline std::string first_other(const Fields& stored, const Fields& given) {
  for (const auto& [name, value] : stored) {
    const fixtures::Field* const wanted = value_of(given, name);
    if (wanted == nullptr)
      return fmt::format("{} is {}; the replay line gives none", name, text_of(value));
    if (*wanted != value)
      return fmt::format("{} is {}; the replay line gives {}", name, text_of(value),
                         text_of(*wanted));
  }
  for (const auto& [name, value] : given)
    if (value_of(stored, name) == nullptr)
      return fmt::format("{} is missing; the replay line gives {}", name, text_of(value));
  return "";
}

/// Returns the fields that describe a case, except its operator and its replay line.
inline Fields head_fields(const fixtures::CaseRecord& record) {
  Fields fields = {{"entry_point", record.entry_point},
                   {"product", record.product},
                   {"profile", record.profile},
                   {"track", record.track},
                   {"seed", static_cast<std::int64_t>(record.seed)}};
  if (!record.open_question.empty()) fields.emplace_back("open_question", record.open_question);
  return fields;
}

/// Checks that the stored description of a case matches its replay line; otherwise the verdict
/// would belong to another case. `where` names the case in the message. Errors: StoreError.
template <class Op>
void require_undamaged(const fixtures::CaseRecord& head, const conformance::Case<Op>& c,
                       const std::string& where) {
  if (const std::string id = conformance::case_id(head.command); id != head.id)
    throw fixtures::StoreError(
        fmt::format("{}: its id does not match its replay line, which gives {}", where, id));
  const fixtures::CaseRecord own = conformance::recipe(c);
  for (const auto& [group, text] : {std::pair{"", first_other(head_fields(head), head_fields(own))},
                                    {"/problem", first_other(head.problem, own.problem)},
                                    {"/call", first_other(head.call, own.call)}})
    if (!text.empty()) throw fixtures::StoreError(fmt::format("{}{}: {}", where, group, text));
}

/// Returns the names, types and shapes of the tensors that a file may contain for the case.
template <class Op>
fixtures::Expectation expectation_of(const conformance::Case<Op>& c) {
  const spec::Call<Op> call =
      spec::call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  const auto facts = [&]<class Tensors>(Tensors names) {
    std::vector<fixtures::TensorFacts> found;
    visit_fields(names, [&](std::string_view name, const auto&) {
      visit_fields(call.parameters, [&](std::string_view parameter, const auto& member) {
        if constexpr (std::same_as<std::remove_cvref_t<decltype(member)>, spec::Parameter>)
          if (parameter == name && member.present)
            found.push_back({std::string(name), member.dtype, member.shape});
      });
    });
    return found;
  };
  fixtures::Expectation all = {.inputs = facts(typename Op::Inputs{}),
                               .outputs = facts(typename Op::Outputs{})};
  for (fixtures::TensorFacts& output : all.outputs)
    output.may_lack_reference = output.name == "softmax_sum";
  if constexpr (requires(typename Op::Outputs added) {
                  conformance::Suite<Op>::add_outputs(c, added);
                }) {
    typename Op::Outputs added;
    conformance::Suite<Op>::add_outputs(c, added);
    conformance::visit_tensors(added, [&](std::string_view name, const spec::Tensor& tensor) {
      const auto known = std::ranges::find(all.outputs, name, &fixtures::TensorFacts::name);
      if (known == all.outputs.end())
        all.outputs.push_back({std::string(name), tensor.dtype, tensor.shape, true});
      else if (!tensor.shape.empty())
        known->dtype = tensor.dtype;
    });
  }
  return all;
}

}  // namespace assay::cli
