#include <gtest/gtest.h>

#include <algorithm>

#include "../../each_operator.hpp"
#include "allocation_counter.hpp"
#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/reference/nsa_selected_attention.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "assay/spec/runs_elsewhere.hpp"
#include "attention/dense.hpp"

namespace assay {
namespace {

using spec::NsaSelectedAttentionGrad;

/// Returns the number of heap allocations for one query that selects `blocks` blocks of 16 keys.
std::int64_t allocations_of_a_row(std::int64_t blocks) {
  NsaSelectedAttentionGrad::Problem p{.heads_q = 1, .heads_kv = 1, .seq_q = 1};
  p.selected_block_size = 16;
  p.selected_block_count = blocks;
  p.seq_kv = 16 * blocks;
  const auto ones = [](std::int64_t count) {
    return std::vector<double>(static_cast<std::size_t>(count), 1.0);
  };
  std::vector<std::int64_t> list;
  for (std::int64_t block = 0; block < blocks; ++block) list.push_back(block);
  const reference::NsaSelectedAttention<double> attention(p,
                                                          {.query = ones(p.head_dim),
                                                           .key = ones(p.seq_kv * p.head_dim),
                                                           .value = ones(p.seq_kv * p.head_dim_v),
                                                           .attention_out_grad = {},
                                                           .softmax_max = {},
                                                           .softmax_sum = {},
                                                           .attention_out = {},
                                                           .topk_indices = list});
  reference::SelectedForward<double> row;
  const std::int64_t before = testing::allocations();
  attention.append_row(0, 0, 0, row);
  const std::int64_t taken = testing::allocations() - before;
  EXPECT_EQ(row.softmax_sum.front(), static_cast<double>(p.seq_kv));
  return taken;
}

/// A growing vector allocates only when its capacity doubles. The forward pass must not allocate
/// once per key.
TEST(Memory, SelectedForwardAllocatesNothingForEachKey) {
  EXPECT_LE(allocations_of_a_row(16), allocations_of_a_row(4) + 8);
}

/// A kernel that records how much memory is allocated while it runs.
template <class Op>
class Weighing : public spec::Implementation<Op> {
 public:
  std::string name() const override { return "weighing"; }
  void run(const typename Op::Problem&, const typename Op::Inputs&,
           typename Op::Outputs&) override {
    held = testing::bytes_held();
    throw spec::Unsupported("what was weighed");
  }
  std::int64_t held = 0;
};
template <class Op>
class WeighingElsewhere final : public Weighing<Op>, public spec::RunsElsewhere {};

/// Returns the planned case with the largest inputs, among the cases for which making the inputs
/// takes at most a second.
template <class Op>
conformance::Case<Op> case_of_large_inputs() {
  using Suite = conformance::Suite<Op>;
  auto cases = conformance::sample<Op>({});
  std::erase_if(cases, [](const auto& c) {
    return c.track != conformance::Track::bound || !c.inputs.is_contiguous() ||
           Suite::multiply_adds(c.problem) > 1e8;
  });
  return *std::ranges::max_element(cases, {},
                                   [](const auto& c) { return Suite::tensor_elements(c.problem); });
}

template <class Op>
class MemoryOf : public ::testing::Test {};
TYPED_TEST_SUITE(MemoryOf, tests::EveryOperator, tests::ByOperator);

/// A kernel in another process has its own copy. Inputs are copied only for kernels in this
/// process.
TYPED_TEST(MemoryOf, InputsAreCopiedOnlyForInProcessKernels) {
  const auto c = case_of_large_inputs<TypeParam>();
  Weighing<TypeParam> first, here;
  WeighingElsewhere<TypeParam> there;
  conformance::judge_case(c, first);  // allocates what lives as long as the program
  conformance::judge_case(c, here);
  conformance::judge_case(c, there);
  std::int64_t bytes = 0;
  const auto inputs = make_inputs(c);
  conformance::visit_tensors(inputs, [&](const char*, const spec::Tensor& tensor) {
    bytes += static_cast<std::int64_t>(tensor.bytes.size());
  });
  EXPECT_GT(bytes, 1 << 17);
  EXPECT_NEAR(static_cast<double>(here.held - there.held), static_cast<double>(bytes), 4096)
      << command_line(c);
}

/// Judges one head in bf16 with correct gradients, and limits the memory per input element (bytes).
TEST(Memory, CompressJudgeUsesOneCopyAndOneRatio) {
  using Op = spec::NsaCompressGrad;
  conformance::Case<Op> c;
  c.problem = {.heads = 1, .seq = 1 << 13, .head_dim = 128};
  const spec::Numerics exact{.stage = spec::DType::fp32};
  Op::Outputs outputs = make_outputs(c);
  {
    conformance::PreparedCase<Op> prepared(c, make_inputs(c));
    const auto expected = prepared.expected(exact);
    spec::Tensor* const tensors[] = {&outputs.input_grad, &outputs.weight_grad};
    for (std::size_t t = 0; t < 2; ++t) {
      std::size_t next = 0;
      for (const std::int64_t element : spec::viewed_elements(*tensors[t]))
        tensors[t]->store(element, expected[t].value[next++]);
    }
  }
  const std::int64_t before = testing::bytes_held();
  testing::forget_peak();
  conformance::PreparedCase<Op> prepared(c, make_inputs(c));
  const conformance::CaseReport report = prepared.judge(outputs, exact);
  EXPECT_EQ(report.verdict, conformance::Verdict::conforms);
  EXPECT_EQ(report.tensors[0].elements_judged, 1 << 20);
  EXPECT_LE(static_cast<double>(testing::peak_bytes() - before) / (1 << 20), 32);
}

/// The forward pass converts at most 2^20 elements to float at a time. Copies of the whole query,
/// key and value in float would need twice the memory of the tensors.
TEST(Memory, ForwardOfManySequencesHoldsFewOperandsAtOnce) {
  using Op = NsaSelectedAttentionGrad;
  conformance::Case<Op> c;
  c.problem = {.batch = 1024,
               .seq_q = 8,
               .seq_kv = 16,
               .selected_block_size = 16,
               .selected_block_count = 1};
  const std::int64_t before = testing::bytes_held();
  testing::forget_peak();
  const auto inputs = make_inputs(c);
  std::int64_t held = testing::bytes_held() - before;
  held += spec::element_count(inputs.attention_out.shape) * 8;  // before rounding
  constexpr std::int64_t operands = 9 << 20;  // 2^20 elements in float, in vectors that grow
  EXPECT_LE(testing::peak_bytes() - before, held + operands);
}

/// The judge reads query, key, value, dy and attention_in from their tensors. It copies only the
/// statistics.
TEST(Memory, NoInputOfAttentionIsCopied) {
  using Op = spec::FlashAttentionScoreGrad;
  conformance::Case<Op> c;
  c.problem = {.input_layout = spec::Layout::bnsd,
               .dtype = spec::DType::bf16,
               .heads_q = 1,
               .heads_kv = 1,
               .seq_q = 2048,
               .seq_kv = 2048,
               .head_dim = 128,
               .head_dim_v = 128};
  const Op::Inputs inputs = make_inputs(c);
  const std::int64_t before = testing::bytes_held();
  const conformance::attention::Dense dense(c.problem, inputs);
  EXPECT_LE(testing::bytes_held() - before, 2 * 8 * 2048 + 4096);
}

/// If the judge kept all expected values and tolerances of this case, they would need 70 bytes per
/// output element. The judge may use memory only for a few heads; copies of the inputs in float
/// would need more. All outputs are wrong, and every error must be reported.
TEST(Memory, JudgeOfManyHeadsUsesMemoryOfAFew) {
  using Op = spec::FlashAttentionScoreGrad;
  conformance::Case<Op> c;
  c.problem = {.input_layout = spec::Layout::bnsd,
               .dtype = spec::DType::bf16,
               .heads_q = 256,
               .heads_kv = 256,
               .seq_q = 256,
               .seq_kv = 32,
               .head_dim = 128,
               .head_dim_v = 128,
               .scale_value = 0.0625};
  const spec::Numerics numerics = spec::numerics_preset("ascend_a2", spec::DType::bf16);
  conformance::PreparedCase<Op> prepared(c);
  Op::Outputs outputs = make_outputs(c);
  for (spec::Tensor* tensor : {&outputs.dq, &outputs.dk, &outputs.dv})
    for (std::int64_t element = 0; element < spec::element_count(tensor->shape); ++element)
      tensor->store(element, 0.0);
  const std::int64_t before = testing::bytes_held();
  testing::forget_peak();
  const conformance::CaseReport report = prepared.judge(outputs, numerics);
  EXPECT_EQ(report.verdict, conformance::Verdict::nonconformant_proven);
  std::int64_t elements = 0;
  for (const auto& tensor : report.tensors) elements += tensor.elements_judged;
  EXPECT_EQ(elements, std::int64_t{256} * (256 + 2 * 32) * 128);
  EXPECT_LE(static_cast<double>(testing::peak_bytes() - before) / static_cast<double>(elements), 6);
}

/// With a band, the sums of keys that no later query reaches are finished and freed. So the judge
/// needs memory for the width of the band, not for the length of the head.
TEST(Memory, JudgeOfALongBandUsesMemoryForTheBand) {
  using Op = spec::FlashAttentionScoreGrad;
  const auto peak = [](std::int64_t length) {
    conformance::Case<Op> c;
    c.problem = {.input_layout = spec::Layout::bnsd,
                 .dtype = spec::DType::bf16,
                 .heads_q = 1,
                 .heads_kv = 1,
                 .seq_q = length,
                 .seq_kv = length,
                 .head_dim = 64,
                 .head_dim_v = 64,
                 .scale_value = 0.125,
                 .sparse_mode = 4,
                 .pre_tokens = 64,
                 .next_tokens = 0,
                 .atten_mask = spec::MaskShape::compressed};
    const spec::Numerics numerics = spec::numerics_preset("ascend_a2", spec::DType::bf16);
    conformance::PreparedCase<Op> prepared(c);
    const Op::Outputs outputs = make_outputs(c);
    const std::int64_t before = testing::bytes_held();
    testing::forget_peak();
    prepared.judge(outputs, numerics);
    return static_cast<double>(testing::peak_bytes() - before);
  };
  // Numbers for each row and samples of ratios remain: about 6 bytes for each of 3 * 64 elements.
  EXPECT_LE((peak(16384) - peak(8192)) / (8192 * 3 * 64), 8);
}

}  // namespace
}  // namespace assay
