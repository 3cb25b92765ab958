#include "assay/optimized/nsa_compress_grad.hpp"

#include <gtest/gtest.h>

#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "nsa_calls.hpp"
#include "refusals.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::NsaCompressGrad;
using Call = spec::Call<Op>;

constexpr const char* function = "aclnnNsaCompressGradGetWorkspaceSize";

class NsaCompress : public Session {
 protected:
  std::unique_ptr<spec::Implementation<Op>> own = optimized::nsa_compress_grad(device::a2());
};

Op::Problem plain() { return {.heads = 2, .seq = 80, .head_dim = 32}; }

TEST_F(NsaCompress, GivesTheBitsOfTheImplementation) {
  expect_bits_of<Op>({plain(), packed_compression()}, *own, aclnnNsaCompressGrad, stream);
}

TEST_F(NsaCompress, AnswersEveryBrokenRowAsTheImplementationDoes) {
  const std::vector<Call> calls = {call_on_a2<Op>(plain()), call_on_a2<Op>(packed_compression())};
  EXPECT_GE(expect_same_refusals(calls, *own, function), 14U);
}

/// No requirement limits the sizes. In this call the number of elements fits in 64 bits, but the
/// number of bytes does not.
TEST_F(NsaCompress, RefusesTensorsThatAreLargerThanTheDevice) {
  expect_too_large<Op>({.heads = 1 << 12, .seq = std::int64_t{1} << 38, .head_dim = 1 << 12},
                       std::string(function) + ": outputGrad is larger than the ");
}

/// Each of the 48 vector cores needs its own 32 sums, one float for each weight.
TEST_F(NsaCompress, TheWorkspaceHoldsTheSumsOfEveryPart) {
  expect_workspace<Op>({.heads = 1, .seq = 32768, .head_dim = 128}, 48U * 32 * 4);
}

TEST_F(NsaCompress, TilingThatDoesNotFitTheDeviceIsRefusedInPhase1) {
  Handles handles;
  const Call call = call_on_a2<Op>({.heads = 1,
                                    .seq = 9000,
                                    .head_dim = 16,
                                    .compress_block_size = 4096,
                                    .compress_stride = 16});
  EXPECT_EQ(phase_1(call, handles).status, ACLNN_ERR_INNER_TILING_ERROR);
  const std::string message = recent_message();
  EXPECT_NE(message.find("UB overflow: "), std::string::npos) << message;
}

TEST_F(NsaCompress, MissingSumsMeanOneSequence) {
  for (const bool empty : {false, true}) {
    Call call = call_on_a2<Op>(plain());
    call.parameters.act_seq_len.reset();
    if (empty) call.parameters.act_seq_len.emplace();
    call.attributes.layout.reset();
    expect_same_bits(call, plain(), *own, aclnnNsaCompressGrad, stream);
  }
}

/// With actSeqLenType 1 the array contains the lengths of the sequences instead of their cumulative
/// sums.
TEST_F(NsaCompress, LengthsAreAcceptedInsteadOfSums) {
  Call call = call_on_a2<Op>(plain());
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
