#include "assay/optimized/nsa_compress_grad.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "entries.hpp"
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

/// Each of the 48 cores has its own sums for 32 weights.
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

/// With actSeqLenType 1 the array contains lengths instead of cumulative sums.
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

}  // namespace
