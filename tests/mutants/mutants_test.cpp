#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/mutants/kill_table.hpp"
#include "assay/mutants/mutant.hpp"
#include "kill_tables.hpp"

namespace assay {
namespace {

using mutants::KillRow;
using mutants::KillTable;

std::int64_t caught_by(const KillTable& table, const std::string& name, const std::string& rule) {
  for (const KillRow& row : table.rows)
    if (row.mutant.name == name) {
      const auto entry = row.caught_by.find(rule);
      return entry == row.caught_by.end() ? 0 : entry->second;
    }
  ADD_FAILURE() << "no mutant " << name;
  return 0;
}

/// Judges all correct variants, but only every `sample`-th of the faulty kernels. The nightly run
/// judges all of them.
constexpr std::size_t sample = ASSAY_FAULT_SAMPLE;

/// Returns the correct variants, the faulty kernels with these names, and every `sample`-th other
/// faulty kernel.
std::vector<mutants::Mutant> sampled(const std::set<std::string_view>& named) {
  auto all = mutants::mutants<spec::FlashAttentionScoreGrad>();
  std::size_t others = 0;
  std::erase_if(all, [&](const mutants::Mutant& one) {
    return !one.healthy && !named.contains(one.name) && others++ % sample != 0;
  });
  return all;
}

/// Compares Assay with simpler rules from other projects ("yardsticks") in the same runs. Assay
/// must accept every correct variant. A simpler rule may detect more faults only if it rejects some
/// correct variants.
void expect_no_better_yardstick(const KillTable& table) {
  const auto all = table.yardsticks();
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(all[0].name, "Assay");
  EXPECT_EQ(all[0].correct_rejected, 0);
  for (const mutants::YardstickRow& row : all) {
    EXPECT_GE(row.correct_judged, 17) << row.name;
    EXPECT_GE(row.faults_judged, sample == 1 ? 80 : 30) << row.name;
    EXPECT_TRUE(row.correct_rejected > 0 || row.faults_detected <= all[0].faults_detected)
        << row.name;
  }
}

TEST(Mutants, EachIsCaughtByTheRulesMadeForItAndNoHealthyVariantFails) {
  // Pairs of a fault and the only rule that detects the fault in some case. The rule "bias" is
  // missing, because other rules detect the same faults here. compare_test.cpp contains a case that
  // only "bias" detects.
  const std::pair<const char*, const char*> expected[] = {{"ties_away_in_cast", "exact_case"},
                                                          {"ties_away_in_staging", "exact_case"},
                                                          {"truncating_staging", "exact_case"},
                                                          {"prefix_one_more", "exact_case"},
                                                          {"band_may_be_empty", "exact_case"},
                                                          {"drop_bits_reversed", "exact_case"},
                                                          {"drop_on_row_term", "exact_case"},
                                                          {"pse_type_0_as_1", "exact_case"},
                                                          {"square_root_missing", "exact_case"},
                                                          {"dk_rope_from_query", "exact_case"},
                                                          {"rope_not_scaled", "exact_case"},
                                                          {"low_accumulator_dq", "bound"},
                                                          {"low_accumulator_dk_dv", "bound"},
                                                          {"row_term_staged", "bound"},
                                                          {"quadratic_exp", "bound"},
                                                          {"quadratic_exp", "rms"},
                                                          {"forward_max_before_bias", "bound"},
                                                          {"forward_sum_of_dropped", "bound"},
                                                          {"forward_one_replica", "structure"},
                                                          {"modifies_input", "structure"},
                                                          {"writes_padding", "structure"},
                                                          {"order_not_fixed", "determinism"},
                                                          {"refuses_odd_lengths", "status"},
                                                          {"hidden_tile_of_dq_lost", "tile_sum"},
                                                          {"hidden_tile_of_dk_negated", "tile_sum"},
                                                          {"hidden_tile_of_dv_lost", "tile_sum"},
                                                          {"hidden_tile_of_dk_shifted", "tile_sum"},
                                                          {"without_FAG-C34", "status"},
                                                          {"without_FAG-C06", "status"},
                                                          {"without_FAG-C75", "status"}};
  std::set<std::string_view> named;
  for (const auto& [name, rule] : expected) named.insert(name);
  const KillTable table =
      mutants::kill_table(sampled(named), mutants::kill_cases<spec::FlashAttentionScoreGrad>());
  mutants::expect_each_told_apart(table, {.injected = sample == 1 ? 159 : 55, .healthy = 24});
  for (const auto& [name, rule] : expected)
    EXPECT_GT(caught_by(table, name, rule), 0) << name << " by " << rule;
  expect_no_better_yardstick(table);
}

TEST(Mutants, TheTableDoesNotDependOnThreads) {
  auto cases = mutants::kill_cases<spec::FlashAttentionScoreGrad>();
  cases.resize(3);
  auto mutants = mutants::mutants<spec::FlashAttentionScoreGrad>();
  mutants.resize(20);
  const KillTable one = mutants::kill_table(mutants, cases, {.threads = 1});
  const KillTable three = mutants::kill_table(mutants, cases, {.threads = 3});
  ASSERT_EQ(one.rows.size(), three.rows.size());
  for (std::size_t k = 0; k < one.rows.size(); ++k) {
    EXPECT_EQ(one.rows[k].verdicts, three.rows[k].verdicts) << mutants[k].name;
    EXPECT_EQ(one.rows[k].caught_by, three.rows[k].caught_by) << mutants[k].name;
    EXPECT_EQ(one.rows[k].worst, three.rows[k].worst) << mutants[k].name;
    EXPECT_EQ(one.rows[k].cases_to_kill, three.rows[k].cases_to_kill) << mutants[k].name;
  }
}

TEST(Mutants, TracksAddUpToAllCasesAndTheFirstThatFailsIsCounted) {
  // Selects every 40th case. Similar cases are next to each other, so the selection contains a few
  // cases of each type.
  const auto all_cases = mutants::kill_cases<spec::FlashAttentionScoreGrad>();
  std::vector<conformance::Case<spec::FlashAttentionScoreGrad>> cases;
  for (std::size_t k = 0; k < all_cases.size(); k += 40) cases.push_back(all_cases[k]);
  const auto all_mutants = mutants::mutants<spec::FlashAttentionScoreGrad>();
  std::vector<mutants::Mutant> mutants;
  for (std::size_t k = 0; k < all_mutants.size(); k += 5) mutants.push_back(all_mutants[k]);
  std::int64_t caught = 0;
  for (const KillRow& row : mutants::kill_table(mutants, cases).rows) {
    mutants::TrackCount all;
    for (const auto& [track, count] : row.by_track)
      all.cases += count.cases, all.failed += count.failed;
    EXPECT_EQ(all.cases, row.cases) << row.mutant.name;
    EXPECT_EQ(all.failed, row.failed) << row.mutant.name;
    EXPECT_EQ(row.cases_to_kill > 0, row.failed > 0) << row.mutant.name;
    EXPECT_EQ(row.seconds_to_kill > 0, row.failed > 0) << row.mutant.name;
    EXPECT_LE(row.cases_to_kill, row.cases - row.failed + 1) << row.mutant.name;
    caught += row.failed > 0 ? 1 : 0;
  }
  EXPECT_GT(caught, 0);
}

TEST(Mutants, MutantWithoutACaseIsUnexpected) {
  const KillTable empty =
      mutants::kill_table(mutants::mutants<spec::FlashAttentionScoreGrad>(), {}, {.threads = 1});
  for (const KillRow& row : empty.rows) EXPECT_FALSE(row.as_expected()) << row.mutant.name;
  EXPECT_FALSE(empty.as_expected());
}

}  // namespace
}  // namespace assay
