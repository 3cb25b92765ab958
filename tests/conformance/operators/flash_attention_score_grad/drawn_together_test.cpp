#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "../../plan/sample_checks.hpp"
#include "assay/conformance/plan/formula_fields.hpp"
#include "attention/flash/plan/interactions.hpp"
#include "operators/flash_attention_score_grad/traits.hpp"

/// Tests that the planned cases contain certain combinations of values: each field that a formula
/// can read, for every form of a call; short sequences next to empty sequences; and the values of
/// any four fields together.
namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using FlashCase = Case<Op>;

/// Shows that the test can fail: without the cases with prefixes, for example, it must report that
/// no planned case depends on the prefix.
TEST(FormulaFields, AreListedIfNoCaseDependsOnThem) {
  std::vector<FlashCase> cases = testing::default_cases<Op>();
  std::erase_if(cases, [](const FlashCase& c) {
    return !c.problem.prefix.empty() && c.entry_point == spec::FlashEntryPoint::g1;
  });
  for (const FieldCoverage& field : field_coverage<Op>(cases)) {
    if (field.field != "prefix") continue;
    EXPECT_EQ(field.unexcited.size(), 4u);
    for (const std::string& place : field.unexcited)
      EXPECT_NE(place.find("entry_point=g1"), std::string::npos) << place;
  }
}

/// Each string in `found` contains the entry point, the length of the longest sequence, and 0 for
/// query sequences or 1 for key sequences.
TEST(ShortSequences, OneToThreeTokensOccurWithEmptySequencesOnBothSides) {
  std::set<std::string> found, in_front;
  for (const FlashCase& c : testing::default_cases<Op>()) {
    const Op::Problem& p = c.problem;
    if (!testing::is_value_case(c) || !is_packed(p.input_layout)) continue;
    const auto add = [&](const std::string& side, const std::vector<std::int64_t>& lengths,
                         std::int64_t longest) {
      if (lengths.empty() || longest > 3 || std::ranges::min(lengths) > 0) return;
      const std::string name =
          std::string(to_string(c.entry_point)) + " " + side + " " + std::to_string(longest);
      found.insert(name);
      if (lengths[0] == 0 && p.group() > 1) in_front.insert(side + std::to_string(longest));
    };
    add("query", p.lengths_q, p.seq_q);
    add("key", p.lengths_kv, p.seq_kv);
  }
  EXPECT_EQ(found.size(), 5u * 2 * 3);
  EXPECT_EQ(in_front.size(), 2u * 3);
}

/// Counts the combinations of four values that are legal together. Each combination must occur in a
/// case of interaction_cases().
TEST(FourChoices, EveryLegalCombinationOccursInACase) {
  const auto value = [](bool holds) -> std::size_t { return holds ? 1 : 0; };
  std::set<std::uint64_t> held;
  for (const FlashCase& c : flash::interaction_cases<Op>(1)) {
    const Op::Problem& p = c.problem;
    const bool has_bias = p.pse_shift != spec::PseShape::absent;
    const std::size_t dtype = p.dtype == spec::DType::fp16   ? 0
                              : p.dtype == spec::DType::bf16 ? 1
                                                             : 2;
    flash::visit_fours(
        {static_cast<std::size_t>(p.input_layout), dtype, static_cast<std::size_t>(p.sparse_mode),
         has_bias ? static_cast<std::size_t>(p.pse_type) + 1 : 0, value(p.has_dropout()),
         value(p.group() > 1), value(p.seq_q % 16 != 0), value(p.head_dim_v < p.head_dim)},
        [&](std::uint64_t four) { held.insert(four); });
  }
  flash::Interaction x{};
  std::size_t legal = 0;
  const auto visit = [&](auto&& next, std::size_t factor) -> void {
    if (factor == x.size()) {
      if (!flash::interaction_case<Op>(x, legal)) return;
      ++legal;
      flash::visit_fours(x, [&](std::uint64_t four) { EXPECT_TRUE(held.contains(four)) << four; });
      return;
    }
    for (x[factor] = 0; x[factor] < flash::values_of_factors[factor]; ++x[factor])
      next(next, factor + 1);
    x[factor] = 0;
  };
  visit(visit, 0);
  EXPECT_GT(legal, 5000u);
}

}  // namespace
}  // namespace assay::conformance
