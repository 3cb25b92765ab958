#pragma once

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/case_lines.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "stored/stored_case.hpp"

namespace assay::cli {

/// Maximum number of elements in the large tensors of a case, for each kind of pack.
inline constexpr std::int64_t elements_of_smoke = 1 << 13, elements_of_tier_1 = 1 << 15,
                              elements_of_operator = 1 << 17;

/// A named set of cases that `assay pack` can write.
struct PackSet {
  std::string name, sentence;
};

/// Returns the name of the set of a published model: "model-bert-base" for "BERT-base". Returns an
/// empty string if `model` is empty.
std::string set_of_model(const std::string& model);

/// Returns all sets in the order in which `assay pack --list` prints them.
std::vector<PackSet> pack_sets();

/// The name of an input profile (distribution of input values) with large values. In some rows P or
/// dS may overflow when a kernel rounds them to 16 bits. The judge exempts such rows from judging,
/// but a pack cannot mark them.
inline constexpr std::string_view profile_with_exempt_rows = "overflow_fp16";

/// Returns the planned cases whose tensors have at most `largest` elements, sorted by cost. Omits
/// cases in which some rows may overflow in 16 bits, because a pack cannot mark such rows.
template <class Op>
std::vector<conformance::Case<Op>> planned_up_to(std::int64_t largest) {
  std::vector<conformance::Case<Op>> cases = conformance::sample<Op>({});
  std::erase_if(cases, [&](const auto& c) {
    return without_tensors(c) || c.profile == profile_with_exempt_rows ||
           conformance::Suite<Op>::tensor_elements(c.problem) > largest;
  });
  return cases;
}

/// Returns the first case of each group. Two cases are in the same group if `kind_of` returns the
/// same text for them.
template <class Op>
std::vector<conformance::Case<Op>> first_of_each(
    std::vector<conformance::Case<Op>> cases,
    const std::function<std::string(const conformance::Case<Op>&)>& kind_of) {
  std::set<std::string> seen;
  std::erase_if(cases, [&](const auto& c) { return !seen.insert(kind_of(c)).second; });
  return cases;
}

/// Returns those planned cases that come from a published model.
template <class Op>
std::vector<conformance::Case<Op>> cases_of_model(const std::string& set) {
  std::vector<conformance::Case<Op>> cases;
  for (const conformance::CaseText& text : conformance::shipped_case_texts())
    for (const conformance::CaseLine& line : conformance::case_lines(text))
      if (line.words.front() == Op::name && line.in_ordinary_plan &&
          set_of_model(line.model) == set)
        cases.push_back(conformance::case_of<Op>(line));
  return cases;
}

template <class Op>
std::vector<conformance::Case<Op>> cases_of_set(const std::string& set) {
  using conformance::Case;
  const auto kind = [](const Case<Op>& c) {
    return std::string(to_string(c.problem.dtype)) + ' ' +
           std::to_string(static_cast<int>(c.track));
  };
  if (set == "smoke") return first_of_each<Op>(planned_up_to<Op>(elements_of_smoke), kind);
  if (set == "profiles")
    return first_of_each<Op>(planned_up_to<Op>(elements_of_operator),
                             [&](const Case<Op>& c) { return kind(c) + ' ' + c.profile; });
  if (set == "tier-1") return planned_up_to<Op>(elements_of_tier_1);
  if (set == Op::name) return planned_up_to<Op>(elements_of_operator);
  return cases_of_model<Op>(set);
}

}  // namespace assay::cli
