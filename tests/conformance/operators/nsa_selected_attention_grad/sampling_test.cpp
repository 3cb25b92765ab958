#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "../../plan/sample_checks.hpp"
#include "../../printed.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/conformance/plan/coverage.hpp"
#include "assay/conformance/plan/formula_fields.hpp"
#include "assay/conformance/sweep/shrink.hpp"
#include "case/reduction.hpp"
#include "plan/hand_made_cases.hpp"
#include "selection/plan/draws.hpp"

namespace assay::conformance {
namespace {

using selection::listed_keys;
using SelectedCase = Case<spec::NsaSelectedAttentionGrad>;
using Op = spec::NsaSelectedAttentionGrad;

const std::vector<SelectedCase>& default_cases() { return testing::default_cases<Op>(); }

bool is_value_case(const SelectedCase& c) { return testing::is_value_case(c); }

TEST(SelectedSample, CountsPairsWithoutACall) {
  const PairCoverage coverage = pair_coverage<Op>();
  EXPECT_EQ(coverage.forbidden(), 62);
  EXPECT_EQ(coverage.unreachable(), 63);
}

/// Removes the cases that pass a mask. Without them, no case depends on sparse mode 2, and the test
/// must find this.
TEST(SelectedFormulaFields, AreListedIfNoCaseDependsOnThem) {
  std::vector<SelectedCase> cases = default_cases();
  std::erase_if(cases, [](const SelectedCase& c) {
    return c.problem.atten_mask != spec::SelectedMask::absent && c.problem.sparse_mode == 2;
  });
  for (const FieldCoverage& field : field_coverage<Op>(cases)) {
    if (field.field != "sparse_mode") continue;
    EXPECT_EQ(field.unexcited, std::vector<std::string>{"sparse_mode=2"});
  }
}

/// Every forbidden combination of two values must violate the requirement that it names.
TEST(SelectedSample, ForbiddenPairsBreakWhatTheyNameAndHaveNoAdmissibleCall) {
  testing::expect_forbidden_pairs_to_break_what_they_name<Op>(
      [](const Choice& choice, std::uint64_t lot) {
        return selection::draw_case<Op>(selection::factors<Op>().chosen(choice), 2e3, lot);
      });
}

/// A random case must be legal and must have the values that were chosen for its category.
TEST(SelectedSample, DrawnCasesAreOfTheirCategories) {
  for (std::uint64_t lot = 1; lot <= 300; ++lot) {
    const Choice choice = random_choice(selection::choice_space<Op>(), lot);
    const SelectedCase c =
        selection::draw_case<Op>(selection::factors<Op>().chosen(choice), 2e3, lot);
    const Choice values = selection::factors<Op>().read(c);
    for (std::size_t axis = 0; axis < selection::factors<Op>().axes().size(); ++axis)
      EXPECT_EQ(values[axis], choice[axis])
          << selection::factors<Op>().axes()[axis].name << ": " << command_line(c);
    EXPECT_NO_THROW(parse_case<Op>(case_words(command_line(c), Op::name))) << command_line(c);
  }
}

/// Tests that the sample contains the lists and lengths with which kernels of selected attention
/// are often wrong.
TEST(SelectedSample, HoldsTheAxesOfTheGuidance) {
  std::set<std::int64_t> groups, sizes, counts, distances;
  std::set<std::pair<std::int64_t, std::int64_t>> dims, boundary;
  bool has_128_heads = false, has_duplicates_of_32 = false;
  for (const auto& c : default_cases()) {
    const Op::Problem& p = c.problem;
    if (!is_value_case(c)) continue;
    groups.insert(p.group());
    sizes.insert(p.selected_block_size);
    counts.insert(p.selected_block_count);
    dims.emplace(p.head_dim, p.head_dim_v);
    has_128_heads |= p.heads_q == 128;
    has_duplicates_of_32 |= c.patterns.lists == "all_equal" && p.selected_block_count == 32;
    if (p.selected_block_count == 16 && p.selected_block_size == 64)
      boundary.emplace(p.group(), p.head_dim_v);
    // The cases with a mask must contain the query at the end of the listed blocks, the one before
    // it, and the one after it.
    if (p.sparse_mode == 2)
      for (const std::int64_t s : {-1, 0, 1})
        if (p.seq_q > listed_keys(p) + s) distances.insert(s);
  }
  for (const std::int64_t group : {1, 2, 4, 15, 16, 17, 32})
    EXPECT_TRUE(groups.contains(group)) << group;
  for (std::int64_t size = 16; size <= 128; size += 16) EXPECT_TRUE(sizes.contains(size)) << size;
  for (const std::int64_t count : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32})
    EXPECT_TRUE(counts.contains(count)) << count;
  EXPECT_EQ(dims.size(), 4u);
  EXPECT_EQ(distances.size(), 3u);
  for (const std::int64_t group : {16, 17})
    for (const std::int64_t head_dim_v : {128, 192})
      EXPECT_TRUE(boundary.contains({group, head_dim_v})) << group << ' ' << head_dim_v;
  EXPECT_TRUE(has_128_heads);
  EXPECT_TRUE(has_duplicates_of_32);
}

TEST(SelectedSample, TakesGroupsAndSequencesFromRangesAndMoreTokensThan16BitsCount) {
  std::set<std::int64_t> groups, sequences;
  std::int64_t tokens = 0;
  for (const auto& c : default_cases()) {
    if (!is_value_case(c)) continue;
    groups.insert(c.problem.group()), sequences.insert(c.problem.batch);
    tokens = std::max(tokens, query_extents(c.problem).tokens());
    if (c.track != Track::bound && is_value_case(c)) {
      EXPECT_EQ(c.rows, 0) << command_line(c);
    }
  }
  EXPECT_GE(groups.size(), 20u);
  EXPECT_GE(sequences.size(), 9u);
  EXPECT_GT(tokens, 0xffff);
}

/// Lists with block numbers of 256 and above, which do not fit into 8 bits. Some queries must
/// attend to these blocks.
TEST(SelectedSample, ListsBlocksBeyond8Bits) {
  EXPECT_TRUE(std::ranges::any_of(testing::default_cases<Op>(), [](const Case<Op>& c) {
    if (!testing::is_value_case(c) || c.problem.seq_kv < 256 * 16) return false;
    const spec::Tensor lists = make_topk_indices(c);
    return std::ranges::count_if(viewed_elements(lists), [&](std::int64_t element) {
             return lists.load(element) > 255;
           }) > 4;
  }));
}

TEST(SelectedSample, HasPublishedShapes) {
  const auto whole = hand_made_cases<Op>("models", {.full = true});
  ASSERT_GE(whole.size(), 4u);
  EXPECT_EQ(whole[0].problem.head_dim, 192);
  EXPECT_EQ(whole[0].problem.head_dim_v, 128);
  EXPECT_EQ(whole[0].problem.group(), 16);
  EXPECT_EQ(listed_keys(whole[0].problem), 1024);
  for (const auto& c : hand_made_cases<Op>("models"))
    EXPECT_LE(selection::entries(c.problem), 3e5) << c.note;
}

TEST(SelectedCase, InvalidCaseIsRefused) {
  const auto refused = [](std::vector<std::string> words) -> std::string {
    try {
      parse_case<Op>(words);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(refused({"--lists=nonesuch"}).find("shuffled"), std::string::npos);
  EXPECT_NE(refused({"--dtype=fp32"}).find("fp16, bf16"), std::string::npos);
  EXPECT_NE(refused({"--heads_q=3", "--heads_kv=2"}).find("divisors"), std::string::npos);
  EXPECT_NE(refused({"--sparse_mode=2"}).find("NSAS-C33a"), std::string::npos);
  EXPECT_EQ(refused({"--sparse_mode=2", "--track=arguments"}), "accepted");
  EXPECT_NE(refused({"--sparse_mode=2", "--atten_mask=compressed", "--scale_value=-1"})
                .find("more than 0"),
            std::string::npos);
  EXPECT_EQ(refused({"--head_dim=64"}),
            "--head_dim=64: accepted: 128 or 192; 'assay explain NSAS-C21' says why");
  EXPECT_EQ(refused({"--head_dim=160"}),
            "--head_dim=160: accepted: 128 or 192; 'assay explain NSAS-C21' says why");
  EXPECT_EQ(refused({"--selected_block_size=24"}),
            "--selected_block_size=24: accepted: 16 to 128 in steps of 16; 'assay explain "
            "NSAS-C34' says why");
  EXPECT_EQ(refused({"--sparse_mode=1"}),
            "--sparse_mode=1: accepted: 0 or 2; 'assay explain NSAS-C33' says why");
  EXPECT_EQ(refused({"--head_dim=128", "--head_dim_v=192"}), "accepted");
  EXPECT_NE(refused({"--seq_kv=40"}).find("NSAS-C30"), std::string::npos);
  EXPECT_EQ(refused({"--seq_kv=16"}), "accepted");  // NSAS-C29 is an open question
  EXPECT_NE(refused({"--relation=strided"}).find("track=relation"), std::string::npos);
  EXPECT_NE(refused({"--track=relation", "--relation=permute_blocks", "--sparse_mode=2",
                     "--atten_mask=compressed"})
                .find("a case to which the relation applies: no mask"),
            std::string::npos);
  EXPECT_NE(
      refused({"--batch=100000", "--heads_q=128", "--heads_kv=128", "--seq_q=16"}).find("GiB"),
      std::string::npos);
}

/// Shrinking must end with the smallest case in which a list still contains a block twice.
TEST(SelectedShrink, FindsASmallCase) {
  SelectedCase c{.patterns = {.lists = "duplicates"}};
  c.problem = {.batch = 3,
               .heads_q = 6,
               .heads_kv = 2,
               .seq_q = 21,
               .seq_kv = 320,
               .lengths_q = {21, 3, 9},
               .lengths_kv = {256, 320, 192},
               .head_dim = 192,
               .head_dim_v = 192,
               .scale_value = 0.0625,
               .selected_block_size = 64,
               .selected_block_count = 3};
  const CaseJudge<Op> judge = [](const SelectedCase& candidate) {
    CaseReport report = blank_report(candidate);
    const bool fails =
        candidate.patterns.lists == "duplicates" && candidate.problem.selected_block_count > 1;
    report.verdict = testing::decided(fails ? Verdict::nonconformant_proven : Verdict::conforms);
    return report;
  };
  const Shrunk<Op> shrunk = shrink<Op>(c, judge(c), judge, {.runs = 1000, .seconds = 1e9});
  const Op::Problem& p = shrunk.smallest.problem;
  EXPECT_EQ(shrunk.end, ShrinkEnd::smallest);
  EXPECT_EQ(p.batch, 1);
  EXPECT_EQ(p.heads_q, 1);
  EXPECT_EQ(p.seq_q, 1);
  EXPECT_EQ(p.selected_block_size, 16);
  EXPECT_EQ(p.selected_block_count, 2);
  EXPECT_EQ(p.seq_kv, 32);
  EXPECT_EQ(p.head_dim, 128);
  EXPECT_EQ(p.head_dim_v, 128);
  EXPECT_EQ(shrunk.smallest.patterns.lists, "duplicates");
}

TEST(SelectedShrinking, MakesListsPlainerAndNeverLessPlain) {
  const auto plainer = [](const char* lists) {
    SelectedCase c;
    c.patterns.lists = lists;
    std::vector<std::string> all;
    for (const auto& reduction : Suite<Op>::reductions())
      for (const SelectedCase& smaller : reduction.smaller(c))
        if (smaller.patterns.lists != lists) all.push_back(smaller.patterns.lists);
    return all;
  };
  using Lists = std::vector<std::string>;
  EXPECT_EQ(plainer("identity"), Lists{});
  EXPECT_EQ(plainer("ascending"), Lists{"identity"});
  EXPECT_EQ(plainer("shuffled"), (Lists{"identity", "ascending"}));
  EXPECT_EQ(plainer("duplicates"), (Lists{"identity", "ascending", "shuffled"}));
}

}  // namespace
}  // namespace assay::conformance
