#include "assay/conformance/plan/sampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>

#include "../../plan/sample_checks.hpp"
#include "attention/flash/plan/drawn.hpp"
#include "operators/flash_attention_score_grad/traits.hpp"
#include "plan/hand_made_cases.hpp"
#include "plan/pairwise.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using FlashCase = Case<Op>;
using spec::MaskShape;

const std::vector<FlashCase>& default_cases() { return testing::default_cases<Op>(); }

bool is_value_case(const FlashCase& c) { return testing::is_value_case(c); }

/// Returns the drop mask of a planned case. Returns nothing if the case has no drop mask, or if the
/// exact case cannot be made.
std::optional<spec::Tensor> drop_mask_of(const FlashCase& c) {
  if (c.problem.drop_mask == spec::DropMask::absent || c.track == Track::arguments)
    return std::nullopt;
  if (c.track != Track::exact && c.track != Track::exact_staged) return make_drop_mask(c);
  try {
    return Suite<Op>::exact(c, {}).inputs.drop_mask;
  } catch (const NoExactCase&) {
    return std::nullopt;
  }
}

/// Requirement FAG-C93: the share of ones in every drop mask is keep_prob. In patterns that keep or
/// drop whole rows, keep_prob is the probability that a row is kept.
TEST(Sample, ShareOfOnesIsKeepProbInEveryDropMask) {
  int masks = 0, without_dropout = 0;
  for (const FlashCase& c : default_cases()) {
    const auto mask = drop_mask_of(c);
    if (!mask) continue;
    const Op::Problem& p = c.problem;
    const std::int64_t scores = spec::score_count(p);
    std::int64_t ones = 0;
    for (std::int64_t e = 0; e < scores; ++e) {
      const std::byte byte = mask->bytes[static_cast<std::size_t>(mask->offset + e / 8)];
      ones += (byte >> (e % 8) & std::byte{1}) == std::byte{1} ? 1 : 0;
    }
    const double drawn_alike = c.patterns.drop == "whole_rows" ? static_cast<double>(p.seq_kv) : 1;
    const auto count = static_cast<double>(scores);
    const double deviation = std::sqrt(drawn_alike * count * p.keep_prob * (1 - p.keep_prob));
    EXPECT_NEAR(static_cast<double>(ones), count * p.keep_prob,
                p.has_dropout() ? 5 * deviation + drawn_alike : 0)
        << command_line(c);
    ++masks;
    without_dropout += p.has_dropout() ? 0 : 1;
  }
  EXPECT_GT(masks, 250);
  EXPECT_GT(without_dropout, 30);
}

/// The judged elements must include heads with positive slopes, with negative slopes and without
/// slopes.
TEST(Sample, SlopesOfEverySignAreInCasesOfEachTrack) {
  std::map<std::string, std::set<int>> signs;
  for (const FlashCase& c : default_cases()) {
    if (c.problem.pse_type < 2 || c.problem.pse_shift == spec::PseShape::absent) continue;
    if (!is_value_case(c)) continue;
    const bool exact = c.track == Track::exact || c.track == Track::exact_staged;
    const auto slopes = exact ? Suite<Op>::exact(c, {}).inputs.pse_shift : make_pse(c);
    for (const std::int64_t element : viewed_elements(slopes.value())) {
      const double slope = slopes->load(element);
      signs[exact ? "exact" : "bound"].insert(slope > 0 ? 1 : slope < 0 ? -1 : 0);
    }
  }
  const std::set<int> all = {-1, 0, 1};
  EXPECT_EQ(signs["exact"], all);
  EXPECT_EQ(signs["bound"], all);
}

TEST(Sample, ForbiddenPairsBreakWhatTheyNameAndHaveNoAdmissibleCall) {
  testing::expect_forbidden_pairs_to_break_what_they_name<Op>(
      [](const Choice& choice, std::uint64_t lot) {
        Draws draws(lot);
        return flash::draw_fields<Op>(flash::factors<Op>().chosen(choice), 2e5, draws);
      });
}

TEST(Sample, UsesEveryEntryPointOnEveryProductThatOffersIt) {
  std::map<std::pair<spec::FlashEntryPoint, spec::Product>, int> counts, violations;
  for (const auto& c : default_cases())
    ++(c.violate.empty() ? counts : violations)[{c.entry_point, c.product}];
  for (const auto& [entry_point, entry_point_name] :
       spec::spellings_of<spec::FlashEntryPoint>.entries)
    for (const auto& [product, product_name] : spec::spellings_of<spec::Product>.entries) {
      const bool offered = spec::supports(entry_point, product);
      EXPECT_EQ((counts[{entry_point, product}]) > 0, offered)
          << entry_point_name << " " << product_name;
      if (!offered) continue;
      // Entry points with a sink need fewer cases per product, because most of their cases are
      // written by hand, for one product.
      const int least = has_sink(entry_point) ? 10 : 25;
      EXPECT_GE((counts[{entry_point, product}]), least) << entry_point_name << " " << product_name;
    }
}

TEST(Sample, SampleOfOneProductUsesOnlyItsEntryPoints) {
  for (const auto& c : sample<Op>({.product = spec::Product::a3})) {
    EXPECT_EQ(c.product, spec::Product::a3);
    EXPECT_TRUE(spec::supports(c.entry_point, c.product)) << command_line(c);
  }
}

TEST(Sample, HasAtMost1960CasesWithoutRefusals) {
  EXPECT_LE(std::ranges::count(default_cases(), std::string(), &FlashCase::violate), 1960);
}

/// In an exact case each row depends on few keys, so its expected values cost little. Therefore all
/// rows are judged, even in a long sequence.
TEST(Sample, JudgesEveryRowOfExactCases) {
  for (const auto& c : default_cases())
    if (c.track != Track::bound && is_value_case(c)) {
      EXPECT_EQ(c.rows, 0) << command_line(c);
    }
}

/// If a size is chosen at random from a range, it must often be a size that is not in any list of
/// fixed values.
TEST(Sample, TakesHeadSizesGroupsAndSequencesFromRanges) {
  std::set<std::int64_t> head_dims, values, groups, sequences, ends;
  for (const auto& c : default_cases()) {
    const Op::Problem& p = c.problem;
    if (!is_value_case(c)) continue;
    head_dims.insert(p.head_dim), values.insert(p.head_dim_v);
    groups.insert(p.group()), sequences.insert(p.batch);
    if (c.note == "a window or prefix next to a tile edge")
      ends.insert({p.pre_tokens, p.next_tokens}), ends.insert(p.prefix.begin(), p.prefix.end());
  }
  EXPECT_GE(head_dims.size(), 100u);
  EXPECT_GE(values.size(), 100u);
  for (std::int64_t size = 16; size <= 128; size += 16)
    EXPECT_TRUE(head_dims.contains(size)) << size;
  for (std::int64_t count = 1; count <= 12; ++count) {
    EXPECT_TRUE(groups.contains(count)) << count;
    EXPECT_TRUE(sequences.contains(count)) << count;
  }
  for (const std::int64_t tile : {16, 32, 64, 128, 256, 512})
    for (const std::int64_t additive : {-1, 0, 1})
      EXPECT_TRUE(std::ranges::any_of(
          ends, [&](std::int64_t end) { return end > additive && (end - additive) % tile == 0; }))
          << tile << ' ' << additive;
}

TEST(Sample, RunsRelationsAtFiveHundredToFourThousandTokens) {
  std::set<std::string> names;
  std::int64_t longest = 0;
  for (const auto& c : default_cases()) {
    if (c.track != Track::relation || std::max(c.problem.seq_q, c.problem.seq_kv) < 512) continue;
    names.insert(c.relation);
    longest = std::max(longest, c.problem.seq_kv);
  }
  EXPECT_GE(names.size(), 5u);
  EXPECT_GE(longest, 4095);
}

TEST(Sample, GoesBeyondWhatShortIndicesCount) {
  std::int64_t tokens = 0, scores = 0, bits = 0;
  for (const auto& c : default_cases()) {
    if (c.track != Track::exact && c.track != Track::exact_staged) continue;
    const std::int64_t of_case = spec::score_count(c.problem);
    tokens = std::max(tokens, key_extents(c.problem).tokens());
    scores = std::max(scores, of_case);
    if (c.problem.has_dropout()) bits = std::max(bits, of_case);
  }
  EXPECT_GT(tokens, 0xffff);
  EXPECT_GT(bits, 0xffffff);
  EXPECT_GT(scores, 0xffffff);
}

TEST(Sample, UsesEveryProfileAndEveryMaskPattern) {
  std::set<std::string> used_profiles, used_patterns, used_drops;
  for (const auto& c : default_cases()) {
    used_profiles.insert(c.profile);
    if (c.problem.atten_mask != MaskShape::absent) used_patterns.insert(c.patterns.mask);
    if (c.problem.has_dropout()) used_drops.insert(c.patterns.drop);
  }
  EXPECT_EQ(used_profiles.size(), Suite<Op>::profiles().size());
  EXPECT_EQ(used_patterns.size(), flash::mask_patterns().size());
  // With keep_prob below 1 only these dropout patterns may occur. The patterns all_kept and
  // all_dropped contradict such a keep_prob.
  EXPECT_EQ(used_drops, (std::set<std::string>{"random", "whole_rows", "last_bits"}));
}

TEST(Sample, HasEveryListedShapeOfABiasInEveryLayout) {
  std::set<std::pair<spec::Layout, spec::PseShape>> used;
  for (const auto& c : default_cases())
    if (is_value_case(c)) used.insert({c.problem.input_layout, c.problem.pse_shift});
  using enum spec::PseShape;
  for (const auto& [layout, layout_name] : spec::spellings_of<spec::Layout>.entries)
    for (const spec::PseShape shape : {bnss, bn1s, one_nss, bnhs, one_nhs, slopes_n, slopes_bn})
      EXPECT_TRUE(used.contains({layout, shape})) << layout_name << ' ' << to_string(shape);
}

TEST(Sample, CoversPairsOfModeMaskLayoutTypeAndTrack) {
  std::set<std::tuple<std::int64_t, MaskShape, spec::DType>> masks;
  std::set<std::pair<std::int64_t, MaskShape>> mode_masks;
  std::set<std::tuple<Track, spec::Layout, spec::DType, std::int64_t>> tracks_seen;
  for (const auto& c : default_cases()) {
    const Op::Problem& p = c.problem;
    if (is_value_case(c)) masks.insert({p.sparse_mode, p.atten_mask, p.dtype});
    if (is_value_case(c)) mode_masks.insert({p.sparse_mode, p.atten_mask});
    tracks_seen.insert({c.track, p.input_layout, p.dtype, p.sparse_mode});
  }
  // A call can have no mask, or a mask of one of four shapes. So there are 5 possibilities in each
  // of 9 modes. In modes 0, 1 and 5 the user chooses the elements of the mask; in the other modes
  // the mask is compressed.
  EXPECT_EQ(mode_masks.size(), 9u * 5);
  EXPECT_GE(masks.size(), 70u);
  EXPECT_GE(tracks_seen.size(), 2u * 3 * (4 * 5 + 8));
}

/// Returns whether the note of a case contains the name of a published model.
bool is_model(const FlashCase& c) { return c.note.find(": batch 1") != c.note.npos; }

TEST(Sample, EveryRowIsJudgedInAnOrdinaryPlan) {
  for (const auto& c : default_cases()) EXPECT_EQ(c.rows, 0) << command_line(c);
}

TEST(Sample, MostCasesAreSmallAndAFewAreLong) {
  std::int64_t small = 0, values = 0;
  double sum = 0;
  for (const auto& c : default_cases()) {
    if (!is_value_case(c) || is_model(c)) continue;
    const double work = flash::multiply_adds(c.problem);
    ++values;
    small += work <= 2e7 ? 1 : 0;
    sum += work;
    EXPECT_LE(work, 1e9) << command_line(c);
  }
  EXPECT_GE(small, values * 9 / 10);
  EXPECT_LE(sum, 1e10);
}

TEST(Categories, AdmitEveryValueOfEveryFactor) {
  const auto sizes = flash::factors<Op>().sizes();
  for (std::size_t f = 0; f < sizes.size(); ++f)
    for (std::size_t v = 0; v < sizes[f]; ++v) {
      Choice choice = flash::choice_space<Op>().open_choice();
      choice[f] = v;
      EXPECT_TRUE(flash::choice_space<Op>().feasible(choice)) << f << " " << v;
    }
}

/// Returns the planned cases with the sizes of published models. Leaves out the largest cases of a
/// full plan, which do not belong to a model.
std::vector<FlashCase> models(const SamplingPlan& plan) {
  auto cases = hand_made_cases<Op>("models", plan);
  std::erase_if(cases, [](const FlashCase& c) { return !is_model(c); });
  return cases;
}

TEST(Models, KeepLengthsRatiosAndHeadSizesAndListReductions) {
  const auto cut = models({}), whole = models({.full = true});
  EXPECT_GE(cut.size(), 15u);
  EXPECT_GE(whole.size(), 18u);
  double sum = 0;
  for (const auto& c : cut) {
    const auto original = std::ranges::find_if(whole, [&](const FlashCase& w) {
      return w.note.substr(0, w.note.find(':')) == c.note.substr(0, c.note.find(':'));
    });
    ASSERT_NE(original, whole.end()) << c.note;
    EXPECT_EQ(original->problem.seq_q, c.problem.seq_q);
    EXPECT_EQ(original->problem.seq_kv, c.problem.seq_kv);
    EXPECT_EQ(original->problem.group(), c.problem.group());
    EXPECT_EQ(original->problem.head_dim, c.problem.head_dim);
    EXPECT_EQ(original->problem.head_dim_v, c.problem.head_dim_v);
    EXPECT_LE(c.problem.heads_kv, original->problem.heads_kv);
    const double flop = 10 * flash::multiply_adds(c.problem) / (c.problem.sparse_mode == 0 ? 1 : 2);
    EXPECT_LT(flop, 5e10) << c.note;
    sum += flop;
  }
  EXPECT_LT(sum, 5e11);
}

TEST(Models, FullSweepPlansMoreWorkWithinItsLimit) {
  const auto cut = models({}), whole = models({.full = true});
  const auto work = [](const std::vector<FlashCase>& cases) {
    double sum = 0;
    for (const auto& c : cases)
      sum += 10 * flash::multiply_adds(c.problem) / (c.problem.sparse_mode == 0 ? 1 : 2);
    return sum;
  };
  EXPECT_GT(work(whole), 5 * work(cut));
  EXPECT_LT(work(whole), 1e13);
  for (const auto& c : whole) EXPECT_LT(work({c}), 1e12) << c.note;
}

TEST(Models, FullSweepReachesTheMostDocumentedTokens) {
  const auto full = sample<Op>({.full = true, .random_cases = 2});
  std::int64_t most_tokens = 0, longest = 0;
  for (const auto& c : full) {
    if (!is_value_case(c)) continue;
    most_tokens = std::max(most_tokens, query_extents(c.problem).tokens());
    longest = std::max(longest, c.problem.seq_q);
  }
  EXPECT_EQ(most_tokens, 2048 * 512);
  EXPECT_EQ(longest, 131072);
}

}  // namespace
}  // namespace assay::conformance
