#include "generated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "assay/mutants/kill_table.hpp"
#include "assay/spec/operators.hpp"
#include "kill_tables.hpp"

namespace assay::mutants {

namespace {

std::vector<Spot> spots() {
  std::vector<Spot> all;
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t n = 0; n < 4; ++n)
      for (std::int64_t i = 0; i < 30; ++i)
        for (std::int64_t j = 0; j < 50; ++j)
          all.push_back({.b = b, .n = n, .i = i, .j = j, .heads = 4, .rows = 30, .keys = 50});
  return all;
}

std::int64_t happenings(Where where) {
  return std::ranges::count_if(spots(), [&](const Spot& spot) { return happens(where, spot); });
}

TEST(Generated, HappensOnlyAtItsPlaces) {
  EXPECT_EQ(happenings(Where::last_key), 2 * 4 * 30);
  EXPECT_EQ(happenings(Where::tile_edge), 2 * 4 * 30 * 3);
  EXPECT_EQ(happenings(Where::last_row), 2 * 4 * 50);
  EXPECT_EQ(happenings(Where::last_head), 2 * 30 * 50);
  EXPECT_EQ(happenings(Where::later_sequences), 4 * 30 * 50);
  EXPECT_NEAR(static_cast<double>(happenings(Where::seldom)), 12000 / 97.0, 45);
  EXPECT_NEAR(static_cast<double>(happenings(Where::rarely)), 12000 / 2003.0, 6);
  EXPECT_GT(happenings(Where::rarely), 0);
}

TEST(Generated, UsesTheNumberOfAnotherPlaceIfItExists) {
  const Spot spot = {.b = 0, .n = 1, .i = 0, .j = 7, .heads = 2, .rows = 3, .keys = 8};
  EXPECT_EQ(taken_from(Change::of_neighbour, spot).j, 6);
  EXPECT_EQ(taken_from(Change::of_row_above, spot).i, 1) << "nothing is above row 0";
  EXPECT_EQ(taken_from(Change::of_other_head, spot).n, 0);
  EXPECT_EQ(taken_from(Change::negated, spot).j, 7);
  const Spot alone = {.b = 0, .n = 0, .i = 0, .j = 0, .heads = 1, .rows = 1, .keys = 1};
  for (const Change change : every_change) {
    const Spot other = taken_from(change, alone);
    EXPECT_EQ(other.n + other.i + other.j, 0);
  }
}

TEST(Generated, ChangesNumbers) {
  EXPECT_EQ(changed(Change::negated, 1.5f), -1.5f);
  EXPECT_EQ(changed(Change::lost, 1.5f), 0);
  EXPECT_EQ(changed(Change::doubled, 1.5f), 3);
  EXPECT_EQ(changed(Change::coarse, 1.1875f), 1.25f) << "the result must have three bits";
  EXPECT_EQ(changed(Change::of_neighbour, 1.5f), 1.5f);
}

TEST(Generated, IsHealthyOutsideItsStepAndPlaces) {
  const auto sound = [](const Spot& at) { return static_cast<float>(10 * at.i + at.j); };
  const Growth bug({Step::product, Change::of_neighbour, Where::last_key});
  const Spot middle = {.b = 0, .n = 0, .i = 2, .j = 3, .heads = 1, .rows = 4, .keys = 5};
  Spot last = middle;
  last.j = 4;
  EXPECT_EQ(bug(Step::product, middle, sound), 23);
  EXPECT_EQ(bug(Step::product, last, sound), 23);
  EXPECT_EQ(bug(Step::score, last, sound), 24);
  const Growth stale({Step::product, Change::stale, Where::last_key});
  EXPECT_EQ(stale(Step::product, middle, sound), 23);
  EXPECT_EQ(stale(Step::product, last, sound), 23);
  EXPECT_EQ(stale(Step::product, middle, sound), 23);
}

TEST(Generated, HaveNamesOfTheirOwnAndAreMany) {
  std::size_t injected = 0;
  spec::for_each_operator([&]<class Op> {
    std::set<std::string> names;
    for (const auto& one : mutants<Op>()) {
      EXPECT_TRUE(names.insert(one.name).second) << Op::name << ' ' << one.name;
      injected += one.healthy ? 0 : 1;
    }
    for (const auto& one : generated_mutants<Op>()) {
      EXPECT_TRUE(names.insert(one.name).second) << Op::name << ' ' << one.name;
      EXPECT_FALSE(one.healthy);
      ++injected;
    }
  });
  EXPECT_GE(injected, 1000u);
}

/// Only every `sample`-th generated mutant (faulty kernel) of an operator is tested. The selection
/// contains mutants for every step and every position.
constexpr std::size_t sample = ASSAY_GENERATED_SAMPLE;

/// The intermediate result ("stage") that the explanation of a failure must name if this step of
/// this operator has a fault. An empty operator stands for the gradients of attention, an empty
/// step for all other steps. If several entries apply, the first one counts.
struct StageOf {
  std::string_view operator_name, step, stage;
};
constexpr StageOf stages[] = {
    {"nsa_compress_grad", "channel_sum_", "the sums over channels and windows"},
    {"nsa_compress_grad", "weight_", "the weight that enters input_grad"},
    {"nsa_compress", "", "the weights, the choice of the tokens of a window"},
    {"flash_attention_score", "dropped_", "the P after dropout"},
    {"flash_attention_score", "value_of_output_", "the sum over keys that gives attention_out"},
    {"flash_attention_score", "", "the scores, their mask or the softmax statistics"},
    {"nsa_selected_attention", "probability_", "the P that is multiplied by value"},
    {"nsa_selected_attention", "value_of_output_", "the sum over keys"},
    {"nsa_selected_attention", "", "the choice of the keys or the softmax statistics"},
    {"", "dropped_", "the P after dropout that enters dv"},
    {"", "dy_of_dv_", "the sum over queries that gives dv"},
    {"", "key_of_dq_", "the sum over keys that gives dq"},
    {"", "query_of_dk_", "the sum over queries that gives dk"},
    {"", "dprobability_", "dP, the row term or dS"},
    {"", "dscore_", "dP, the row term or dS"},
    {"", "row_term_", "dP, the row term or dS"},
    {"", "probability_", "P (the scores"},
    {"", "product_", "P (the scores"},
    {"", "softmax_max_", "P (the scores"},
    {"", "softmax_sum_", "P (the scores"},
};

std::string_view stage_of(const MutantFacts& mutant) {
  for (const StageOf& one : stages)
    if ((one.operator_name.empty() || one.operator_name == mutant.operator_name) &&
        mutant.name.starts_with("generated_" + std::string(one.step)))
      return one.stage;
  return {};  // belongs to all gradients (the key of a selected pair): no stage
}

/// Expects that the first explanation of nearly every mutant names the intermediate result with the
/// fault. At most 5 % of the mutants may be exceptions, or one mutant if there are few.
void expect_stages_named(const KillTable& table) {
  std::int64_t asked = 0, named = 0;
  std::string others;
  for (const KillRow& row : table.rows) {
    const std::string_view stage = stage_of(row.mutant);
    if (stage.empty()) continue;
    const std::size_t at = row.cause.find("; stage: ");
    ++asked;
    if (at != std::string::npos && row.cause.find(stage, at) != std::string::npos)
      ++named;
    else
      others += row.mutant.name + ": " + row.cause + '\n';
  }
  EXPECT_LE(asked - named, std::max<std::int64_t>(1, asked / 20)) << others;
  EXPECT_GT(asked, 0);
}

TEST(GeneratedMutants, AreCaughtAndTheirStagesNamed) {
  spec::for_each_operator([&]<class Op> {
    if (generated_mutants<Op>().empty()) return;
    std::vector<MutantOf<Op>> chosen;
    const auto all = generated_mutants<Op>();
    for (std::size_t k = 0; k < all.size(); k += sample) chosen.push_back(all[k]);
    const KillTable table = kill_table(chosen, kill_cases<Op>());
    expect_each_told_apart(table, {.injected = static_cast<std::int64_t>(chosen.size())});
    expect_stages_named(table);
  });
}

}  // namespace
}  // namespace assay::mutants
