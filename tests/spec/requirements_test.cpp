#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "expected_requirements.hpp"
#include "problems.hpp"
#include "table_checks.hpp"

namespace assay::spec {
namespace {

using Op = FlashAttentionScoreGrad;

Call<Op> broken(Call<Op> call, std::string_view id, std::string_view name) {
  for (const auto& violation : requirement_of<Op>(id).violations)
    if (violation.name == name) violation.apply(call);
  return call;
}

/// A legal call on entry point g2 with a mask and a layout with four axes, so that most violations
/// can be applied to it.
Call<Op> willing_call() {
  const Op::Problem problem{.batch = 2,
                            .heads_q = 4,
                            .heads_kv = 2,
                            .seq_q = 5,
                            .seq_kv = 7,
                            .head_dim = 8,
                            .head_dim_v = 6,
                            .atten_mask = MaskShape::ss};
  return Asked{.problem = problem, .entry_point = FlashEntryPoint::g2}.call();
}

std::vector<Call<Op>> calls_of(const std::vector<Asked>& all) {
  std::vector<Call<Op>> calls;
  for (const Asked& asked : all) calls.push_back(asked.call());
  return calls;
}

TEST(FlashConstraints, IdsAreUniqueAndInOrder) {
  expect_ids_in_order<Op>();
  EXPECT_GE(Op::requirements().size(), 50u);
}

TEST(FlashConstraints, EveryRowSaysSomethingAndNamesItsSource) {
  const std::set<std::string_view> seeds = {"FlashAttentionScoreGrad.md",
                                            "aclnnFlashAttentionUnpaddingScoreGrad.md",
                                            "aclnnFlashAttentionUnpaddingScoreGradV3.md"};
  for (const auto& requirement : Op::requirements()) {
    EXPECT_TRUE(requirement.statement.ends_with('.')) << requirement.id;
    EXPECT_GE(requirement.statement.size(), 15u) << requirement.id;
    EXPECT_FALSE(requirement.source.section.empty()) << requirement.id;
    const bool upstream = requirement.source.document.starts_with("ops-transformer: ");
    EXPECT_TRUE(upstream || seeds.contains(requirement.source.document)) << requirement.id;
    if (requirement.standing == Standing::upstream || requirement.standing == Standing::page) {
      EXPECT_TRUE(upstream) << requirement.id;
    }
    if (requirement.standing == Standing::documented) {
      EXPECT_FALSE(upstream) << requirement.id;
    }
  }
}

TEST(FlashConstraints, EveryRowHasASideAndWhatThatSideNeeds) {
  expect_sides_and_what_they_need<Op>();
}

/// Returns the entry points on which some call violates this requirement and no other, in the form
/// "g1 g2 u1 ...".
std::string refusing_entry_points(const Requirement<Op>& requirement) {
  std::string names;
  for (const auto& [entry_point, name] : spellings_of<FlashEntryPoint>.entries) {
    const auto calls = calls_of(plain_calls(entry_point));
    const bool refuses = std::ranges::any_of(requirement.violations, [&](const auto& violation) {
      return std::ranges::any_of(
          calls, [&](const Call<Op>& call) { return works_alone(call, requirement, violation); });
    });
    if (refuses) names.append(names.empty() ? "" : " ").append(name);
  }
  return names;
}

TEST(FlashConstraints, EveryViolationWorksAloneInSomePlainCall) {
  expect_every_violation_to_work_alone(calls_of(plain_calls()));
}

TEST(FlashConstraints, RowsAreRefusedByTheEntryPointsOfTheirTable) {
  // Entry point g3 has the requirements of g2, and u5 has those of u2 and u4, with ropes also those
  // of u3. Two violations break an additional requirement: slopes on g3 also violate FAG-C23b
  // (because SNK-C07 excludes fp32), and Dv < D on u5 also violates SNK-C08a.
  const std::set<std::string_view> contained = {"FAG-C80"}, not_of_u5 = {"FAG-C35a", "FAG-C47a"};
  for (const Expected& expected : expected_rows) {
    std::string names(expected.refused_by);
    if (names.find("g2") != std::string::npos && !contained.contains(expected.id)) names += " g3";
    const bool is_of_u5 = std::ranges::any_of(std::array{"u2", "u3", "u4"}, [&](const char* name) {
      return names.find(name) != std::string::npos;
    });
    if (is_of_u5 && !names.ends_with("u5") && !not_of_u5.contains(expected.id)) names += " u5";
    EXPECT_EQ(refusing_entry_points(requirement_of<Op>(expected.id)), names) << expected.id;
  }
}

TEST(FlashConstraints, EveryRowOfTheSpecificationIsThere) {
  std::set<std::string_view> listed;
  for (const Expected& expected : expected_rows) listed.insert(expected.id);
  for (const auto id : unrefused_rows) listed.insert(id);
  for (const auto id : listed) EXPECT_NO_THROW(requirement_of<Op>(id)) << id;
  for (const auto& one : Op::requirements())
    EXPECT_TRUE(listed.contains(one.id)) << one.id << " is in no table of this test";
  for (const auto id : unrefused_rows) EXPECT_FALSE(requirement_of<Op>(id).has(Side::reject)) << id;
}

TEST(FlashConstraints, EveryContradictionIsANoteOfSomeRow) {
  std::string notes;
  for (const auto& requirement : Op::requirements()) notes.append(requirement.notes).append(", ");
  const auto expect = [&](const std::string& id) {
    EXPECT_NE(notes.find(id + ","), std::string::npos) << id;
  };
  for (int k = 1; k <= 39; ++k) expect("FAG-Q" + std::to_string(k));
  for (int k = 1; k <= 6; ++k) expect("CV-O" + std::to_string(k));
}

TEST(FlashConstraints, EveryViolationWorksInSomePlainCallOfEveryLayoutOfItsEntryPoints) {
  each_violation<Op>([](const auto& requirement, const auto& violation) {
    std::set<Layout> layouts;
    for (const Asked& asked : plain_calls()) {
      Call<Op> call = asked.call();
      violation.apply(call);
      if (!requirement.holds(call)) layouts.insert(asked.problem.input_layout);
    }
    const std::size_t of_padded = layouts.size() - layouts.count(Layout::tnd);
    EXPECT_TRUE(of_padded == 0 || of_padded == 4) << requirement.id << ':' << violation.name;
  });
}

RC_GTEST_PROP(FlashConstraints, ALegalCallBreaksNoRowAndEachViolationItsOwn, ()) {
  assert_legal_in_itself_and_in_variants((*legal_call()).call());
}

TEST(FlashConstraints, EveryAcceptSideIsReachedByALegalCall) {
  std::vector<Call<Op>> calls;
  for (const Product product : {Product::a2, Product::a3})
    for (Asked asked : plain_calls()) {
      asked.product = product;
      asked.inputs = Striding::padded;
      calls.push_back(asked.call());
    }
  expect_every_accept_side_reached(calls);
}

TEST(FlashConstraints, ARowHoldsWhereItDoesNotApply) {
  for (const Asked& asked :
       {plain_calls(FlashEntryPoint::g2).front(), plain_calls(FlashEntryPoint::u2).front(),
        plain_calls(FlashEntryPoint::u3).front()})
    each_violation<Op>([&](const auto&, const auto& violation) {
      Call<Op> call = asked.call();
      violation.apply(call);
      for (const auto& requirement : Op::requirements())
        if (!requirement.applies(call)) {
          EXPECT_TRUE(requirement.holds(call)) << requirement.id;
        }
    });
}

TEST(FlashConstraints, SizesAreLegalUpToTheirLimits) {
  const Op::Problem wide{.heads_q = 256, .seq_q = 1, .head_dim = 512, .head_dim_v = 512};
  const auto with = [](std::int64_t batch, std::int64_t seq_q, std::int64_t seq_kv) {
    return broken_by(Asked{
        .problem =
            {.batch = batch, .seq_q = seq_q, .seq_kv = seq_kv, .head_dim = 1, .head_dim_v = 1}}
                         .call());
  };
  EXPECT_EQ(broken_by(Asked{.problem = wide}.call()), Ids{});
  // Sizes up to the limit with K = 1000 are legal. The documentation does not say whether larger
  // sizes, up to the limit with K = 1024, are legal.
  EXPECT_EQ(with(1, 1'000'000, 1), Ids{});
  EXPECT_EQ(with(1, 1'000'001, 1), Ids{"FAG-C94"});
  EXPECT_EQ(with(1, 1, 1024 * 1024), Ids{"FAG-C94"});
  EXPECT_EQ(with(1, 1, 1024 * 1024 + 1), Ids{"FAG-C41"});
  EXPECT_EQ(with(2'000'000, 1, 1), Ids{});
  EXPECT_EQ(with(2 * 1024 * 1024, 1, 1), Ids{"FAG-C94"});
  EXPECT_EQ(with(2 * 1024 * 1024 + 1, 1, 1), Ids{"FAG-C40"});
}

/// Returns the entry points for which the documentation states the requirement, e.g. "g1 g2 u1".
std::string documented_on(const Requirement<Op>& requirement) {
  std::string names;
  for (const auto& [entry_point, name] : spellings_of<FlashEntryPoint>.entries)
    if (requirement.standing_on(entry_point) == Standing::documented)
      names.append(names.empty() ? "" : " ").append(name);
  return names;
}

TEST(FlashConstraints, ARowIsDocumentedWhereAPageOfTheSeedsSaysIt) {
  const std::pair<std::string_view, std::string_view> expected[] = {{"FAG-C01", "u1 u3"},
                                                                    {"FAG-C11", ""},
                                                                    {"FAG-C20", "g1 g2 u1 u3"},
                                                                    {"FAG-C21a", "u1 u3"},
                                                                    {"FAG-C21b", ""},
                                                                    {"FAG-C23a", "g1 g2 u1"},
                                                                    {"FAG-C23b", ""},
                                                                    {"FAG-C26", "u1 u3"},
                                                                    {"FAG-C29", "u1"},
                                                                    {"FAG-C32", "u1 u3"},
                                                                    {"FAG-C35", "u1"},
                                                                    {"FAG-C38", "u1 u3"},
                                                                    {"FAG-C39", "g1 g2 u1 u3"},
                                                                    {"FAG-C43", ""},
                                                                    {"FAG-C44b", "g1 g2 u1"},
                                                                    {"FAG-C46", "u1 u3"},
                                                                    {"FAG-C47", "u1 u3"},
                                                                    {"FAG-C63", "u1 u3"},
                                                                    {"FAG-C66", ""},
                                                                    {"FAG-C67", "u1 u3"},
                                                                    {"FAG-C67b", ""},
                                                                    {"FAG-C79", "u1"},
                                                                    {"FAG-C73", ""},
                                                                    {"FAG-C75", "u1"},
                                                                    {"FAG-C60", "g1 g2 u1 u3"},
                                                                    {"TND-2", "u1 u3"},
                                                                    {"API-7", "u1 u3"},
                                                                    {"FAG-C21", "g1 g2 u1 u3"},
                                                                    {"FAG-C21c", "u1 u3"},
                                                                    {"FAG-C28", "g1 g2 u1 u3"},
                                                                    {"FAG-C28a", "u1 u3"}};
  for (const auto& [id, on] : expected) EXPECT_EQ(documented_on(requirement_of<Op>(id)), on) << id;
  EXPECT_EQ(documented_on(requirement_of<Op>("FAG-C39a")), "g1 g2 u1 u3");
  for (const auto& requirement : Op::requirements())
    for (const FlashEntryPoint entry_point : {FlashEntryPoint::u2, FlashEntryPoint::u4}) {
      const auto call = plain_calls(entry_point).front().call();
      if (requirement.applies(call)) {
        EXPECT_NE(requirement.standing_on(entry_point), Standing::documented) << requirement.id;
      }
    }
}

/// The documentation of g1 and g2 does not list the statistics and the output of the forward, so it
/// does not state requirements for them.
TEST(FlashConstraints, PageCoversOnlyTheTensorsThatItLists) {
  for (const auto member : {&Op::Parameters::softmax_max, &Op::Parameters::softmax_sum,
                            &Op::Parameters::attention_in}) {
    auto call = Asked{}.call();
    (call.parameters.*member).format = Format::fractal_nz;
    EXPECT_EQ(broken_by(call), Ids{"FAG-C28a"});
  }
  auto call = Asked{}.call();
  call.parameters.attention_in.dtype = DType::fp64;
  EXPECT_EQ(broken_by(call), Ids{"FAG-C21c"});
}

TEST(FlashConstraints, ExtentsOfZeroAreOpen) {
  const auto broken_with = [](Op::Problem problem) {
    const bool packed = is_packed(problem.input_layout);
    return broken_by(
        Asked{.problem = problem, .entry_point = packed ? FlashEntryPoint::u1 : FlashEntryPoint::g1}
            .call());
  };
  for (const Layout layout : {Layout::bnsd, Layout::bsh}) {
    EXPECT_EQ(broken_with({.input_layout = layout, .batch = 0}), Ids{"FAG-C40b"});
    EXPECT_EQ(broken_with({.input_layout = layout, .seq_q = 0}), Ids{"FAG-C41b"});
    EXPECT_EQ(broken_with({.input_layout = layout, .seq_kv = 0}), Ids{"FAG-C41b"});
    EXPECT_EQ(broken_with({.input_layout = layout, .head_dim = 0, .head_dim_v = 0}),
              Ids{"FAG-C44c"});
    EXPECT_EQ(broken_with({.input_layout = layout, .head_dim_v = 0}), Ids{"FAG-C44c"});
    EXPECT_EQ(broken_with({.input_layout = layout, .heads_kv = 0}), Ids{"FAG-C37"});
  }
  EXPECT_EQ(broken_with({.input_layout = Layout::tnd, .seq_q = 0}), Ids{"FAG-C42a"});
  EXPECT_EQ(broken_with({.input_layout = Layout::tnd, .seq_kv = 0}), (Ids{"FAG-C42a", "TND-2a"}));
  EXPECT_EQ(broken_with({.input_layout = Layout::tnd, .heads_kv = 0}), Ids{"FAG-C37"});
  const Op::Problem ragged{.input_layout = Layout::tnd, .batch = 2, .lengths_q = {0, 16}};
  EXPECT_EQ(broken_with(ragged), Ids{});
  const Op::Problem no_keys{.input_layout = Layout::tnd, .batch = 2, .lengths_kv = {0, 16}};
  EXPECT_EQ(broken_with(no_keys), Ids{"TND-2a"});
}

TEST(FlashConstraints, SlopesAreOfEitherType) {
  const auto broken_with = [](DType dtype, DType slopes) {
    return broken_by(Asked{.problem = {.dtype = dtype,
                                       .pse_type = 2,
                                       .pse_shift = PseShape::slopes_n,
                                       .slope_dtype = slopes},
                           .entry_point = FlashEntryPoint::g2}
                         .call());
  };
  EXPECT_EQ(broken_with(DType::fp32, DType::fp32), Ids{});
  EXPECT_EQ(broken_with(DType::bf16, DType::fp32), Ids{"FAG-C23b"});  // an open question
  EXPECT_EQ(broken_with(DType::bf16, DType::bf16), Ids{});
  EXPECT_EQ(broken_with(DType::bf16, DType::fp16), Ids{"FAG-C23a"});
  EXPECT_EQ(broken_with(DType::fp32, DType::fp16), Ids{"FAG-C23a"});
}

TEST(FlashConstraints, LimitsOfThePagesAreJudgedOutsideToo) {
  const auto broken_with = [](std::int64_t batch, std::int64_t visible) {
    Op::Problem p{.input_layout = Layout::tnd, .batch = batch, .seq_q = 2, .seq_kv = 3};
    if (visible >= 0) {
      p.sparse_mode = 6;
      p.atten_mask = MaskShape::compressed;
      p.prefix.assign(static_cast<std::size_t>(batch), visible);
    }
    return broken_by(Asked{.problem = p, .entry_point = FlashEntryPoint::u1}.call());
  };
  EXPECT_EQ(broken_with(2000, -1), Ids{});
  EXPECT_EQ(broken_with(2048, -1), Ids{"FAG-C94"});
  EXPECT_EQ(broken_with(2049, -1), Ids{"FAG-C43"});
  EXPECT_EQ(broken_with(1000, 1), Ids{});
  EXPECT_EQ(broken_with(1024, 1), Ids{"FAG-C94"});
  EXPECT_EQ(broken_with(1025, 1), Ids{"FAG-C43a"});
  EXPECT_EQ(broken_with(1, 3), Ids{});
  EXPECT_EQ(broken_with(1, 0), Ids{"FAG-C73"});
  EXPECT_EQ(broken_with(1, 4), Ids{"FAG-C73"});
}

TEST(FlashConstraints, WindowsAreBoundByTheLengths) {
  const auto broken_with = [](std::int64_t pre, std::int64_t next) {
    const Op::Problem problem{.seq_q = 5,
                              .seq_kv = 7,
                              .pre_tokens = pre,
                              .next_tokens = next,
                              .atten_mask = MaskShape::ss};
    return broken_by(Asked{.problem = problem}.call());
  };
  EXPECT_EQ(broken_with(9, -3), Ids{});
  EXPECT_EQ(broken_with(9, -5), Ids{});  // pages: above -7, host code: from -5
  EXPECT_EQ(broken_with(9, -6), Ids{});  // allowed by the pages, which is sufficient
  EXPECT_EQ(broken_with(9, -7), Ids{"FAG-C68"});
  EXPECT_EQ(broken_with(-4, 9), Ids{});            // pages: above -5, host code: from -7
  EXPECT_EQ(broken_with(-7, 9), Ids{"FAG-C68a"});  // allowed only by the host code
  EXPECT_EQ(broken_with(-8, 9), Ids{"FAG-C68"});
  EXPECT_EQ(broken_with(2, -3), Ids{"FAG-C68"});
  EXPECT_EQ(broken_with(3, -3), Ids{});
  EXPECT_EQ(broken_with(INT64_MIN, INT64_MIN), Ids{"FAG-C68"});
}

TEST(FlashConstraints, AWindowWithoutAMaskMeansNothing) {
  const Op::Problem problem{.pre_tokens = -100, .next_tokens = -100, .prefix = {}};
  EXPECT_EQ(broken_by(Asked{.problem = problem}.call()), Ids{});
}

TEST(FlashConstraints, StartIndicesAnUnusedPrefixAndInnerPreciseAreNeverRefused) {
  Call<Op> call = willing_call();
  call.parameters.q_start_idx = {7};
  call.parameters.kv_start_idx = std::vector<std::int64_t>{};
  call.parameters.prefix = {-5, 99, 3};
  call.attributes.inner_precise = 77;
  EXPECT_EQ(broken_by(call), Ids{});
}

TEST(FlashConstraints, PseTypeBelongsToTheSecondEntryPoint) {
  Call<Op> call = willing_call();
  call.attributes.pse_type = 9;
  EXPECT_EQ(broken_by(call), Ids{"FAG-C76"});
  call.entry_point = FlashEntryPoint::g1;
  EXPECT_EQ(broken_by(call), Ids{});
}

TEST(FlashConstraints, AWellFormedPseOfEveryDocumentedShapeIsLegal) {
  const std::vector<Shape> shapes = {{2, 4, 5, 7}, {2, 4, 1, 7}, {1, 4, 5, 7}};
  for (const Shape& shape : shapes) {
    Call<Op> call = willing_call();
    call.parameters.pse_shift = {.present = true, .dtype = DType::bf16, .shape = shape};
    EXPECT_EQ(broken_by(call), Ids{});
  }
  Call<Op> narrow = willing_call();
  narrow.parameters.pse_shift = {.present = true, .dtype = DType::bf16, .shape = {1, 4, 1, 7}};
  EXPECT_EQ(broken_by(narrow), Ids{"FAG-C79"});
}

/// Makes a call of u1 with two sequences, which have 3 and 5 queries, and 7 and 2 keys. Returns the
/// requirements that the call violates after `change`.
Ids broken_of_packed(void (*change)(Op::Problem& p)) {
  Op::Problem p{.input_layout = Layout::tnd,
                .batch = 2,
                .heads_q = 4,
                .heads_kv = 2,
                .seq_q = 5,
                .seq_kv = 7};
  p.lengths_q = {3, 5}, p.lengths_kv = {7, 2};
  change(p);
  return broken_by(Asked{.problem = p, .entry_point = FlashEntryPoint::u1}.call());
}

TEST(FlashConstraints, APseOfPackedSequencesMayHaveEveryListedShapeAndThatOfTheHostCode) {
  using enum PseShape;
  EXPECT_EQ(broken_of_packed([](Op::Problem& p) { p.pse_shift = bnss; }), Ids{});
  EXPECT_EQ(broken_of_packed([](Op::Problem& p) { p.pse_shift = bn1s; }), Ids{});
  EXPECT_EQ(broken_of_packed([](Op::Problem& p) { p.pse_shift = one_nss; }), Ids{});
  EXPECT_EQ(broken_of_packed([](Op::Problem& p) { p.pse_shift = packed_bn1s; }), Ids{"FAG-C79b"});
  EXPECT_EQ(broken_of_packed([](Op::Problem& p) { p.pse_shift = packed_bnss; }), Ids{"FAG-C79b"});
  const auto compressed = [](Op::Problem& p) {
    p.lengths_q = p.lengths_kv = {3, 5}, p.seq_kv = 5;
    p.sparse_mode = 3, p.atten_mask = MaskShape::compressed, p.pse_shift = one_nhs;
  };
  EXPECT_EQ(broken_of_packed(compressed), Ids{});
  EXPECT_EQ(requirement_of<Op>("FAG-C79b").standing, Standing::open);
  EXPECT_EQ(requirement_of<Op>("FAG-C79").standing, Standing::documented);
}

TEST(FlashConstraints, APseOf1024RowsFor1024QueriesIsTheWholeOne) {
  // A bias of this shape contains all rows, so it needs no causal mask.
  const auto whole = [](Op::Problem& p) {
    p.lengths_q = {3, 1024}, p.seq_q = 1024, p.pse_shift = PseShape::bnhs;
  };
  EXPECT_EQ(broken_of_packed(whole), Ids{});
  EXPECT_EQ(broken_of_packed([](Op::Problem& p) { p.pse_shift = PseShape::bnhs; }),
            (Ids{"FAG-C81", "FAG-C81a"}));
}

TEST(FlashConstraints, MasksHaveBatchAndHeadAxesInEveryModeAndLayout) {
  using enum MaskShape;
  for (const MaskShape shape :
       {compressed, compressed_one_one_ss, compressed_b_one_ss, compressed_bnss})
    for (const std::int64_t mode : {2, 3, 4, 6}) {
      Op::Problem p{
          .batch = 2, .heads_q = 3, .heads_kv = 3, .sparse_mode = mode, .atten_mask = shape};
      if (mode == 6) p.prefix = {1, 2};
      const std::int64_t requirements = mode == 6 ? 3072 : 2048;
      const Shape leading = shape == compressed_one_one_ss ? Shape{1, 1}
                            : shape == compressed_b_one_ss ? Shape{2, 1}
                            : shape == compressed_bnss     ? Shape{2, 3}
                                                           : Shape{};
      Shape expected = leading;
      expected.insert(expected.end(), {requirements, 2048});
      EXPECT_EQ(mask_shape(p), expected);
      EXPECT_EQ(broken_by(Asked{.problem = p}.call()), Ids{}) << mode << " " << to_string(shape);
    }
  // The documentation lists these mask shapes for packed sequences, too, with equal and with
  // unequal lengths.
  for (const MaskShape shape : {b_one_ss, bnss}) {
    Op::Problem p{.input_layout = Layout::tnd,
                  .batch = 2,
                  .heads_q = 2,
                  .heads_kv = 2,
                  .sparse_mode = 1,
                  .atten_mask = shape};
    for (const FlashEntryPoint entry_point :
         {FlashEntryPoint::u1, FlashEntryPoint::u2, FlashEntryPoint::u4}) {
      EXPECT_EQ(broken_by(Asked{.problem = p, .entry_point = entry_point}.call()), Ids{});
      Op::Problem ragged = p;
      ragged.lengths_kv = {16, 9};
      EXPECT_EQ(broken_by(Asked{.problem = ragged, .entry_point = entry_point}.call()), Ids{});
    }
  }
}

TEST(FlashConstraints, ABrokenLayoutSilencesTheRowsThatDependOnIt) {
  const Call<Op> call = broken(willing_call(), "FAG-C30", "lower_case");
  EXPECT_EQ(broken_by(call), Ids{"FAG-C30"});
  EXPECT_FALSE(requirement_of<Op>("FAG-C33").applies(call));
}

TEST(FlashConstraints, AnEmptyCallBreaksPresenceRowsWithoutACrash) {
  const Ids always = {"FAG-C01", "FAG-C02", "FAG-C03", "FAG-C04", "FAG-C07"};
  const Call<Op> empty{.entry_point = FlashEntryPoint::g1,
                       .product = Product::a2,
                       .parameters = {},
                       .attributes = {}};
  EXPECT_EQ(broken_by(empty), always);
  for (const auto& [entry_point, name] : spellings_of<FlashEntryPoint>.entries) {
    SCOPED_TRACE(name);
    expect_an_empty_call_to_be_survived<Op>(entry_point, always);
  }
}

TEST(FlashConstraints, ProductsSupportWhatTheirRowsAccept) {
  for (const auto& [entry_point, name] : spellings_of<FlashEntryPoint>.entries)
    for (const auto& [product, text] : spellings_of<Product>.entries) {
      const auto& requirement = requirement_of<Op>(product_requirement(entry_point, product));
      EXPECT_EQ(requirement.has(Side::accept), supports(entry_point, product)) << requirement.id;
      EXPECT_EQ(requirement.has(Side::none), !supports(entry_point, product)) << requirement.id;
      Call<Op> call = plain_calls(entry_point).front().call();
      call.product = product;
      EXPECT_TRUE(requirement.applies(call)) << requirement.id;
    }
  for (const std::string_view id : {"FAG-P13", "FAG-P17", "FAG-C91", "FAG-C92", "API-9"})
    EXPECT_TRUE(requirement_of<Op>(id).has(Side::none) || requirement_of<Op>(id).has(Side::content))
        << id;
  EXPECT_TRUE(supports(FlashEntryPoint::g1, Product::a3));
  EXPECT_TRUE(supports(FlashEntryPoint::u3, Product::a3));
  EXPECT_FALSE(supports(FlashEntryPoint::u1, Product::a3));
}

}  // namespace
}  // namespace assay::spec
