#include "assay/optimized/nsa_compress_grad.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "aclnnop/aclnn_nsa_compress.h"
#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "nsa_entries.hpp"
#include "refusals.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::NsaCompressGrad;
using Call = spec::Call<Op>;
using spec::Striding;

constexpr const char* function = "aclnnNsaCompressGradGetWorkspaceSize";

class NsaCompress : public Session {
 protected:
  std::unique_ptr<spec::Implementation<Op>> own = optimized::nsa_compress_grad(device::a2());
};

Op::Problem plain() { return {.heads = 2, .seq = 80, .head_dim = 32}; }

/// Sequences that are empty or too short for a window, and tokens after the last sequence.
Op::Problem packed() {
  return {.dtype = spec::DType::fp16,
          .batch = 5,
          .heads = 3,
          .seq = 90,
          .lengths = {0, 90, 31, 64, 47},
          .head_dim = 16,
          .compress_block_size = 32,
          .compress_stride = 16};
}

Call call_of(const Op::Problem& problem, Striding striding = Striding::contiguous) {
  return spec::call_of(problem, spec::CompressEntryPoint::c1, spec::Product::a2, striding,
                       striding);
}

TEST_F(NsaCompress, GivesTheBitsOfTheImplementation) {
  for (const Op::Problem& problem : {plain(), packed()})
    for (const Striding striding : {Striding::contiguous, Striding::padded, Striding::transposed})
      expect_same_bits(call_of(problem, striding), problem, *own, aclnnNsaCompressGrad, stream);
}

TEST_F(NsaCompress, AnswersEveryBrokenRowAsTheImplementationDoes) {
  const std::vector<Call> calls = {call_of(plain()), call_of(packed())};
  EXPECT_GE(expect_same_refusals(calls, *own, function), 14U);
}

/// No requirement limits the sizes. The number of elements in this call fits in 64 bits, the number
/// of bytes does not.
TEST_F(NsaCompress, RefusesTensorsThatAreLargerThanTheDevice) {
  const Call call = call_of({.heads = 1 << 12, .seq = std::int64_t{1} << 38, .head_dim = 1 << 12});
  Handles handles;
  EXPECT_EQ(phase_1(call, handles).status, ACLNN_ERR_PARAM_INVALID);
  const std::string message = recent_message();
  EXPECT_TRUE(message.starts_with(std::string(function) + ": outputGrad is larger than the "))
      << message;
}

/// Each of the 48 cores accumulates its own 32 weights.
TEST_F(NsaCompress, TheWorkspaceHoldsTheSumsOfEveryPart) {
  Handles handles;
  const Prepared prepared = phase_1(call_of({.heads = 1, .seq = 32768, .head_dim = 128}), handles);
  ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
  EXPECT_EQ(prepared.workspace_size, 48U * 32 * 4);
}

TEST_F(NsaCompress, WhatDoesNotFitTheDeviceIsRefusedInPhase1) {
  Handles handles;
  const Call call = call_of({.heads = 1,
                             .seq = 9000,
                             .head_dim = 16,
                             .compress_block_size = 4096,
                             .compress_stride = 16});
  EXPECT_EQ(phase_1(call, handles).status, ACLNN_ERR_INNER_TILING_ERROR);
  const std::string message = recent_message();
  EXPECT_NE(message.find("UB overflow: "), std::string::npos) << message;
}

TEST_F(NsaCompress, WithoutSumsHasOneSequence) {
  for (const bool empty : {false, true}) {
    Call call = call_of(plain());
    call.parameters.act_seq_len.reset();
    if (empty) call.parameters.act_seq_len.emplace();
    call.attributes.layout.reset();
    expect_same_bits(call, plain(), *own, aclnnNsaCompressGrad, stream);
  }
}

/// With actSeqLenType 1 the array holds lengths instead of cumulative sums.
TEST_F(NsaCompress, LengthsAreAcceptedInsteadOfSums) {
  Call call = call_of(plain());
  std::int64_t before = 0;
  for (std::int64_t& entry : *call.parameters.act_seq_len) {
    const std::int64_t end = entry;
    entry -= before;
    before = end;
  }
  call.attributes.act_seq_len_type = 1;
  expect_same_bits(call, plain(), *own, aclnnNsaCompressGrad, stream);
}

/// The result of the forward in fp32, as documented.
std::vector<float> expected_windows(const Op::Problem& p, const Op::Inputs& inputs) {
  const auto input = spec::viewed_elements(inputs.input);
  const auto weight = spec::viewed_elements(inputs.weight);
  std::vector<float> windows;
  std::int64_t start = 0;
  for (const std::int64_t length : p.lengths) {
    for (std::int64_t at = 0; at + p.compress_block_size <= length; at += p.compress_stride)
      for (std::int64_t n = 0; n < p.heads; ++n)
        for (std::int64_t c = 0; c < p.head_dim; ++c) {
          float sum = 0;
          for (std::int64_t t = 0; t < p.compress_block_size; ++t) {
            const std::int64_t row = (start + at + t) * p.heads + n;
            const auto x = static_cast<std::size_t>(row * p.head_dim + c);
            const auto w = static_cast<std::size_t>(t * p.heads + n);
            sum += static_cast<float>(inputs.weight.load(weight[w]) * inputs.input.load(input[x]));
          }
          windows.push_back(sum);
        }
    start += length;
  }
  return windows;
}

TEST_F(NsaCompress, ForwardSumsTheTokensOfEveryWindow) {
  for (const std::int64_t stride : {16, 32}) {
    Op::Problem problem = packed();
    problem.compress_stride = stride;
    for (const Striding striding : {Striding::contiguous, Striding::transposed}) {
      const Call call = call_of(problem, striding);
      Filling<Op> filling = filling_of(call);
      Handles handles(filling.uploaded.addresses());
      const Prepared prepared = forward_phase_1(call, handles);
      ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
      run(aclnnNsaCompress, prepared, stream);
      spec::Tensor& output = filling.inputs.output_grad;
      output.bytes = filling.uploaded.download("output_grad");
      const std::vector<float> expected = expected_windows(problem, filling.inputs);
      const auto elements = spec::viewed_elements(output);
      ASSERT_EQ(elements.size(), expected.size());
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const double ulp = std::max(std::abs(expected[k]) * 0x1p-10, 0x1p-24);
        // At most half an ulp away: the result is rounded once.
        ASSERT_LE(std::abs(output.load(elements[k]) - static_cast<double>(expected[k])), ulp / 2);
      }
    }
  }
}

TEST_F(NsaCompress, ForwardNamesWhatIsWrong) {
  struct Wrong {
    void (*change)(Call& call);
    aclnnStatus status;
    std::string message;
  };
  const Wrong table[] = {
      {[](Call& c) { c.parameters.weight.present = false; }, ACLNN_ERR_PARAM_NULLPTR,
       "weight is null; it is required"},
      {[](Call& c) { c.parameters.act_seq_len.reset(); }, ACLNN_ERR_PARAM_NULLPTR,
       "actSeqLenOptional is null; it is required"},
      {[](Call& c) { c.parameters.executor = false; }, ACLNN_ERR_PARAM_NULLPTR,
       "executor is null; it is required"},
      {[](Call& c) { c.parameters.input.dtype = spec::DType::fp32; }, ACLNN_ERR_PARAM_INVALID,
       "type of input is fp32; it must be fp16 or bf16"},
      {[](Call& c) { c.parameters.weight.dtype = spec::DType::bf16; }, ACLNN_ERR_PARAM_INVALID,
       "type of weight is bf16"},
      {[](Call& c) { c.parameters.weight.format = spec::Format::fractal_nz; },
       ACLNN_ERR_PARAM_INVALID, "format of weight is FRACTAL_NZ"},
      {[](Call& c) { c.attributes.layout = "BSH"; }, ACLNN_ERR_PARAM_INVALID,
       "layout is \"BSH\"; it must be \"TND\""},
      {[](Call& c) { c.parameters.input.shape.pop_back(), c.parameters.input.strides.pop_back(); },
       ACLNN_ERR_PARAM_INVALID, "rank of input is 2; it must be 3"},
      {[](Call& c) { c.attributes.compress_stride = 48; }, ACLNN_ERR_PARAM_INVALID,
       "compressStride is 48; it must be at most compressBlockSize, which is 32"},
      {[](Call& c) { c.attributes.compress_block_size = 40; }, ACLNN_ERR_PARAM_INVALID,
       "compressBlockSize is 40; it must be a multiple of 16"},
      {[](Call& c) { c.attributes.compress_block_size = 144; }, ACLNN_ERR_PARAM_INVALID,
       "compressBlockSize is 144; it must be 16 to 128"},
      {[](Call& c) { c.attributes.act_seq_len_type = 1; }, ACLNN_ERR_PARAM_INVALID,
       "actSeqLenType is 1; it must be 0"},
      {[](Call& c) { c.parameters.act_seq_len->clear(); }, ACLNN_ERR_PARAM_INVALID,
       "actSeqLenOptional has 0 entries; it needs at least 1"},
      {[](Call& c) { c.parameters.act_seq_len->back() = 200; }, ACLNN_ERR_PARAM_INVALID,
       "last entry of actSeqLenOptional is 200; it must be the number of tokens, which is 232"},
      {[](Call& c) { c.parameters.act_seq_len->front() = 95; }, ACLNN_ERR_PARAM_INVALID,
       "an entry of actSeqLenOptional is 90; it must be at least the previous sum, which is 95"},
      {[](Call& c) { c.parameters.workspace_size = false; }, ACLNN_ERR_PARAM_NULLPTR,
       "workspaceSize is null; it is required"},
      {[](Call& c) { c.parameters.output_grad.dtype = spec::DType::bf16; }, ACLNN_ERR_PARAM_INVALID,
       "type of output is bf16"},
      {[](Call& c) { c.parameters.output_grad.format = spec::Format::fractal_nz; },
       ACLNN_ERR_PARAM_INVALID, "format of output is FRACTAL_NZ"},
      {[](Call& c) { c.parameters.input.shape[1] = 129; }, ACLNN_ERR_PARAM_INVALID,
       "number of heads is 129; it must be 1 to 128"},
      {[](Call& c) { c.parameters.input.shape[1] = 0; }, ACLNN_ERR_PARAM_INVALID,
       "number of heads is 0; it must be 1 to 128"},
      {[](Call& c) { c.parameters.input.shape[2] = 257; }, ACLNN_ERR_PARAM_INVALID,
       "head size is 257; it must be 16 to 256"},
      {[](Call& c) { c.parameters.input.shape[2] = 24; }, ACLNN_ERR_PARAM_INVALID,
       "head size is 24; it must be a multiple of 16"},
      {[](Call& c) { c.attributes.compress_stride = 0; }, ACLNN_ERR_PARAM_INVALID,
       "compressStride is 0; it must be 16 to 128"},
      {[](Call& c) { c.parameters.weight.shape[0] = 16; }, ACLNN_ERR_PARAM_INVALID,
       "shape of weight is [16, 3]; it must be [32, 3]"},
      {[](Call& c) { c.parameters.output_grad.shape[0] += 1; }, ACLNN_ERR_PARAM_INVALID,
       "shape of output is [9, 3, 16]; it must be [8, 3, 16]"},
  };
  for (const Wrong& wrong : table) {
    Call call = call_of(packed());
    wrong.change(call);
    Handles handles;
    EXPECT_EQ(forward_phase_1(call, handles).status, wrong.status);
    const std::string message = recent_message();
    EXPECT_TRUE(
        message.starts_with("aclnnNsaCompressGetWorkspaceSize: NsaCompress: " + wrong.message))
        << message;
  }
}

TEST_F(NsaCompress, ForwardRefusesATensorLargerThanTheDevice) {
  const Call call = call_of(
      {.dtype = spec::DType::fp16, .heads = 128, .seq = std::int64_t{1} << 30, .head_dim = 256});
  Handles handles;
  EXPECT_EQ(forward_phase_1(call, handles).status, ACLNN_ERR_PARAM_INVALID);
  const std::string message = recent_message();
  EXPECT_TRUE(message.starts_with("aclnnNsaCompressGetWorkspaceSize: input is larger than the "))
      << message;
}

}  // namespace
