#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "entries.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::FlashAttentionScoreGrad;
using spec::FlashEntryPoint;

spec::Call<Op> legal_call() {
  return spec::call_of({.heads_q = 2}, FlashEntryPoint::g1, spec::Product::a2,
                       spec::Striding::contiguous, spec::Striding::contiguous);
}

/// Prepares a call that phase 1 (argument check) has accepted.
class Misuse : public Session {
 protected:
  Misuse() {
    EXPECT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
    EXPECT_GT(prepared.workspace_size, 0U);
  }

  aclnnStatus phase_2() {
    return aclnnFlashAttentionScoreGrad(workspace.get(), prepared.workspace_size, prepared.executor,
                                        stream);
  }
  void expect_success() {
    EXPECT_EQ(phase_2(), ACLNN_SUCCESS) << recent_message();
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS) << recent_message();
  }
  /// Expects that the latest error message contains `part`.
  void expect_message(const std::string& part) {
    const std::string message = recent_message();
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  spec::Call<Op> call = legal_call();
  Filling<Op> filling = filling_of(call);
  Handles handles{filling.uploaded.addresses()};
  Prepared prepared = phase_1(call, handles);
  Workspace workspace{prepared.workspace_size};
};

TEST_F(Misuse, AnExecutorServesOnePhase2) {
  expect_success();
  EXPECT_EQ(phase_2(), ACLNN_ERR_PARAM_INVALID);
  expect_message("executor was destroyed, already used, or never created");
  EXPECT_EQ(aclDestroyAclOpExecutor(prepared.executor), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(Misuse, ARepeatableExecutorServesUntilItIsDestroyed) {
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(prepared.executor), ACLNN_SUCCESS);
  expect_success();
  expect_success();
  EXPECT_EQ(aclDestroyAclOpExecutor(prepared.executor), ACLNN_SUCCESS);
  EXPECT_EQ(phase_2(), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyAclOpExecutor(prepared.executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(prepared.executor), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(Misuse, ARefusedPhase2LeavesTheExecutorAsItWas) {
  EXPECT_EQ(aclnnFlashAttentionScoreGradV2(workspace.get(), prepared.workspace_size,
                                           prepared.executor, stream),
            ACLNN_ERR_PARAM_INVALID);
  expect_message(
      "aclnnFlashAttentionScoreGradV2: executor belongs to aclnnFlashAttentionScoreGrad");
  EXPECT_EQ(aclnnFlashAttentionScoreGrad(workspace.get(), prepared.workspace_size - 1,
                                         prepared.executor, stream),
            ACLNN_ERR_PARAM_INVALID);
  expect_message("workspaceSize is " + std::to_string(prepared.workspace_size - 1) +
                 "; it must be at least " + std::to_string(prepared.workspace_size));
  EXPECT_EQ(
      aclnnFlashAttentionScoreGrad(nullptr, prepared.workspace_size, prepared.executor, stream),
      ACLNN_ERR_PARAM_NULLPTR);
  expect_message("workspace is null");
  std::vector<std::byte> host(prepared.workspace_size);
  EXPECT_EQ(
      aclnnFlashAttentionScoreGrad(host.data(), prepared.workspace_size, prepared.executor, stream),
      ACLNN_ERR_RUNTIME_ERROR);
  expect_message("workspace is not allocated device memory");
  EXPECT_EQ(aclnnFlashAttentionScoreGrad(static_cast<std::byte*>(workspace.get()) + 8,
                                         prepared.workspace_size, prepared.executor, stream),
            ACLNN_ERR_RUNTIME_ERROR);
  expect_message("workspace needs " + std::to_string(prepared.workspace_size) + " B");
  constexpr std::uint64_t invented = std::uint64_t{1} << 40;
  EXPECT_EQ(aclnnFlashAttentionScoreGrad(workspace.get(), invented, prepared.executor, stream),
            ACLNN_ERR_RUNTIME_ERROR);
  expect_message("workspace needs " + std::to_string(invented) + " B");
  EXPECT_EQ(aclnnFlashAttentionScoreGrad(workspace.get(), prepared.workspace_size,
                                         prepared.executor, &host),
            ACLNN_ERR_RUNTIME_ERROR);
  expect_message("stream was destroyed or never created");
  expect_success();
}

TEST_F(Misuse, AWorkspaceMayBeLarger) {
  const Workspace larger(2 * prepared.workspace_size);
  EXPECT_EQ(aclnnFlashAttentionScoreGrad(larger.get(), 2 * prepared.workspace_size,
                                         prepared.executor, stream),
            ACLNN_SUCCESS)
      << recent_message();
}

TEST_F(Misuse, NoExecutorIsAnError) {
  EXPECT_EQ(aclnnFlashAttentionScoreGrad(nullptr, 0, nullptr, stream), ACLNN_ERR_PARAM_NULLPTR);
  expect_message("executor is null");
  int other = 0;
  EXPECT_EQ(
      aclnnFlashAttentionScoreGrad(nullptr, 0, reinterpret_cast<aclOpExecutor*>(&other), stream),
      ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyAclOpExecutor(nullptr), ACLNN_ERR_PARAM_NULLPTR);
}

TEST_F(Misuse, ATensorMustLiveUntilPhase2) {
  Handles own(filling.uploaded.addresses());
  Prepared second;
  {
    Handles short_lived(filling.uploaded.addresses());
    second = phase_1(call, short_lived);
    ASSERT_EQ(second.status, ACLNN_SUCCESS);
  }
  EXPECT_EQ(
      aclnnFlashAttentionScoreGrad(workspace.get(), second.workspace_size, second.executor, stream),
      ACLNN_ERR_PARAM_INVALID);
  expect_message("query was destroyed between phase 1 and phase 2");
  EXPECT_EQ(aclDestroyAclOpExecutor(second.executor), ACLNN_SUCCESS);
}

TEST_F(Misuse, AnArrayMustLiveUntilPhase2) {
  const spec::Call<Op> packed =
      spec::call_of({.input_layout = spec::Layout::tnd,
                     .batch = 2,
                     .seq_q = 9,
                     .seq_kv = 7,
                     .lengths_q = {5, 9},
                     .lengths_kv = {7, 4}},
                    FlashEntryPoint::u1, spec::Product::a2, spec::Striding::contiguous,
                    spec::Striding::contiguous);
  const Filling<Op> uploaded = filling_of(packed);
  Handles own(uploaded.uploaded.addresses());
  const Prepared second = phase_1(packed, own);
  ASSERT_EQ(second.status, ACLNN_SUCCESS) << recent_message();
  own.destroy_arrays();
  const Workspace room(second.workspace_size);
  EXPECT_EQ(aclnnFlashAttentionUnpaddingScoreGrad(room.get(), second.workspace_size,
                                                  second.executor, stream),
            ACLNN_ERR_PARAM_INVALID);
  expect_message("actualSeqQLenOptional was destroyed between phase 1 and phase 2");
}

/// A refused call must not change the executor, so that the same call is refused again in the same
/// way.
TEST_F(Misuse, ATensorWithoutMemoryIsFoundInPhase2) {
  Addresses addresses = filling.uploaded.addresses();
  addresses["value"] = nullptr;
  Handles nowhere(addresses);
  const Prepared second = phase_1(call, nowhere);
  ASSERT_EQ(second.status, ACLNN_SUCCESS);
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(aclnnFlashAttentionScoreGrad(workspace.get(), second.workspace_size, second.executor,
                                           stream),
              ACLNN_ERR_PARAM_NULLPTR);
    expect_message("value has elements, but no memory");
  }
}

TEST_F(Misuse, ATensorOutsideDeviceMemoryIsFoundInPhase2) {
  spec::Parameter& dv = call.parameters.dv;
  dv.offset = 100000;
  const Prepared far = phase_1(call, handles);
  ASSERT_EQ(far.status, ACLNN_SUCCESS) << recent_message();
  EXPECT_EQ(aclnnFlashAttentionScoreGrad(workspace.get(), far.workspace_size, far.executor, stream),
            ACLNN_ERR_RUNTIME_ERROR);
  expect_message("dvOut needs ");
  dv.offset = std::int64_t{1} << 62;
  const Prepared farther = phase_1(call, handles);
  ASSERT_EQ(farther.status, ACLNN_SUCCESS) << recent_message();
  EXPECT_EQ(aclnnFlashAttentionScoreGrad(workspace.get(), farther.workspace_size, farther.executor,
                                         stream),
            ACLNN_ERR_PARAM_INVALID);
  expect_message("dvOut is larger than");
  // The last element is at offset + 15 * (two strides of 2^59) = 2^64, which wraps to 0 in 64 bits.
  dv.offset = std::int64_t{1} << 60, dv.strides[2] = dv.strides[3] = std::int64_t{1} << 59;
  const Prepared beyond = phase_1(call, handles);
  ASSERT_EQ(beyond.status, ACLNN_SUCCESS) << recent_message();
  EXPECT_EQ(
      aclnnFlashAttentionScoreGrad(workspace.get(), beyond.workspace_size, beyond.executor, stream),
      ACLNN_ERR_PARAM_INVALID)
      << "the size must not wrap at 64 bits";
}

/// The storage has exactly two elements more than the view needs.
TEST_F(Misuse, ATensorMayReachTheLastByteOfItsMemory) {
  for (const auto& [offset, status] : {std::pair{2, ACLNN_SUCCESS}, {3, ACLNN_ERR_RUNTIME_ERROR}}) {
    call.parameters.dv.offset = offset;
    const Prepared shifted = phase_1(call, handles);
    ASSERT_EQ(shifted.status, ACLNN_SUCCESS) << recent_message();
    EXPECT_EQ(aclnnFlashAttentionScoreGrad(workspace.get(), shifted.workspace_size,
                                           shifted.executor, stream),
              status)
        << offset;
  }
}

TEST_F(Misuse, MemoryThatIsFreedBeforePhase2IsFound) {
  void* early = nullptr;
  ASSERT_EQ(aclrtMalloc(&early, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  Addresses addresses = filling.uploaded.addresses();
  addresses["dy"] = early;
  Handles own(addresses);
  const Prepared second = phase_1(call, own);
  ASSERT_EQ(aclrtFree(early), ACL_SUCCESS);
  EXPECT_EQ(
      aclnnFlashAttentionScoreGrad(workspace.get(), second.workspace_size, second.executor, stream),
      ACLNN_ERR_RUNTIME_ERROR);
  expect_message("dy ");
}

/// A task keeps a reference to the memory that it needs, so the caller may free this memory
/// earlier.
TEST_F(Misuse, MemoryMayBeFreedWhileATaskNeedsIt) {
  std::vector<std::byte> bytes(4096);
  void* early = nullptr;
  ASSERT_EQ(aclrtMalloc(&early, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  Addresses addresses = filling.uploaded.addresses();
  addresses["dq"] = early;
  Handles own(addresses);
  const Prepared second = phase_1(call, own);
  EXPECT_EQ(
      aclnnFlashAttentionScoreGrad(workspace.get(), second.workspace_size, second.executor, stream),
      ACLNN_SUCCESS);
  EXPECT_EQ(aclrtFree(early), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

TEST_F(Misuse, HandleOfAnotherKindOrNullIsNotATensor) {
  const std::int64_t values[] = {1, 2};
  const aclIntArray* const array = aclCreateIntArray(values, 2);
  const auto* const as_tensor = reinterpret_cast<const aclTensor*>(array);
  aclDataType dtype = ACL_DT_UNDEFINED;
  EXPECT_EQ(aclGetDataType(as_tensor, &dtype), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensor(as_tensor), ACLNN_ERR_PARAM_INVALID);
  std::uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  char layout[] = "BNSD";
  EXPECT_EQ(aclnnFlashAttentionScoreGradGetWorkspaceSize(
                as_tensor, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                nullptr, nullptr, nullptr, nullptr, 1, 1, 0, 0, 1, layout, 0, 0, nullptr, nullptr,
                nullptr, nullptr, &size, &executor),
            ACLNN_ERR_PARAM_INVALID);
  expect_message("query is not a valid aclTensor: it was destroyed or never created");
  EXPECT_EQ(aclDestroyIntArray(array), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyIntArray(array), ACLNN_ERR_PARAM_INVALID);
  std::uint64_t count = 0;
  EXPECT_EQ(aclGetIntArraySize(array, &count), ACLNN_ERR_PARAM_INVALID);
}

/// Returns a call with every tensor and every array. The call need not be legal.
spec::Call<Op> whole_call(FlashEntryPoint entry_point) {
  spec::Call<Op> call = legal_call();
  call.entry_point = entry_point;
  call.attributes.keep_prob = 0.5;
  Op::Parameters& p = call.parameters;
  for (spec::Parameter* parameter :
       {&p.query_rope, &p.key_rope, &p.pse_shift, &p.drop_mask, &p.padding_mask, &p.atten_mask,
        &p.softmax_in, &p.dq_rope, &p.dk_rope, &p.dpse})
    *parameter = p.query;
  for (auto* array :
       {&p.prefix, &p.actual_seq_qlen, &p.actual_seq_kvlen, &p.q_start_idx, &p.kv_start_idx})
    *array = {1};
  return call;
}

// The error messages must use the parameter names of the documentation.
TEST_F(Misuse, EveryDestroyedHandleIsReported) {
  static constexpr std::pair<std::string_view, const char*> names[] = {
      {"query", "query"},
      {"query_rope", "queryRope"},
      {"key", "keyIn"},
      {"key_rope", "keyInRope"},
      {"value", "value"},
      {"dy", "dy"},
      {"pse_shift", "pseShiftOptional"},
      {"drop_mask", "dropMaskOptional"},
      {"padding_mask", "paddingMaskOptional"},
      {"atten_mask", "attenMaskOptional"},
      {"softmax_max", "softmaxMaxOptional"},
      {"softmax_sum", "softmaxSumOptional"},
      {"softmax_in", "softmaxInOptional"},
      {"attention_in", "attentionInOptional"},
      {"dq", "dqOut"},
      {"dq_rope", "dqRopeOut"},
      {"dk", "dkOut"},
      {"dk_rope", "dkRopeOut"},
      {"dv", "dvOut"},
      {"dpse", "dpseOut"},
      {"prefix", "prefixOptional"},
      {"actual_seq_qlen", "actualSeqQLenOptional"},
      {"actual_seq_kvlen", "actualSeqKvLenOptional"},
      {"q_start_idx", "qStartIdxOptional"},
      {"kv_start_idx", "kvStartIdxOptional"}};
  for (const auto& [name, documented] : names) {
    std::set<std::string> said;
    for (const auto entry_point : {FlashEntryPoint::g2, FlashEntryPoint::u1, FlashEntryPoint::u3}) {
      Handles own(filling.uploaded.addresses());
      own.kill(name);
      phase_1(whole_call(entry_point), own);
      const std::string message = recent_message();
      const std::size_t end = message.find(" is not a valid acl");
      if (end == std::string::npos) continue;  // the entry point does not have this parameter
      const std::size_t before = message.rfind(' ', end - 1);
      said.insert(message.substr(before + 1, end - before - 1));
    }
    EXPECT_EQ(said, std::set<std::string>{documented});
  }
}

/// A new handle never gets the address of a destroyed one, so that a destroyed handle is always
/// recognized.
TEST_F(Misuse, HandlesAreNeverReused) {
  const std::int64_t dims[] = {4};
  const auto make = [&] {
    return aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, nullptr);
  };
  const aclTensor* const first = make();
  EXPECT_EQ(aclDestroyTensor(first), ACLNN_SUCCESS);
  for (int k = 0; k < 1000; ++k) {
    const aclTensor* const next = make();
    EXPECT_NE(next, first);
    EXPECT_EQ(aclDestroyTensor(next), ACLNN_SUCCESS);
  }
  EXPECT_EQ(aclDestroyTensor(first), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(Misuse, NothingWorksAfterFinalize) {
  const Prepared early = phase_1(call, handles);
  ASSERT_EQ(early.status, ACLNN_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(phase_2(), ACLNN_ERR_RUNTIME_ERROR);
  expect_message("aclFinalize was called");
  Prepared late;
  char layout[] = "BNSD";
  late.status = aclnnFlashAttentionScoreGradGetWorkspaceSize(
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
      nullptr, nullptr, nullptr, 1, 1, 0, 0, 1, layout, 0, 0, nullptr, nullptr, nullptr, nullptr,
      &late.workspace_size, &late.executor);
  EXPECT_EQ(late.status, ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(early.executor), ACLNN_ERR_PARAM_INVALID);
}

}  // namespace
