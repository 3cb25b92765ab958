#include "assay/spec/operators/sparse_flash_attention_grad.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "table_checks.hpp"

namespace assay::spec {
namespace {

using Op = SparseFlashAttentionGrad;
using Problem = Op::Problem;

Call<Op> call_for(const Problem& problem, const Strides& inputs = {}) {
  return call_of(problem, SparseFlashEntryPoint::g1, Product::a2, inputs, {});
}

/// Makes a random legal call about which the documentation does not contradict itself.
rc::Gen<Call<Op>> legal_call() {
  return rc::gen::exec([] {
    const Layout layout = *rc::gen::element(Layout::bsnd, Layout::tnd);
    return call_for(
        {.dtype = *rc::gen::element(DType::fp16, DType::bf16),
         .layout = layout,
         .batch = layout == Layout::tnd ? 1 : integer(1, 256),
         .heads_q = std::int64_t{1} << integer(0, 7),
         .seq_q = integer(1, 300),
         .seq_kv = integer(1, 3000),
         .head_dim_rope = 64 * integer(0, 1),
         .value_form = *rc::gen::element(SparseValue::given, SparseValue::merged),
         .sparse_block_size = *rc::gen::element<std::int64_t>(1, 8, 16, 32, 64),
         .sparse_block_count = 1024 * integer(1, 8),
         .sparse_mode = 3 * integer(0, 1)},
        *rc::gen::element(Striding::contiguous, Striding::padded, Striding::transposed));
  });
}

std::vector<Call<Op>> plain_calls() {
  const Problem packed{.layout = Layout::tnd, .heads_q = 4, .seq_q = 3, .seq_kv = 9};
  const Problem merged{.batch = 2, .heads_q = 2, .value_form = SparseValue::merged};
  return {call_for({.batch = 2, .heads_q = 4}), call_for(packed),
          call_for(merged, Striding::padded)};
}

TEST(SparseFlashAttentionGradConstraints, AreACompleteTable) {
  expect_ids_in_order<Op>();
  expect_statements_and_sources<Op>("aclnnSparseFlashAttentionGrad.md");
  expect_sides_and_what_they_need<Op>();
  expect_every_violation_to_work_alone(plain_calls());
  expect_every_accept_side_reached(plain_calls());
  expect_an_empty_call_to_be_survived<Op>({}, {"SFAG-C02"});
  expect_exactly_the_ids<Op>("SFAG-C", 38,
                             {"SFAG-C02a", "SFAG-C13a", "SFAG-C15a", "SFAG-C36a", "SFAG-C38a"});
  expect_contradictions_in_notes<Op>("SFAG-Q", 15);
}

TEST(SparseFlashAttentionGradConstraints, StandingsAreThoseOfTheSpecification) {
  EXPECT_EQ(standing_as<Op>(Standing::disputed),
            (Ids{"SFAG-C03", "SFAG-C12", "SFAG-C18", "SFAG-C24", "SFAG-C29", "SFAG-C36"}));
  EXPECT_EQ(standing_as<Op>(Standing::upstream), (Ids{"SFAG-C13a", "SFAG-C30", "SFAG-C38a"}));
  EXPECT_EQ(refused_with<Op>(Status::param_nullptr), (Ids{"SFAG-C02", "SFAG-C02a", "SFAG-C05"}));
  EXPECT_EQ(refused_with<Op>(Status::param_invalid), (Ids{"SFAG-C13", "SFAG-C15", "SFAG-C16"}));
  for (const Product product : {Product::a2, Product::a3})
    EXPECT_TRUE(supports(SparseFlashEntryPoint::g1, product));
}

RC_GTEST_PROP(SparseFlashAttentionGradConstraints, ALegalCallBreaksNoRowAndEachViolationItsOwn,
              ()) {
  assert_legal_in_itself_and_in_variants<Op>(*legal_call());
}

TEST(SparseFlashAttentionGradProblem, SeveralPackedSequencesAreLegal) {
  const Call<Op> call = call_for({.layout = Layout::tnd,
                                  .batch = 2,
                                  .seq_q = 5,
                                  .seq_kv = 9,
                                  .lengths_q = {5, 3},
                                  .lengths_kv = {9, 4}});
  EXPECT_EQ(broken_by(call), Ids{});
  EXPECT_EQ(call.parameters.query.shape, (Shape{8, 1, 512}));
  EXPECT_EQ(call.parameters.softmax_max.shape, (Shape{1, 8, 1}));
  EXPECT_EQ(call.parameters.actual_seq_lengths_kv.shape, Shape{2});
}

TEST(SparseFlashAttentionGradProblem, TensorsHaveTheShapesOfThePage) {
  const Call<Op> call = call_for({.batch = 3, .heads_q = 4, .seq_q = 5, .seq_kv = 7});
  const Op::Parameters& p = call.parameters;
  EXPECT_EQ(p.query.shape, (Shape{3, 5, 4, 512}));
  EXPECT_EQ(p.d_key.shape, (Shape{3, 7, 1, 512}));
  EXPECT_EQ(p.sparse_indices.shape, (Shape{3, 5, 1, 1024}));
  EXPECT_EQ(p.softmax_sum.shape, (Shape{3, 1, 5, 4}));
  EXPECT_EQ(p.key_rope.shape, (Shape{3, 7, 1, 64}));
  EXPECT_FALSE(p.actual_seq_lengths_query.present);
  const Call<Op> plain = call_for({.head_dim_rope = 0, .value_form = SparseValue::merged});
  EXPECT_FALSE(plain.parameters.value.present || plain.parameters.d_value.present ||
               plain.parameters.query_rope.present || plain.parameters.d_key_rope.present);
}

}  // namespace
}  // namespace assay::spec
