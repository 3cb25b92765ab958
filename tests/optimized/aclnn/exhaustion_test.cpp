#include <gtest/gtest.h>

#include "assay/optimized/flash_attention_score_grad.hpp"
#include "entries.hpp"
#include "exhausted/memory.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::FlashAttentionScoreGrad;
using spec::FlashEntryPoint;

class Exhaustion : public Session {};

TEST_F(Exhaustion, SynchronizationReportsMissingHostMemoryOfATask) {
  const Op::Problem problem;
  const spec::Call<Op> call = spec::call_of(problem, FlashEntryPoint::g1, spec::Product::a2,
                                            spec::Striding::contiguous, spec::Striding::contiguous);
  Filling<Op> filling = filling_of(call);
  Handles handles(filling.uploaded.addresses());
  const Prepared prepared = phase_1(call, handles);
  ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
  const Workspace workspace(prepared.workspace_size);
  memory_is_exhausted_elsewhere = true;
  const aclnnStatus pushed = phase_2_of(FlashEntryPoint::g1)(
      workspace.get(), prepared.workspace_size, prepared.executor, stream);
  const aclError printed = aclrtSynchronizeStream(stream);
  memory_is_exhausted_elsewhere = false;
  EXPECT_EQ(pushed, ACLNN_SUCCESS);
  EXPECT_EQ(printed, ACL_ERROR_RT_FAILURE);
  EXPECT_EQ(recent_message(), "aclrtSynchronizeStream: a task failed: no host memory is left");
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS) << "a failure is reported once";
  const auto own = optimized::flash_attention_score_grad(device::a2());
  expect_same_bits(call, problem, *own, phase_2_of(FlashEntryPoint::g1), stream);
}

/// `capacity` is the memory size of the modelled device. The host has less memory.
TEST_F(Exhaustion, HostAndDeviceMemoryAreDistinguished) {
  constexpr std::size_t capacity = std::size_t{1} << 36;
  void* start = nullptr;
  memory_is_scarce = true;
  const aclError too_much = aclrtMalloc(&start, capacity + 1, ACL_MEM_MALLOC_HUGE_FIRST);
  const std::string of_the_device = recent_message();
  const aclError all = aclrtMalloc(&start, capacity, ACL_MEM_MALLOC_HUGE_FIRST);
  const std::string of_the_host = recent_message();
  memory_is_scarce = false;
  EXPECT_EQ(too_much, ACL_ERROR_BAD_ALLOC);
  EXPECT_NE(of_the_device.find("device memory"), std::string::npos) << of_the_device;
  EXPECT_EQ(all, ACL_ERROR_BAD_ALLOC);
  EXPECT_EQ(of_the_host, "aclrtMalloc: no host memory is left");
}

TEST_F(Exhaustion, EveryCallReportsMissingHostMemoryByItsStatus) {
  const std::int64_t dims[] = {4};
  void* start = nullptr;
  memory_is_exhausted = true;
  const aclTensor* const tensor =
      aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, nullptr);
  const aclError malloced = aclrtMalloc(&start, 8, ACL_MEM_MALLOC_HUGE_FIRST);
  std::uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const aclnnStatus phase = aclSetAclOpExecutorRepeatable(executor);
  memory_is_exhausted = false;
  EXPECT_EQ(tensor, nullptr);
  EXPECT_EQ(malloced, ACL_ERROR_BAD_ALLOC);
  EXPECT_EQ(phase, ACLNN_ERR_INNER) << "the status must be returned without a message";
  EXPECT_EQ(size, 0U);
}

}  // namespace
