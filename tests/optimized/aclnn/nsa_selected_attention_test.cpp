#include "assay/optimized/nsa_selected_attention.hpp"

#include <gtest/gtest.h>

#include "aclnnop/aclnn_nsa_selected_attention.h"
#include "entries.hpp"
#include "refusals.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::NsaSelectedAttention;
using Call = spec::Call<Op>;
using spec::Striding;

class NsaSelectedForward : public Session {
 protected:
  std::unique_ptr<spec::Implementation<Op>> own = optimized::nsa_selected_attention(device::a2());
};

Op::Problem plain() {
  return {.dtype = spec::DType::bf16,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = 9,
          .seq_kv = 64,
          .head_dim = 192,
          .head_dim_v = 128};
}

Op::Problem causal() {
  Op::Problem p = plain();
  p.dtype = spec::DType::fp16;
  p.batch = 3, p.seq_q = 7, p.seq_kv = 96;
  p.lengths_q = {3, 7, 1}, p.lengths_kv = {32, 96, 64};
  p.sparse_mode = 2, p.atten_mask = spec::SelectedMask::compressed;
  return p;
}

Call call_of(const Op::Problem& problem, Striding striding = Striding::contiguous) {
  return spec::call_of(problem, spec::SelectedForwardEntryPoint::f1, spec::Product::a2, striding,
                       striding);
}

TEST_F(NsaSelectedForward, GivesTheBitsOfTheImplementation) {
  for (const Op::Problem& problem : {plain(), causal()})
    for (const Striding striding : {Striding::contiguous, Striding::padded, Striding::transposed})
      expect_same_bits(call_of(problem, striding), problem, *own, aclnnNsaSelectedAttention,
                       stream);
}

TEST_F(NsaSelectedForward, AnswersEveryBrokenRowAsTheImplementationDoes) {
  const std::vector<Call> calls = {call_of(plain()), call_of(causal())};
  EXPECT_GE(expect_same_refusals(calls, *own, "aclnnNsaSelectedAttentionGetWorkspaceSize"), 20U);
}

TEST_F(NsaSelectedForward, AnEmptyArrayOfLengthsIsInvalid) {
  for (const auto member : {&Op::Parameters::actual_seq_qlen, &Op::Parameters::actual_seq_kvlen}) {
    Call call = call_of(causal());
    (call.parameters.*member).emplace();
    Handles handles;
    EXPECT_EQ(phase_1(call, handles).status, ACLNN_ERR_PARAM_INVALID) << recent_message();
    (call.parameters.*member).reset();
    EXPECT_EQ(phase_1(call, handles).status, ACLNN_ERR_PARAM_NULLPTR) << recent_message();
  }
}

TEST_F(NsaSelectedForward, NeedsNoWorkspace) {
  Handles handles;
  const Prepared prepared = phase_1(call_of(plain()), handles);
  ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
  EXPECT_EQ(prepared.workspace_size, 0U);
}

TEST_F(NsaSelectedForward, RefusesATensorLargerThanTheDevice) {
  Op::Problem huge = plain();
  huge.batch = 16, huge.heads_q = 128, huge.heads_kv = 8, huge.seq_q = 1 << 17;
  Handles handles;
  EXPECT_EQ(phase_1(call_of(huge), handles).status, ACLNN_ERR_PARAM_INVALID);
  const std::string message = recent_message();
  EXPECT_NE(message.find("query is larger than the "), std::string::npos) << message;
}

}  // namespace
