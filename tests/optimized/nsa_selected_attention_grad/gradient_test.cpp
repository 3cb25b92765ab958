#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "../implementation_checks.hpp"
#include "assay/optimized/nsa_selected_attention_grad.hpp"
#include "assay/spec/status.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using spec::DType;
using spec::SelectedMask;
using spec::Striding;
using test::selected::causal;
using test::selected::Entry;
using test::selected::Example;
using test::selected::expect_gradients;
using test::selected::Gradients;
using test::selected::Op;
using test::selected::oracle;
using test::selected::run;
using test::selected::same_bits;
using test::selected::small_problem;
using test::selected::values;

TEST(SelectedGradient, AgreesWithTheFormulaInEveryTypeAndHeadSize) {
  for (const DType dtype : {DType::fp16, DType::bf16})
    for (const auto& [d, dv] : {std::pair{192, 128}, {192, 192}, {128, 128}, {128, 192}}) {
      Op::Problem p = small_problem(dtype);
      p.head_dim = d, p.head_dim_v = dv;
      expect_gradients({.problem = p});
      expect_gradients({.problem = causal(p)});
    }
}

TEST(SelectedGradient, SumsTheHeadsOfEveryGroupSize) {
  for (const auto& [q, kv] : {std::pair{1, 1}, {6, 3}, {17, 1}, {34, 2}, {32, 1}, {5, 5}}) {
    SCOPED_TRACE(q);
    Op::Problem p = small_problem();
    p.heads_q = q, p.heads_kv = kv;
    p.lengths_q = {11, 20}, p.seq_q = 20;
    expect_gradients({.problem = causal(p)});
  }
}

TEST(SelectedGradient, TakesEveryBlockSizeAndCount) {
  for (const std::int64_t size : {16, 48, 64, 128})
    for (const std::int64_t count : {1, 2, 5, 33}) {
      if (size * count > 1000 && size != 48) continue;
      const std::int64_t keys = size * (count + 1);
      Op::Problem p = {.dtype = DType::bf16,
                       .heads_q = 2,
                       .seq_q = 9,
                       .seq_kv = keys,
                       .selected_block_size = size,
                       .selected_block_count = count};
      expect_gradients({.problem = p});
    }
}

/// All queries list the same few blocks. This gives many row tiles and several records (groups of
/// row tiles).
TEST(SelectedGradient, AddsRecordAfterRecord) {
  expect_gradients({.problem = causal({.dtype = DType::fp16,
                                       .heads_q = 3,
                                       .seq_q = 400,
                                       .seq_kv = 64,
                                       .selected_block_size = 32,
                                       .selected_block_count = 2})});
}

TEST(SelectedGradient, ReadsAndWritesStridedViewsAndNothingElse) {
  for (const Striding striding : {Striding::padded, Striding::transposed}) {
    const Example example = {
        .problem = causal(small_problem()), .inputs = striding, .outputs = striding};
    expect_gradients(example);
    if (striding != Striding::padded) continue;
    const Op::Outputs outputs = run(example, inputs_of(example));
    for (const spec::Tensor* tensor : {&outputs.dq, &outputs.dk, &outputs.dv})
      EXPECT_TRUE(test::untouched_outside(*tensor, std::byte{0xAB}));
  }
}

TEST(SelectedGradient, CountsABlockAsOftenAsItIsListed) {
  const auto twice = [](const Entry& e) {
    return e.slot == 1 ? std::int64_t{2} : (e.slot + 1) % 3;
  };
  expect_gradients({.problem = small_problem(), .block = [](const Entry&) { return 1; }});
  expect_gradients({.problem = small_problem(), .block = twice});
  // The list contains a block twice, but the statistics come from a list that contains it once. So
  // all three gradients must be twice as large.
  Op::Problem p = small_problem(DType::bf16);
  p.selected_block_count = 1;
  const auto alone = [](const Entry& e) { return e.token % 4; };
  const Example once = {.problem = p, .block = alone};
  Example doubled = once;
  doubled.problem.selected_block_count = 2;
  Op::Inputs inputs = inputs_of(once);
  const Gradients single = values(run(once, inputs));
  inputs.topk_indices = inputs_of(doubled).topk_indices;
  const Gradients both = values(run(doubled, inputs));
  for (const auto& [x, y] :
       {std::pair(&single.dq, &both.dq), {&single.dk, &both.dk}, {&single.dv, &both.dv}})
    for (std::size_t k = 0; k < x->size(); ++k)
      ASSERT_NEAR((*y)[k], 2 * (*x)[k], 0x1p-7 * std::abs((*x)[k]) + 1e-4);
}

TEST(SelectedGradient, HasTheSameBitsForAnyOrderOfTheLists) {
  const Example example = {.problem = causal(small_problem())};
  const Op::Inputs inputs = inputs_of(example);
  Op::Inputs turned = inputs;
  spec::Tensor& lists = turned.topk_indices;
  for (std::size_t row = 0; row < lists.bytes.size() / 12; ++row) {
    std::int32_t entries[3];
    std::memcpy(entries, lists.bytes.data() + 12 * row, 12);
    std::rotate(entries, entries + 1 + row % 2, entries + 3);
    std::memcpy(lists.bytes.data() + 12 * row, entries, 12);
  }
  EXPECT_NE(turned.topk_indices.bytes, inputs.topk_indices.bytes);
  EXPECT_TRUE(same_bits(run(example, inputs), run(example, turned)));
}

TEST(SelectedGradient, HasTheSameBitsForAnyThreadsAndInstructions) {
  Op::Problem p = small_problem();
  p.heads_q = 34, p.lengths_q = {90, 50}, p.seq_q = 90;
  const Example example = {.problem = causal(p)};
  const Op::Inputs inputs = inputs_without_forward(example);
  const Op::Outputs one = run(example, inputs, {.threads = 1});
  for (const optimized::Options& options : test::ways_to_run({2, 3, 8}))
    EXPECT_TRUE(same_bits(one, run(example, inputs, options))) << test::printed(options);
}

TEST(SelectedGradient, RunsWithThreadsOnProblemsOfOneKeyHead) {
  Op::Problem p = small_problem();
  p.batch = 1, p.lengths_q = {}, p.lengths_kv = {}, p.heads_q = 16, p.heads_kv = 1, p.seq_q = 400;
  expect_gradients({.problem = causal(p)});
}

/// A block that begins after the query's position adds nothing to any sum, so the gradients of its
/// keys are exactly 0.
TEST(SelectedGradient, BlockInTheFutureHasExactlyZeroGradients) {
  const auto list = [](const Entry& e) { return e.slot == 0 ? 0 : e.slot + 2; };
  Op::Problem p = causal(small_problem(DType::bf16));
  p.lengths_q = {30, 20}, p.seq_q = 30, p.lengths_kv = {80, 96};
  const Example example = {.problem = p, .block = list};
  expect_gradients(example);
  const Op::Inputs inputs = inputs_of(example);
  const Gradients g = values(run(example, inputs));
  const std::size_t token = 2 * 192;  // index of the token in dk, which has two key heads
  for (std::size_t k = 16 * token; k < 80 * token; ++k) ASSERT_EQ(g.dk[k], 0) << k;
  EXPECT_NE(g.dk[0], 0);
  // Without the list entries that lie after the query's position, the result must be the same.
  Example without = example;
  without.problem.selected_block_count = 1;
  Op::Inputs shorter = inputs;
  shorter.topk_indices = inputs_of(without).topk_indices;
  EXPECT_TRUE(same_bits(run(example, inputs), run(without, shorter)));
}

TEST(SelectedGradient, TokenThatSeesNothingHasZeroDqAndAddsNothing) {
  const auto list = [](const Entry& e) { return e.token < 16 ? 3 : e.slot; };
  const Example example = {.problem = causal(small_problem()), .block = list};
  Op::Inputs inputs = inputs_of(example);
  for (const std::int64_t element : spec::viewed_elements(inputs.softmax_sum))
    if (inputs.softmax_sum.load(element) == 0) inputs.softmax_sum.store(element, 1);
  const Gradients g = values(run(example, inputs)), expected = oracle(example.problem, inputs);
  for (std::size_t k = 0; k < 16 * 4 * 192; ++k) ASSERT_EQ(g.dq[k], 0);
  EXPECT_LT(test::error(g.dq, expected.dq), 2e-3);
  EXPECT_LT(test::error(g.dk, expected.dk), 2e-3);
}

TEST(SelectedGradient, HidesTheFutureInModeTwoWithAMaskOnly) {
  for (const SelectedMask mask : {SelectedMask::absent, SelectedMask::compressed})
    for (const std::int64_t mode : {0, 2}) {
      Op::Problem p = small_problem();
      p.sparse_mode = mode, p.atten_mask = mask;
      expect_gradients({.problem = p});
    }
}

TEST(SelectedGradient, CountsPositionsBeyondTheEdgeOfTheMask) {
  const auto list = [](const Entry& e) { return e.token / 16 + e.slot - 1 + (e.token < 16); };
  Op::Problem p = small_problem();
  p.batch = 1, p.lengths_q = {}, p.lengths_kv = {}, p.heads_q = 1, p.heads_kv = 1;
  p.seq_q = 2100, p.seq_kv = 2160;
  expect_gradients({.problem = causal(p), .block = list});
}

/// Makes the call of the example program in the documentation. All its gradients are so small that
/// they are rounded to zero.
TEST(SelectedGradient, DocumentedExampleHasZeroGradients) {
  const Example example = {.problem = {.dtype = DType::fp16,
                                       .seq_q = 1,
                                       .seq_kv = 1024,
                                       .head_dim = 192,
                                       .head_dim_v = 192,
                                       .scale_value = 1,
                                       .selected_block_size = 64,
                                       .selected_block_count = 16},
                           .block = [](const Entry& e) { return e.slot; }};
  Op::Inputs inputs = inputs_without_forward(example);
  for (spec::Tensor* x : {&inputs.query, &inputs.key, &inputs.value, &inputs.attention_out,
                          &inputs.attention_out_grad})
    for (const std::int64_t element : spec::viewed_elements(*x)) x->store(element, 0x1p-23);
  for (spec::Tensor* x : {&inputs.softmax_max, &inputs.softmax_sum})
    for (const std::int64_t element : spec::viewed_elements(*x)) x->store(element, 2);
  const Gradients g = values(run(example, inputs));
  for (const auto* gradient : {&g.dq, &g.dk, &g.dv})
    for (const double x : *gradient) ASSERT_EQ(x, 0);
}

TEST(SelectedGradient, RefusesAnIndexThatNamesNoBlockAndWritesNothing) {
  for (const std::int64_t bad : {-1, 4}) {
    const auto list = [&](const Entry& e) {
      return e.token == 5 && e.kv == 1 && e.slot == 2 ? bad : 0;
    };
    const Example example = {.problem = small_problem(), .block = list};
    const Op::Inputs inputs = inputs_without_forward(example);
    Op::Outputs outputs = outputs_of(example);
    try {
      optimized::nsa_selected_attention_grad(device::a2())->run(example.problem, inputs, outputs);
      FAIL() << "the call must be refused";
    } catch (const spec::Rejected& rejected) {
      EXPECT_EQ(std::string(rejected.what()),
                "NSAS-C38: entry 2 of topk_indices of token 5 of sequence 0, key head 1 is " +
                    std::to_string(bad) + "; it must be 0 to 3");
    }
    EXPECT_TRUE(same_bits(outputs, outputs_of(example)));
  }
}

}  // namespace
