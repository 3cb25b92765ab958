#include "assay/spec/operators/nsa_selected_attention.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <ostream>

#include "operators/nsa_selected_attention/table.hpp"
#include "table_checks.hpp"

namespace assay::spec {
namespace {

using Op = NsaSelectedAttention;

struct Asked {
  SelectionProblem problem;
  Product product = Product::a2;
  Striding inputs = Striding::contiguous, outputs = Striding::contiguous;

  Call<Op> call() const {
    return call_of(problem, SelectedForwardEntryPoint::f1, product, inputs, outputs);
  }
};

void showValue(const Asked& asked, std::ostream& out) { show_fields(asked.problem, out); }

Striding any_striding() {
  return spellings_of<Striding>.entries[static_cast<std::size_t>(integer(0, 2))].first;
}

/// Makes a random legal call about which the documentation does not contradict itself.
rc::Gen<Asked> legal_call() {
  return rc::gen::exec([] {
    SelectionProblem p;
    p.dtype = *rc::gen::element(DType::fp16, DType::bf16);
    p.heads_kv = integer(1, 4);
    p.heads_q = p.heads_kv * integer(1, 32);
    p.selected_block_size = 16 * integer(1, 8);
    p.selected_block_count = integer(1, 32);
    p.batch = integer(2, 4);
    for (std::int64_t b = 0; b < p.batch; ++b) {
      p.lengths_q.push_back(b + integer(1, 5));
      p.lengths_kv.push_back((p.selected_block_count + integer(1, 4) + b) * p.selected_block_size);
    }
    p.lengths_q[0] = 20, p.lengths_kv[0] = 40 * p.selected_block_size;
    p.seq_q = std::ranges::max(p.lengths_q), p.seq_kv = std::ranges::max(p.lengths_kv);
    p.atten_mask = *rc::gen::element(SelectedMask::absent, SelectedMask::compressed);
    p.sparse_mode = 2 * integer(0, 1);
    return Asked{p, *rc::gen::element(Product::a2, Product::a3), any_striding(), any_striding()};
  });
}

std::vector<Call<Op>> plain_calls() {
  const SelectionProblem causal{
      .seq_q = 5, .seq_kv = 64, .sparse_mode = 2, .atten_mask = SelectedMask::compressed};
  const SelectionProblem ragged{.batch = 3,
                                .heads_q = 4,
                                .heads_kv = 2,
                                .seq_q = 9,
                                .seq_kv = 64,
                                .lengths_q = {1, 9, 3},
                                .lengths_kv = {48, 64, 64}};
  return {Asked{}.call(), Asked{.problem = ragged}.call(), Asked{.problem = causal}.call(),
          Asked{.problem = {.sparse_mode = 2}, .outputs = Striding::padded}.call()};
}

TEST(NsaSelectedAttentionConstraints, AreACompleteTable) {
  expect_a_complete_table<Op>(
      "ops-transformer: attention/nsa_selected_attention/docs/aclnnNsaSelectedAttention.md",
      {"NSSF-C01"}, plain_calls());
  expect_exactly_the_ids<Op>(
      "NSSF-C", 16,
      {"NSSF-C01a", "NSSF-C01b", "NSSF-C02a", "NSSF-C02b", "NSSF-C02c", "NSSF-C02d", "NSSF-C03a",
       "NSSF-C03b", "NSSF-C05a", "NSSF-C05b", "NSSF-C05c", "NSSF-C06a", "NSSF-C06b", "NSSF-C08a",
       "NSSF-C09a", "NSSF-C09b", "NSSF-C10a", "NSSF-C10b", "NSSF-C10c", "NSSF-C10d", "NSSF-C11a",
       "NSSF-C11b", "NSSF-C11c", "NSSF-C11d", "NSSF-C11e", "NSSF-C12a", "NSSF-C14a", "NSSF-C16a"});
  expect_contradictions_in_notes<Op>("NSSF-Q", 6);
}

TEST(NsaSelectedAttentionConstraints, StandingsAndCodesAreThoseOfThePage) {
  EXPECT_EQ(standing_as<Op>(Standing::disputed),
            (Ids{"NSSF-C06b", "NSSF-C08a", "NSSF-C09a", "NSSF-C10b", "NSSF-C10c", "NSSF-C10d"}));
  EXPECT_EQ(standing_as<Op>(Standing::upstream),
            (Ids{"NSSF-C05c", "NSSF-C11a", "NSSF-C13", "NSSF-C16a"}));
  EXPECT_EQ(refused_with<Op>(Status::param_nullptr), Ids{});
  EXPECT_EQ(refused_with<Op>(Status::param_invalid),
            (Ids{"NSSF-C02", "NSSF-C02a", "NSSF-C02b", "NSSF-C02c", "NSSF-C02d"}));
}

/// For null arguments and other layouts the vendor's code returns 561103, but the documentation
/// names other codes. So a library may return any of them.
TEST(NsaSelectedAttentionConstraints, AnyStatusRefusesWhatPageAndCodeAnswerDifferently) {
  for (const std::string_view id : {"NSSF-C01", "NSSF-C01a", "NSSF-C01b", "NSSF-C04"}) {
    const auto& row = requirement_of<Op>(id);
    EXPECT_TRUE(row.status_on(SelectedForwardEntryPoint::f1).any) << id;
    EXPECT_TRUE(row.binds(SelectedForwardEntryPoint::f1, {.upstream = Upstream::off})) << id;
  }
}

RC_GTEST_PROP(NsaSelectedAttentionConstraints, ALegalCallBreaksNoRowAndEachViolationItsOwn, ()) {
  const Asked asked = *legal_call();
  const Call<Op> call = asked.call();
  assert_legal_in_itself_and_in_variants(call);
  RC_ASSERT(nsa::selection::problem_of(call) == asked.problem);
}

/// Mode 2 without a mask tensor masks nothing. Such a call is legal, and tests the requirement
/// NSSF-C12a.
TEST(NsaSelectedAttentionProblem, ModeTwoWithoutMaskIsLegal) {
  const Call<Op> call = plain_calls().back();
  EXPECT_EQ(broken_by(call), Ids{});
  EXPECT_TRUE(requirement_of<Op>("NSSF-C12a").is_exercised_by(call));
}

TEST(NsaSelectedAttentionProblem, TensorsHaveTheShapesOfThePage) {
  const Call<Op> call = Asked{.problem = {.heads_q = 4, .heads_kv = 2}}.call();
  EXPECT_EQ(call.parameters.query.shape, (Shape{16, 4, 192}));
  EXPECT_EQ(call.parameters.value.shape, (Shape{64, 2, 128}));
  EXPECT_EQ(call.parameters.topk_indices.shape, (Shape{16, 2, 2}));
  EXPECT_EQ(call.parameters.softmax_max.shape, (Shape{16, 4, 8}));
  EXPECT_EQ(call.parameters.attention_out.shape, (Shape{16, 4, 128}));
  EXPECT_FALSE(call.parameters.atten_mask.present);
  EXPECT_EQ(call.parameters.actual_seq_kvlen, std::vector<std::int64_t>{64});
}

}  // namespace
}  // namespace assay::spec
