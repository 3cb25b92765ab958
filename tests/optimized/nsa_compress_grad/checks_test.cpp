#include "nsa_compress_grad/checks.hpp"

#include <gtest/gtest.h>

#include "../implementation_checks.hpp"

namespace {

using namespace assay;
using Op = spec::NsaCompressGrad;
using Call = spec::Call<Op>;
using spec::DType;
using spec::Shape;
using spec::Striding;

Op::Problem plain_problem() {
  return {.dtype = DType::bf16,
          .batch = 3,
          .heads = 4,
          .seq = 144,
          .lengths = {0, 128, 144},
          .head_dim = 48};
}

Call call_of(const Op::Problem& problem, Striding inputs = Striding::contiguous,
             Striding outputs = Striding::contiguous) {
  return spec::call_of(problem, spec::CompressEntryPoint::c1, spec::Product::a2, inputs, outputs);
}

std::string refusal(const Call& call) {
  return test::refusal_of(optimized::compress::refuse_unless_legal, call);
}

TEST(CompressChecks, TakeEveryLegalProblemHoweverStrided) {
  for (const Striding striding : {Striding::contiguous, Striding::padded, Striding::transposed})
    for (const DType dtype : {DType::fp16, DType::bf16})
      for (const auto& [size, stride] :
           {std::pair{32, 16}, {128, 16}, {128, 112}, {2048, 1024}, {64, 64}}) {
        Op::Problem problem = plain_problem();
        problem.dtype = dtype, problem.compress_block_size = size, problem.compress_stride = stride;
        problem.lengths = {0, 31, 3000, 32, 32, 5000}, problem.batch = 6, problem.seq = 5000;
        EXPECT_EQ(refusal(call_of(problem, striding, striding)), "");
      }
}

TEST(CompressChecks, TakeTheCallOfTheDocumentedExample) {
  Op::Problem problem = plain_problem();
  problem.dtype = DType::fp16, problem.heads = 64, problem.head_dim = 128;
  Call call = call_of(problem);
  EXPECT_EQ(call.parameters.output_grad.shape, (Shape{15, 64, 128}));
  EXPECT_EQ(*call.parameters.act_seq_len, (std::vector<std::int64_t>{0, 128, 272}));
  EXPECT_EQ(refusal(call), "");
  call.product = spec::Product::a3;
  EXPECT_EQ(refusal(call), "");
}

/// The problem has 2^40 tokens. Products of its sizes must not overflow.
TEST(CompressChecks, CountWindowsOfHugeTensors) {
  Op::Problem problem = plain_problem();
  problem.batch = 1, problem.lengths = {}, problem.seq = std::int64_t{1} << 40;
  Call call = call_of(problem);
  EXPECT_EQ(refusal(call), "");
  --call.parameters.output_grad.shape[0];
  EXPECT_TRUE(refusal(call).starts_with("NSAC-C16: "));
}

}  // namespace
