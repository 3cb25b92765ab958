#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "problems.hpp"

namespace assay::spec {
namespace {

using Op = FlashAttentionScoreGrad;
using Ids = std::set<std::string_view>;

struct Expected {
  std::string_view id, refused_by;
};

constexpr std::string_view everywhere = "g1 g2 u1 u2 u3 u4", padded = "g1 g2", packed = "u1 u2 u3 u4",
                           all_but_u3 = "g1 g2 u1 u2 u4", packed_but_u3 = "u1 u2 u4";

/// The rows of the specification that some call breaks, and the entry points on which one does: its column "applies"
/// less those on which another row stands in front. Ids with a letter are readings of the row without.
constexpr Expected expected_rows[] = {
    {"FAG-C01", everywhere}, {"FAG-C02", everywhere}, {"FAG-C03", everywhere},
    {"FAG-C04", everywhere}, {"FAG-C05", packed}, {"FAG-C06", "u3"}, {"FAG-C07", everywhere},
    {"FAG-C08", "u3"}, {"FAG-C09", "u3"}, {"FAG-C10", "u3"}, {"FAG-C11", "u3 u4"},
    {"FAG-C12", all_but_u3}, {"FAG-C20", everywhere}, {"FAG-C20a", everywhere},
    {"FAG-C21", everywhere}, {"FAG-C21a", everywhere}, {"FAG-C22", padded},
    {"FAG-C23", all_but_u3}, {"FAG-C23a", all_but_u3}, {"FAG-C24", all_but_u3},
    {"FAG-C25", everywhere}, {"FAG-C26", everywhere}, {"FAG-C27", "u3"}, {"FAG-C27a", "u3"},
    {"FAG-C27b", "u3"}, {"FAG-C28", everywhere}, {"FAG-C29", all_but_u3},
    {"FAG-C29a", all_but_u3}, {"FAG-C30", padded}, {"FAG-C31", packed}, {"FAG-C32", everywhere},
    {"FAG-C33", everywhere}, {"FAG-C34", everywhere}, {"FAG-C35", everywhere}, {"FAG-C35a", "u4"},
    {"FAG-C36", everywhere}, {"FAG-C36a", "u3"}, {"FAG-C37", everywhere}, {"FAG-C38", everywhere},
    {"FAG-C39", everywhere}, {"FAG-C40", padded}, {"FAG-C40a", padded}, {"FAG-C41", padded},
    {"FAG-C41a", "u4"}, {"FAG-C42", packed}, {"FAG-C43a", packed}, {"FAG-C43b", packed_but_u3},
    {"FAG-C44", everywhere}, {"FAG-C44a", all_but_u3}, {"FAG-C45", "u3"}, {"FAG-C46", everywhere},
    {"FAG-C46a", "u3"}, {"FAG-C47", everywhere}, {"FAG-C48", everywhere}, {"FAG-C49", everywhere},
    {"FAG-C60", everywhere}, {"FAG-C61", "u3"}, {"FAG-C62", all_but_u3}, {"FAG-C63", everywhere},
    {"FAG-C64", padded}, {"FAG-C65", "u3"}, {"FAG-C66", packed_but_u3}, {"FAG-C67", everywhere},
    {"FAG-C67a", packed}, {"FAG-C68", everywhere}, {"FAG-C68a", everywhere}, {"FAG-C69", packed},
    {"FAG-C69a", packed}, {"FAG-C71", everywhere}, {"FAG-C71a", packed}, {"FAG-C72", all_but_u3},
    {"FAG-C73", all_but_u3}, {"FAG-C74", packed_but_u3}, {"FAG-C75", packed_but_u3},
    {"FAG-C76", "g2 u2"}, {"FAG-C77", "u3"}, {"FAG-C77a", "u3"}, {"FAG-C78", "g2 u2"},
    {"FAG-C79", all_but_u3}, {"FAG-C79a", packed_but_u3}, {"FAG-C80", "g2"},
    {"FAG-C81", all_but_u3}, {"FAG-C81a", packed_but_u3}, {"FAG-C82", packed_but_u3},
    {"FAG-C82a", packed_but_u3}, {"FAG-C83", "u4"}, {"TND-1", packed}, {"TND-3", packed},
    {"TND-3a", packed}, {"TND-5", packed},
};

/// Its rows that no call breaks.
constexpr std::string_view unrefused_rows[] = {
    "FAG-C43", "FAG-C70", "FAG-C84", "FAG-C85", "FAG-C86", "FAG-C87", "FAG-C88", "FAG-C89",
    "FAG-C90", "FAG-P01", "FAG-P02", "FAG-P03", "FAG-P04", "FAG-P05", "FAG-P06", "FAG-P07",
    "FAG-P08", "FAG-P09", "FAG-P10", "FAG-P11", "FAG-P12", "TND-2", "TND-4", "TND-6", "TND-7",
    "API-1", "API-2", "API-3", "API-4", "API-5", "API-6", "API-7", "API-8",
};

Ids broken_by(const Call<Op>& call) {
  Ids ids;
  for (const auto* row : violations(Op::constraints(), call)) ids.insert(row->id);
  return ids;
}

Ids with_implied(const Constraint<Op>& row) {
  Ids ids(row.implies.begin(), row.implies.end());
  ids.insert(row.id);
  return ids;
}

std::string listed(const Ids& ids) {
  std::string text;
  for (const auto id : ids) text.append(id).append(" ");
  return text;
}

const Constraint<Op>& row_of(std::string_view id) {
  const auto rows = Op::constraints();
  const auto found = std::ranges::find(rows, id, &Constraint<Op>::id);
  if (found == rows.end()) throw std::invalid_argument("no row " + std::string(id));
  return *found;
}

Call<Op> broken(Call<Op> call, std::string_view id, std::string_view name) {
  for (const auto& violation : row_of(id).violations)
    if (violation.name == name) violation.apply(call);
  return call;
}

/// Legal with a mask, in a layout of four axes, on the wider padded entry point.
Call<Op> willing_call() {
  const Op::Problem problem{.batch = 2,
                            .heads_q = 4,
                            .heads_kv = 2,
                            .seq_q = 5,
                            .seq_kv = 7,
                            .head_dim = 8,
                            .head_dim_v = 6,
                            .atten_mask = MaskShape::ss};
  return Asked{.problem = problem, .surface = FlashSurface::g2}.call();
}

/// Calls visit(row, violation) for every way to break a row.
template <class Visit>
void each_violation(const Visit& visit) {
  for (const auto& row : Op::constraints())
    for (const auto& violation : row.violations) visit(row, violation);
}

TEST(FlashConstraints, IdsAreUniqueAndInOrder) {
  const auto rows = Op::constraints();
  for (std::size_t k = 1; k < rows.size(); ++k) EXPECT_LT(rows[k - 1].id, rows[k].id);
  EXPECT_GE(rows.size(), 50u);
}

TEST(FlashConstraints, EveryRowSaysSomethingAndNamesItsSource) {
  const std::set<std::string_view> seeds = {"FlashAttentionScoreGrad.md",
                                            "aclnnFlashAttentionUnpaddingScoreGrad.md",
                                            "aclnnFlashAttentionUnpaddingScoreGradV3.md"};
  for (const auto& row : Op::constraints()) {
    EXPECT_TRUE(row.statement.ends_with('.')) << row.id;
    EXPECT_GE(row.statement.size(), 15u) << row.id;
    EXPECT_FALSE(row.source.section.empty()) << row.id;
    const bool upstream = row.source.document.starts_with("ops-transformer: ");
    EXPECT_TRUE(upstream || seeds.contains(row.source.document)) << row.id;
    if (row.standing == Standing::upstream) {
      EXPECT_TRUE(upstream) << row.id;
    }
    if (row.standing == Standing::documented) {
      EXPECT_FALSE(upstream) << row.id;
    }
  }
}

TEST(FlashConstraints, ExactCodesAreClaimedForDocumentedRowsOnly) {
  for (const auto& row : Op::constraints())
    if (!row.status.any) {
      EXPECT_EQ(row.standing, Standing::documented) << row.id;
      EXPECT_NE(row.status.code, Status::success) << row.id;
    }
}

TEST(FlashConstraints, EveryRowHasASideAndWhatThatSideNeeds) {
  for (const auto& row : Op::constraints()) {
    EXPECT_FALSE(row.sides.empty()) << row.id;
    EXPECT_EQ(row.has(Side::reject), !row.violations.empty()) << row.id;
    if (row.has(Side::none) || row.has(Side::content)) {
      EXPECT_EQ(row.sides.size(), 1u) << row.id;
    }
    if (row.standing == Standing::advice) {
      EXPECT_TRUE(row.has(Side::none)) << row.id;
    }
    if (row.standing == Standing::disputed) {
      EXPECT_FALSE(row.has(Side::accept)) << row.id;
    }
    for (const auto implied : row.implies) EXPECT_NO_THROW(row_of(implied)) << row.id;
  }
}

TEST(FlashConstraints, NamesOfViolationsAreUniqueWithinTheirRow) {
  for (const auto& row : Op::constraints()) {
    std::set<std::string_view> names;
    for (const auto& violation : row.violations)
      EXPECT_TRUE(names.insert(violation.name).second) << row.id << ' ' << violation.name;
  }
}

/// Whether the violation breaks its row in `call`, and nothing that the row does not imply.
bool works_alone(Call<Op> call, const Constraint<Op>& row, const Violation<Op>& violation) {
  violation.apply(call);
  const Ids broken = broken_by(call), allowed = with_implied(row);
  return broken.contains(row.id) &&
         std::ranges::includes(allowed, broken) && row.applies(call);
}

/// The entry points in which a row is broken, alone, by one of its violations: "g1 g2 u1 ...".
std::string refusing_surfaces(const Constraint<Op>& row) {
  std::string names;
  for (const auto& [surface, name] : spellings_of<FlashSurface>.entries) {
    const auto calls = plain_calls(surface);
    const bool refuses = std::ranges::any_of(row.violations, [&](const auto& violation) {
      return std::ranges::any_of(calls, [&](const Asked& asked) {
        return works_alone(asked.call(), row, violation);
      });
    });
    if (refuses) names.append(names.empty() ? "" : " ").append(name);
  }
  return names;
}

TEST(FlashConstraints, EveryViolationWorksAloneInSomePlainCall) {
  const auto calls = plain_calls();
  each_violation([&](const auto& row, const auto& violation) {
    EXPECT_TRUE(std::ranges::any_of(calls, [&](const Asked& asked) {
      return works_alone(asked.call(), row, violation);
    })) << row.id << ':' << violation.name;
  });
}

TEST(FlashConstraints, RowsAreRefusedByTheEntryPointsOfTheirTable) {
  for (const Expected& expected : expected_rows) {
    const auto& row = row_of(expected.id);
    EXPECT_EQ(refusing_surfaces(row), expected.refused_by) << row.id;
  }
}

TEST(FlashConstraints, EveryRowOfTheSpecificationIsThere) {
  std::set<std::string_view> listed;
  for (const Expected& expected : expected_rows) listed.insert(expected.id);
  for (const auto id : unrefused_rows) listed.insert(id);
  for (const auto id : listed) EXPECT_NO_THROW(row_of(id)) << id;
  for (const auto& row : Op::constraints())
    EXPECT_TRUE(listed.contains(row.id)) << row.id << " is in no table of this test";
  for (const auto id : unrefused_rows) EXPECT_FALSE(row_of(id).has(Side::reject)) << id;
}

TEST(FlashConstraints, EveryContradictionIsANoteOfSomeRow) {
  std::string notes;
  for (const auto& row : Op::constraints()) notes.append(row.notes).append(", ");
  const auto expect = [&](const std::string& id) {
    EXPECT_NE(notes.find(id + ","), std::string::npos) << id;
  };
  for (int k = 1; k <= 39; ++k) expect("FAG-Q" + std::to_string(k));
  for (int k = 1; k <= 6; ++k) expect("CV-O" + std::to_string(k));
}

TEST(FlashConstraints, EveryViolationWorksInSomePlainCallOfEveryLayoutOfItsEntryPoints) {
  each_violation([](const auto& row, const auto& violation) {
    std::set<Layout> layouts;
    for (const Asked& asked : plain_calls()) {
      Call<Op> call = asked.call();
      violation.apply(call);
      if (!row.holds(call)) layouts.insert(asked.problem.input_layout);
    }
    const std::size_t of_padded = layouts.size() - layouts.count(Layout::tnd);
    EXPECT_TRUE(of_padded == 0 || of_padded == 4) << row.id << ':' << violation.name;
  });
}

RC_GTEST_PROP(FlashConstraints, AViolationBreaksItsRowAndOnlyWhatItImplies, ()) {
  const Asked asked = *legal_call();
  each_violation([&](const auto& row, const auto& violation) {
    Call<Op> call = asked.call();
    violation.apply(call);
    const Ids ids = broken_by(call);
    if (!ids.empty() && (!ids.contains(row.id) || !std::ranges::includes(with_implied(row), ids)))
      RC_FAIL(std::string(row.id) + ':' + std::string(violation.name) + " breaks " + listed(ids));
  });
}

RC_GTEST_PROP(FlashConstraints, ALegalCallBreaksNoRow, ()) {
  const Ids ids = broken_by((*legal_call()).call());
  if (!ids.empty()) RC_FAIL(listed(ids));
}

TEST(FlashConstraints, EveryAcceptSideIsReachedByALegalCall) {
  std::set<std::string_view> reached;
  for (const Product product : {Product::a2, Product::a3})
    for (Asked asked : plain_calls()) {
      asked.product = product;
      asked.inputs = Striding::padded;
      const Call<Op> call = asked.call();
      for (const auto& row : Op::constraints())
        if (row.has(Side::accept) && row.applies(call)) reached.insert(row.id);
    }
  for (const auto& row : Op::constraints())
    if (row.has(Side::accept)) {
      EXPECT_TRUE(reached.contains(row.id)) << row.id;
    }
}

TEST(FlashConstraints, ARowHoldsWhereItDoesNotApply) {
  for (const Asked& asked : {plain_calls(FlashSurface::g2).front(), plain_calls(FlashSurface::u2).front(),
                             plain_calls(FlashSurface::u3).front()})
    each_violation([&](const auto&, const auto& violation) {
      Call<Op> call = asked.call();
      violation.apply(call);
      for (const auto& row : Op::constraints())
        if (!row.applies(call)) {
          EXPECT_TRUE(row.holds(call)) << row.id;
        }
    });
}

TEST(FlashConstraints, SizesAreLegalUpToTheirLimits) {
  const Op::Problem wide{.heads_q = 256, .seq_q = 1, .head_dim = 512, .head_dim_v = 512};
  const Op::Problem long_queries{.seq_q = 1024 * 1024, .seq_kv = 1};
  const Op::Problem long_keys{.seq_q = 1, .seq_kv = 1024 * 1024};
  const Op::Problem many{
      .batch = 2 * 1024 * 1024, .seq_q = 1, .seq_kv = 1, .head_dim = 1, .head_dim_v = 1};
  for (const auto& problem : {wide, long_queries, long_keys, many})
    EXPECT_EQ(broken_by(Asked{.problem = problem}.call()), Ids{});
}

TEST(FlashConstraints, HeadSizesFrom513To768AreDisputedAnd769IsRefused) {
  Asked asked{.problem = {.head_dim = 513}};
  EXPECT_EQ(broken_by(asked.call()), Ids{"FAG-C44a"});
  asked.problem.head_dim = 768;
  EXPECT_EQ(broken_by(asked.call()), Ids{"FAG-C44a"});
  asked.problem.head_dim = 769;
  EXPECT_EQ(broken_by(asked.call()), Ids{"FAG-C44"});
  EXPECT_EQ(row_of("FAG-C44a").standing, Standing::disputed);
}

TEST(FlashConstraints, EmptyGradientsAreLegal) {
  const Op::Problem none{.seq_q = 0};
  const Op::Problem no_keys{.seq_kv = 0};
  for (const Layout layout : {Layout::bnsd, Layout::bsh, Layout::tnd})
    for (Op::Problem problem : {none, no_keys}) {
      problem.input_layout = layout;
      const FlashSurface surface = layout == Layout::tnd ? FlashSurface::u1 : FlashSurface::g1;
      EXPECT_EQ(broken_by(Asked{.problem = problem, .surface = surface}.call()), Ids{});
    }
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
  EXPECT_EQ(broken_with(9, -6), Ids{"FAG-C68a"});
  EXPECT_EQ(broken_with(9, -7), Ids{"FAG-C68"});
  EXPECT_EQ(broken_with(-4, 9), Ids{});  // pages: above -5, host code: from -7
  EXPECT_EQ(broken_with(-7, 9), Ids{"FAG-C68a"});
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
  call.surface = FlashSurface::g1;
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

TEST(FlashConstraints, ABrokenLayoutSilencesTheRowsThatDependOnIt) {
  const Call<Op> call = broken(willing_call(), "FAG-C30", "lower_case");
  EXPECT_EQ(broken_by(call), Ids{"FAG-C30"});
  EXPECT_FALSE(row_of("FAG-C33").applies(call));
}

TEST(FlashConstraints, AnEmptyCallBreaksPresenceRowsWithoutACrash) {
  Call<Op> call{
      .surface = FlashSurface::g1, .product = Product::a2, .parameters = {}, .attributes = {}};
  const Ids always = {"FAG-C01", "FAG-C02", "FAG-C03", "FAG-C04", "FAG-C07"};
  EXPECT_EQ(broken_by(call), always);
  for (const auto& [surface, name] : spellings_of<FlashSurface>.entries) {
    call.surface = surface;
    EXPECT_TRUE(std::ranges::includes(broken_by(call), always)) << name;
    each_violation([&](const auto&, const auto& violation) {
      Call<Op> copy = call;
      violation.apply(copy);
      EXPECT_FALSE(broken_by(copy).empty());
    });
  }
}

TEST(FlashConstraints, ProductsSupportWhatTheirRowsAccept) {
  for (const auto& [surface, name] : spellings_of<FlashSurface>.entries)
    for (const auto& [product, text] : spellings_of<Product>.entries) {
      const auto& row = row_of(product_row(surface, product));
      EXPECT_EQ(row.has(Side::accept), supports(surface, product)) << row.id;
      EXPECT_EQ(row.has(Side::none), !supports(surface, product)) << row.id;
      Call<Op> call = plain_calls(surface).front().call();
      call.product = product;
      EXPECT_TRUE(row.applies(call)) << row.id;
    }
  EXPECT_TRUE(supports(FlashSurface::g1, Product::a3));
  EXPECT_TRUE(supports(FlashSurface::u3, Product::a3));
  EXPECT_FALSE(supports(FlashSurface::u1, Product::a3));
}

}  // namespace
}  // namespace assay::spec
