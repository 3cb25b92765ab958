#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "assay/spec/contradiction.hpp"
#include "assay/spec/operators/flash_attention_score.hpp"
#include "problems.hpp"
#include "table_checks.hpp"

/// Tests the requirements of FlashAttentionScore. The test problems are those of its gradient, with
/// changes where the forward operator is stricter.
namespace assay::spec::forward_requirements {
namespace {

using Op = FlashAttentionScore;
using Problem = AttentionProblem;
using enum FlashForwardEntryPoint;

FlashEntryPoint gradient_of(FlashForwardEntryPoint entry_point) {
  using enum FlashEntryPoint;
  constexpr FlashEntryPoint gradients[] = {g1, g2, u1, u2, u3, g3, u5};
  return gradients[static_cast<std::size_t>(entry_point)];
}

bool has_more_queries(const Problem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    if (p.length_q(b) > p.length_kv(b)) return true;
  return false;
}

/// Removes features that the forward operator refuses, although the gradient allows them.
Problem made_legal(Problem p, FlashForwardEntryPoint entry_point) {
  const bool in_tnd = is_unpadding(entry_point);
  if (in_tnd && p.sparse_mode == 3 && has_more_queries(p)) p.sparse_mode = 2;
  if (p.sparse_mode == 0 || p.sparse_mode == 4) p.pre_tokens = p.next_tokens = unbounded_tokens;
  if (p.sparse_mode == 5 && p.atten_mask == MaskShape::ss) p.atten_mask = MaskShape::b_one_ss;
  if (in_tnd && p.atten_mask == MaskShape::bnss && (!p.lengths_q.empty() || !p.lengths_kv.empty()))
    p.atten_mask = MaskShape::ss;
  const bool square = p.seq_q == p.seq_kv && p.lengths_q == p.lengths_kv;
  if (p.pse_type >= 2 && !square) {
    p.pse_type = 1;
    p.pse_shift = PseShape::absent;
    p.q_start_idx.clear();
    p.kv_start_idx.clear();
  }
  if (in_tnd && p.pse_shift != PseShape::absent && p.pse_type < 2)
    p.pse_shift = PseShape::packed_bnss;
  if (p.pse_type >= 2) p.dtype = p.slope_dtype = DType::fp32;
  if (p.head_dim_rope > 0) {
    p.head_dim = 32;
    p.head_dim_v = p.head_dim_v % 4 == 0 ? 32 : 16;
    p.head_dim_rope = p.head_dim_rope % 16 == 0 ? 16 : 8;
  }
  return p;
}

Call<Op> call_with(const Problem& p, FlashForwardEntryPoint entry_point,
                   Striding inputs = Striding::contiguous) {
  return call_of(p, entry_point, Product::a2, inputs, Striding::contiguous);
}

std::vector<Call<Op>> plain(FlashForwardEntryPoint entry_point) {
  std::vector<Call<Op>> calls;
  for (const Asked& asked : plain_calls(gradient_of(entry_point)))
    calls.push_back(call_with(made_legal(asked.problem, entry_point), entry_point));
  return calls;
}

std::vector<Call<Op>> plain() {
  std::vector<Call<Op>> calls;
  for (const auto& [entry_point, name] : spellings_of<FlashForwardEntryPoint>.entries)
    for (const Call<Op>& call : plain(entry_point)) calls.push_back(call);
  return calls;
}

rc::Gen<Call<Op>> any_legal() {
  return rc::gen::exec([] {
    const auto entry_point = *rc::gen::element(f1, f2, l1, l2, l3);
    const Problem p = made_legal(*legal_problem(gradient_of(entry_point)), entry_point);
    return call_with(p, entry_point, *rc::gen::element(Striding::contiguous, Striding::padded));
  });
}
}  // namespace

void showValue(const Call<Op>& call, std::ostream& out) {
  out << to_string(call.entry_point) << " mode " << call.attributes.sparse_mode;
}

namespace {

TEST(ForwardRequirements, IdsAreInOrderAndSidesAreComplete) {
  expect_ids_in_order<Op>();
  expect_sides_and_what_they_need<Op>();
}

TEST(ForwardRequirements, StatementsUseTheNamesOfTheForwardPages) {
  for (const auto& row : Op::requirements()) {
    EXPECT_TRUE(row.statement.ends_with('.')) << row.id;
    EXPECT_TRUE(row.id.starts_with("FAS-C") || row.id.starts_with("FAS-P") ||
                row.id.starts_with("SNKF-"))
        << row.id;
    EXPECT_TRUE(row.source.document.starts_with("ops-transformer: ")) << row.id;
    for (const std::string_view word : {"keyIn", "pseShift", "attentionIn", "FAG", "gradient"})
      EXPECT_EQ(row.statement.find(word), std::string_view::npos) << row.id << ' ' << word;
  }
}

std::string refusing(const Requirement<Op>& row) {
  std::string names;
  for (const auto& [entry_point, name] : spellings_of<FlashForwardEntryPoint>.entries) {
    const auto calls = plain(entry_point);
    if (std::ranges::any_of(row.violations, [&](const auto& violation) {
          return std::ranges::any_of(
              calls, [&](const Call<Op>& call) { return works_alone(call, row, violation); });
        }))
      names.append(names.empty() ? "" : " ").append(name);
  }
  return names;
}

/// The requirements that a call can violate, each with the entry points on which this is possible.
constexpr std::string_view everywhere = "f1 f2 l1 l2 l3 f3 l5", dense = "f1 f2 f3",
                           packed = "l1 l2 l3 l5", with_pse = "f1 f2 l1 l2 f3 l5",
                           packed_with_pse = "l1 l2 l5", with_slopes = "f2 l2 f3 l5",
                           with_ropes = "l3 l5", with_sink = "f3 l5";
constexpr std::pair<std::string_view, std::string_view> refused_on[] = {
    {"FAS-C01", everywhere},      {"FAS-C02", everywhere},       {"FAS-C04", everywhere},
    {"FAS-C05", packed},          {"FAS-C05a", packed},          {"FAS-C06", with_ropes},
    {"FAS-C06a", "l3"},           {"FAS-C07", with_ropes},       {"FAS-C08", with_ropes},
    {"FAS-C08a", with_ropes},     {"FAS-C09", with_ropes},       {"FAS-C10", with_pse},
    {"FAS-C11", everywhere},      {"FAS-C12", with_slopes},      {"FAS-C20", everywhere},
    {"FAS-C20a", everywhere},     {"FAS-C21", with_ropes},       {"FAS-C21a", with_ropes},
    {"FAS-C22", with_pse},        {"FAS-C22a", with_pse},        {"FAS-C22b", with_slopes},
    {"FAS-C23", everywhere},      {"FAS-C23a", with_pse},        {"FAS-C23b", everywhere},
    {"FAS-C23c", everywhere},     {"FAS-C24", everywhere},       {"FAS-C30", dense},
    {"FAS-C30a", everywhere},     {"FAS-C31", packed},           {"FAS-C32", everywhere},
    {"FAS-C32a", everywhere},     {"FAS-C33", everywhere},       {"FAS-C33a", everywhere},
    {"FAS-C35", everywhere},      {"FAS-C35a", everywhere},      {"FAS-C36", everywhere},
    {"FAS-C36a", everywhere},     {"FAS-C37", everywhere},       {"FAS-C37a", everywhere},
    {"FAS-C38", dense},           {"FAS-C38a", dense},           {"FAS-C38b", dense},
    {"FAS-C38c", packed},         {"FAS-C38d", "l1 l2 l3"},      {"FAS-C38e", packed_with_pse},
    {"FAS-C38f", dense},          {"FAS-C38g", dense},           {"FAS-C38h", packed},
    {"FAS-C40", with_ropes},      {"FAS-C40a", with_ropes},      {"FAS-C40b", with_ropes},
    {"FAS-C41", with_ropes},      {"FAS-C42", everywhere},       {"FAS-C42a", "l1 l2 l3"},
    {"FAS-C43", everywhere},      {"FAS-C43a", packed},          {"FAS-C44", everywhere},
    {"FAS-C44a", everywhere},     {"FAS-C44b", packed},          {"FAS-C44c", dense},
    {"FAS-C45", with_pse},        {"FAS-C45a", packed_with_pse}, {"FAS-C45b", packed_with_pse},
    {"FAS-C46", with_pse},        {"FAS-C47", with_pse},         {"FAS-C60", everywhere},
    {"FAS-C61", everywhere},      {"FAS-C61a", dense},           {"FAS-C61b", packed},
    {"FAS-C61c", with_ropes},     {"FAS-C62", with_slopes},      {"FAS-C62a", with_ropes},
    {"FAS-C63", "f2 l2 f3"},      {"FAS-C64", with_pse},         {"FAS-C64a", with_pse},
    {"FAS-C65", packed},          {"FAS-C67", packed_with_pse},  {"FAS-C67a", packed_with_pse},
    {"FAS-C68", packed_with_pse}, {"FAS-C68b", packed},          {"FAS-C68c", packed},
    {"FAS-C68d", packed},         {"FAS-C68e", packed},          {"FAS-C69", everywhere},
    {"FAS-C69a", everywhere},     {"FAS-C69b", packed},          {"SNKF-C38", "l5"},
    {"SNKF-C71", "l5"},           {"SNKF-C02a", with_sink},      {"SNKF-C03", with_sink},
    {"SNKF-C04", with_sink},
};

TEST(ForwardRequirements, RowsAreRefusedByTheEntryPointsOfTheirTable) {
  Ids in_table;
  for (const auto& [id, entry_points] : refused_on) {
    EXPECT_EQ(refusing(requirement_of<Op>(id)), entry_points) << id;
    in_table.insert(id);
  }
  for (const auto& row : Op::requirements())
    EXPECT_EQ(row.has(Side::reject), in_table.contains(row.id)) << row.id;
}

TEST(ForwardRequirements, EveryViolationWorksAlone) {
  expect_every_violation_to_work_alone(plain());
}

RC_GTEST_PROP(ForwardRequirements, ALegalCallBreaksNoRowAndEachViolationItsOwn, ()) {
  assert_legal_in_itself_and_in_variants<Op>(*any_legal());
}

TEST(ForwardRequirements, EveryAcceptSideIsReachedByALegalCall) {
  std::vector<Call<Op>> calls;
  for (const Product product : {Product::a2, Product::a3})
    for (const auto& [entry_point, name] : spellings_of<FlashForwardEntryPoint>.entries)
      for (const Asked& asked : plain_calls(gradient_of(entry_point)))
        calls.push_back(call_of(made_legal(asked.problem, entry_point), entry_point, product,
                                Striding::padded, Striding::padded));
  Problem masks_of_batches{.batch = 2, .sparse_mode = 5, .prefix = {0, 3}};
  masks_of_batches.atten_mask = MaskShape::b_one_ss;
  calls.push_back(call_with(masks_of_batches, f1));
  expect_every_accept_side_reached(calls);
}

TEST(ForwardRequirements, EveryContradictionIsANoteOfSomeRow) {
  expect_contradictions_in_notes<Op>("FAS-Q", 12);
  for (int k = 1; k <= 12; ++k)
    EXPECT_EQ(std::ranges::count(contradictions(), "FAS-Q" + std::to_string(k), &Contradiction::id),
              1);
}

/// The documentation names only these status codes: 161001 for null pointers, and 161002 for types
/// and formats.
TEST(ForwardRequirements, ExactCodesAreThoseOfThePages) {
  const std::pair<std::string_view, Status> coded[] = {
      {"FAS-C01", Status::param_nullptr}, {"FAS-C02", Status::param_nullptr},
      {"FAS-C04", Status::param_nullptr}, {"FAS-C20", Status::param_invalid},
      {"FAS-C22", Status::param_invalid}, {"FAS-C24", Status::param_invalid}};
  std::size_t number = 0;
  for (const auto& row : Op::requirements()) number += row.status_on(f1).any ? 0 : 1;
  EXPECT_EQ(number, std::size(coded));
  for (const auto& [id, status] : coded) {
    const ExpectedStatus expected = requirement_of<Op>(id).status_on(f1);
    EXPECT_FALSE(expected.any) << id;
    EXPECT_EQ(expected.code, status) << id;
  }
  EXPECT_TRUE(requirement_of<Op>("FAS-C20").status_on(l3).any);  // page and host code disagree
}

TEST(ForwardRequirements, AnEmptyCallIsRefusedWithoutACrash) {
  for (const auto& [entry_point, name] : spellings_of<FlashForwardEntryPoint>.entries)
    expect_an_empty_call_to_be_survived<Op>(entry_point, {"FAS-C01", "FAS-C02", "FAS-C04"});
}

TEST(ForwardRequirements, AMaskAsksForDefinedResultsOfFullyMaskedRows) {
  Problem p;
  EXPECT_EQ(call_with(p, f1).attributes.inner_precise, 0);
  p.atten_mask = MaskShape::ss;
  EXPECT_EQ(call_with(p, f1).attributes.inner_precise, 2);
  for (const auto& variant : requirement_of<Op>("FAS-C70").variants) {
    Call<Op> call = call_with(p, f1);
    variant.apply(call);
    EXPECT_EQ(call.attributes.inner_precise, 2) << variant.name;
  }
}

TEST(ForwardRequirements, WindowsOutsideTheHostCodeAreDisputedAndEmptyOnesRefused) {
  const auto broken_with = [](std::int64_t pre, std::int64_t next, bool in_tnd,
                              std::int64_t mode = 0) {
    Problem p{.seq_q = 5, .seq_kv = 7, .sparse_mode = mode, .pre_tokens = pre, .next_tokens = next};
    p.atten_mask = mode == 0 ? MaskShape::ss : MaskShape::compressed;
    if (in_tnd) p.input_layout = Layout::tnd;
    return broken_by(call_with(p, in_tnd ? l1 : f1));
  };
  EXPECT_EQ(broken_with(9, -4, false), Ids{});
  EXPECT_EQ(broken_with(9, -5, false), Ids{"FAS-C69a"});
  EXPECT_EQ(broken_with(-3, 9, false), Ids{});
  EXPECT_EQ(broken_with(2, -3, false), (Ids{"FAS-C69", "FAS-C69a"}));
  EXPECT_EQ(broken_with(9, -4, true), Ids{"FAS-C69a"});
  EXPECT_EQ(broken_with(-3, 9, true), Ids{"FAS-C69a"});
  EXPECT_EQ(broken_with(0, 0, true), Ids{});
  EXPECT_EQ(broken_with(6, 1, false, 4), Ids{});  // from the left-up corner: 4 and 3
  EXPECT_EQ(broken_with(-3, 9, false, 4), Ids{"FAS-C69a"});
  EXPECT_EQ(broken_with(-1, 9, true, 4), Ids{"FAS-C69a"});
  EXPECT_EQ(broken_with(4, -2, true, 4), Ids{});
  EXPECT_EQ(broken_with(4, -3, true, 4), Ids{"FAS-C69a"});
}

TEST(ForwardRequirements, ProductsOfferEveryEntryPoint) {
  for (const auto& [entry_point, name] : spellings_of<FlashForwardEntryPoint>.entries)
    for (const Product product : {Product::a2, Product::a3}) {
      EXPECT_TRUE(supports(entry_point, product));
      EXPECT_TRUE(requirement_of<Op>(product_requirement(entry_point, product))
                      .applies(call_of(Problem(), entry_point, product, Striding::contiguous,
                                       Striding::contiguous)));
    }
}

}  // namespace
}  // namespace assay::spec::forward_requirements
