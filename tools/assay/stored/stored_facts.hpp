#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "assay/conformance/case/record.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/fixtures/file.hpp"
#include "assay/fixtures/named.hpp"

namespace assay::cli {

inline std::string text_of(const fixtures::Field& field) {
  if (const auto* text = std::get_if<std::string>(&field)) return "'" + *text + "'";
  if (const auto* integer = std::get_if<std::int64_t>(&field)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&field)) return fmt::format("{}", *real);
  return fmt::format("a list of {}", std::get<std::vector<std::int64_t>>(field).size());
}

/// Of the fields that a file states, the first that the replay line does not give; of an older file
/// some may be absent.
inline std::string first_other(const std::vector<std::pair<std::string, fixtures::Field>>& stored,
                               const std::vector<std::pair<std::string, fixtures::Field>>& given) {
  for (const auto& [name, value] : stored) {
    const auto same_name =
        std::ranges::find(given, name, &std::pair<std::string, fixtures::Field>::first);
    if (same_name == given.end())
      return fmt::format("{} is {}; the replay line gives none", name, text_of(value));
    if (same_name->second != value)
      return fmt::format("{} is {}; the replay line gives {}", name, text_of(value),
                         text_of(same_name->second));
  }
  return "";
}

/// Errors: StoreError where what the file says of a case is not what its replay line gives: a
/// verdict would be of another case than its reader sees. `where`: the case.
template <class Op>
void require_undamaged(const fixtures::CaseRecord& head, const conformance::Case<Op>& c,
                       const std::string& where) {
  if (const std::string id = conformance::case_id(head.command); id != head.id)
    throw fixtures::StoreError(fmt::format("{}: the id of its replay line is {}", where, id));
  const fixtures::CaseRecord own = conformance::recipe(c);
  const std::vector<std::pair<std::string, fixtures::Field>>
      stored = {{"surface", head.surface},
                {"product", head.product},
                {"profile", head.profile},
                {"track", head.track},
                {"seed", static_cast<std::int64_t>(head.seed)}},
      given = {{"surface", own.surface},
               {"product", own.product},
               {"profile", own.profile},
               {"track", own.track},
               {"seed", static_cast<std::int64_t>(own.seed)}};
  for (const auto& [group, text] : {std::pair{"", first_other(stored, given)},
                                    {"/problem", first_other(head.problem, own.problem)},
                                    {"/call", first_other(head.call, own.call)}})
    if (!text.empty()) throw fixtures::StoreError(fmt::format("{}{}: {}", where, group, text));
}

/// The tensors that a file may hold of the case.
template <class Op>
fixtures::Expectation expectation_of(const conformance::Case<Op>& c) {
  const spec::Call<Op> call = spec::call_of(c.problem, c.surface, c.product, c.inputs, c.outputs);
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
  return {.inputs = facts(typename Op::Inputs{}), .outputs = facts(typename Op::Outputs{})};
}

}  // namespace assay::cli
