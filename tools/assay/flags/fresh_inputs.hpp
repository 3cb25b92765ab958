#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/inputs/random.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/case_lines.hpp"

/// Fresh data: some cases of a sweep use a random seed that is chosen for this sweep only, so that
/// a kernel cannot contain precomputed results for them.
namespace assay::cli {

/// One in `fresh_share` cases gets fresh data.
inline constexpr std::uint64_t fresh_share = 10;

/// Shortens a random number to a seed that is easy to type.
inline std::uint64_t short_seed(std::uint64_t bits) { return 1 + bits % 999'999'999; }

/// Returns whether the case has input data, and is therefore judged numerically.
template <class Op>
bool has_data(const conformance::Case<Op>& c) {
  return c.violate.empty() && c.track != conformance::Track::arguments;
}

/// Returns the replay lines of cases with fixed data, which the fresh seed of a sweep must not
/// change.
template <class Op>
std::set<std::string> lines_of_fixed_data(const std::vector<conformance::CaseText>& own) {
  std::set<std::string> lines;
  const auto add = [&](const conformance::CaseText& text) {
    for (const conformance::CaseLine& line : conformance::case_lines(text))
      if (line.words.front() == Op::name && !line.follows_seed)
        lines.insert(conformance::command_line(conformance::case_of<Op>(line)));
  };
  for (const conformance::CaseText& text : conformance::shipped_case_texts()) add(text);
  for (const conformance::CaseText& text : own) add(text);
  return lines;
}

/// Gives a new seed to one in ten cases with input data. `fresh_seed` determines these cases and
/// their seeds, so a kernel cannot predict them. `own` contains the cases that the user added.
template <class Op>
void take_fresh_data(std::vector<conformance::Case<Op>>& cases,
                     const std::vector<conformance::CaseText>& own, std::uint64_t fresh_seed) {
  const auto fixed = lines_of_fixed_data<Op>(own);
  const auto lots = conformance::stream(fresh_seed, conformance::Stream::sampling);
  std::uint64_t k = 0;
  for (conformance::Case<Op>& c : cases) {
    if (!has_data(c) || fixed.contains(conformance::command_line(c))) continue;
    const std::uint64_t lot = lots.bits(k / fresh_share);
    if (k % fresh_share == lot % fresh_share) c.seed = short_seed(lot / fresh_share);
    ++k;
  }
}

}  // namespace assay::cli
