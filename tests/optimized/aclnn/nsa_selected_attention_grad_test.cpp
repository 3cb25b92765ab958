#include "assay/optimized/nsa_selected_attention_grad.hpp"

#include <gtest/gtest.h>

#include "aclnnop/aclnn_nsa_selected_attention_grad.h"
#include "nsa_calls.hpp"
#include "refusals.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::NsaSelectedAttentionGrad;
using Call = spec::Call<Op>;

constexpr const char* function = "aclnnNsaSelectedAttentionGradGetWorkspaceSize";

class NsaSelected : public Session {
 protected:
  std::unique_ptr<spec::Implementation<Op>> own =
      optimized::nsa_selected_attention_grad(device::a2());
};

TEST_F(NsaSelected, GivesTheBitsOfTheImplementation) {
  expect_bits_of<Op>({plain_selection(), packed_selection(), causal_selection()}, *own,
                     aclnnNsaSelectedAttentionGrad, stream);
}

TEST_F(NsaSelected, AnswersEveryBrokenRowAsTheImplementationDoes) {
  const std::vector<Call> calls = {call_on_a2<Op>(plain_selection()),
                                   call_on_a2<Op>(packed_selection()),
                                   call_on_a2<Op>(causal_selection())};
  EXPECT_GE(expect_same_refusals(calls, *own, function), 25U);
}

TEST_F(NsaSelected, NeedsArraysOfLengths) { expect_lengths_needed<Op>(packed_selection()); }

TEST_F(NsaSelected, ATensorLargerThanTheDeviceIsRefusedInPhase1) {
  Op::Problem huge = plain_selection();
  huge.batch = 16, huge.heads_q = 128, huge.heads_kv = 4, huge.seq_q = 1 << 17;
  expect_too_large<Op>(huge,
                       "aclnnNsaSelectedAttentionGradGetWorkspaceSize: query is larger than the ");
}

TEST_F(NsaSelected, TheWorkspaceHoldsTheSumsOfTheGradients) {
  // The sizes of the buffers in the workspace (in float numbers; each buffer is rounded up to 512
  // B): dq 9 * 4 * 192, dk 64 * 2 * 192, dv 64 * 2 * 128, row terms (delta) 9 * 4.
  expect_workspace<Op>(plain_selection(), 27648U + 98304U + 65536U + 512U);
}

/// The caller passes a wrong block index. Phase 1 (argument check) cannot detect this; the task in
/// the stream detects it.
class NsaSelectedFailure : public NsaSelected {
 protected:
  NsaSelectedFailure() {
    EXPECT_EQ(aclrtMemcpy(indices, 4, &index, 4, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }

  void launch_on(aclrtStream in) {
    const Prepared prepared = phase_1(call, handles);
    ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
    const Workspace workspace(prepared.workspace_size);
    EXPECT_EQ(aclnnNsaSelectedAttentionGrad(workspace.get(), prepared.workspace_size,
                                            prepared.executor, in),
              ACLNN_SUCCESS);
  }

  Call call = call_on_a2<Op>(plain_selection());
  Filling<Op> filling = filling_of(call);
  Handles handles{filling.uploaded.addresses()};
  void* const indices = filling.uploaded.addresses().at("topk_indices");
  std::int32_t index = 4;  // there are 64 keys in blocks of 16, so only 0 to 3 exist
};

TEST_F(NsaSelectedFailure, IsReportedOnceByTheNextSynchronization) {
  launch_on(stream);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_FAILURE);
  const std::string message = recent_message();
  EXPECT_TRUE(message.starts_with("aclrtSynchronizeStream: a task failed: ")) << message;
  EXPECT_NE(message.find('4'), std::string::npos) << message;
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

TEST_F(NsaSelectedFailure, IsReportedOnceByASynchronizationWithALimit) {
  launch_on(stream);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 100000), ACL_ERROR_RT_FAILURE);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 100000), ACL_SUCCESS);
}

TEST_F(NsaSelectedFailure, IsThatOfTheFirstTaskThatFailed) {
  launch_on(stream);
  index = 77777;
  EXPECT_EQ(aclrtMemcpyAsync(indices, 4, &index, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream),
            ACL_SUCCESS);
  launch_on(stream);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_FAILURE);
  const std::string first = recent_message();
  EXPECT_EQ(first.find("77777"), std::string::npos) << first;
  launch_on(stream);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_FAILURE);
  const std::string second = recent_message();
  EXPECT_NE(second.find("77777"), std::string::npos) << second;
}

TEST_F(NsaSelectedFailure, DeviceWaitsForAllStreamsDespiteAFailure) {
  std::vector<aclrtStream> streams(4);
  for (aclrtStream& each : streams) {
    ASSERT_EQ(aclrtCreateStream(&each), ACL_SUCCESS);
    launch_on(each);
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_FAILURE);
  for (const aclrtStream each : streams)
    EXPECT_EQ(aclrtSynchronizeStream(each), ACL_SUCCESS) << "its failure was already reported";
}

}  // namespace
