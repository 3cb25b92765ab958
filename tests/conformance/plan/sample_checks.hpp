#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/case/record.hpp"
#include "assay/conformance/plan/sampling.hpp"

/// What every operator's plan of a sweep promises.
namespace assay::conformance::testing {

/// The plan of a sweep without options. Made once.
template <class Op>
const std::vector<Case<Op>>& default_cases() {
  static const auto cases = sample<Op>({});
  return cases;
}

template <class Op>
bool is_value_case(const Case<Op>& c) {
  return c.track != Track::phase1;
}

template <class Op>
void expect_cases_to_follow_their_seed() {
  EXPECT_EQ(sample<Op>({}), default_cases<Op>());
  EXPECT_NE(sample<Op>({.seed = 2}), default_cases<Op>());
}

template <class Op>
void expect_no_line_twice() {
  std::set<std::string> lines;
  for (const auto& c : default_cases<Op>()) EXPECT_TRUE(lines.insert(command_line(c)).second);
}

/// The note of a case is no part of its line.
template <class Op>
void expect_every_line_to_parse_back() {
  for (auto c : default_cases<Op>()) {
    c.note.clear();
    EXPECT_EQ(parse_case<Op>(case_words(command_line(c), Op::name)), c) << command_line(c);
  }
}

template <class Op>
void expect_every_side_of_every_row() {
  std::set<std::string_view> accepted;
  std::set<std::string> violated;
  for (const auto& c : default_cases<Op>()) {
    if (!c.violate.empty()) {
      violated.insert(c.violate);
      continue;
    }
    const auto call = call_of(c);
    for (const auto& row : Op::constraints())
      if (row.applies(call) && row.holds(call)) accepted.insert(row.id);
  }
  for (const auto& row : Op::constraints()) {
    EXPECT_TRUE(!row.has(spec::Side::accept) || accepted.contains(row.id)) << row.id;
    for (const auto& violation : row.violations)
      EXPECT_TRUE(violated.contains(std::string(row.id) + ":" + std::string(violation.name)))
          << row.id << ":" << violation.name;
  }
}

}  // namespace assay::conformance::testing
