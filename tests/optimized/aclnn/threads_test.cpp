#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>

#include "assay/optimized/flash_attention_score_grad.hpp"
#include "entries.hpp"
#include "scarce_threads.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::FlashAttentionScoreGrad;
using spec::FlashEntryPoint;

class Threads : public Session {};

constexpr std::int64_t thread_count = 4, rounds = 5;

spec::Call<Op> call_of(const Op::Problem& problem) {
  return spec::call_of(problem, FlashEntryPoint::g1, spec::Product::a2, spec::Striding::padded,
                       spec::Striding::transposed);
}

/// Each thread has its own problems, stream and handles.
TEST_F(Threads, ThreadsWithOwnStreamsDoNotDisturbEachOther) {
  const auto body = [](std::int64_t number) {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtStream own_stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&own_stream), ACL_SUCCESS);
    const auto own = optimized::flash_attention_score_grad(device::a2());
    for (std::int64_t round = 0; round < rounds; ++round) {
      const Op::Problem problem = {
          .heads_q = 2, .seq_q = 20 + 30 * number + round, .seq_kv = 100 - 20 * number};
      expect_same_bits(call_of(problem), problem, *own, phase_2_of(FlashEntryPoint::g1),
                       own_stream);
    }
    EXPECT_EQ(aclrtDestroyStream(own_stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  };
  std::vector<std::jthread> threads;
  for (std::int64_t number = 0; number < thread_count; ++number) threads.emplace_back(body, number);
}

/// Limits the number of threads. The stream's own thread exists already, so the gradient can start
/// only one more thread and must continue without the others.
TEST_F(Threads, RefusedThreadsDoNotChangeTheResult) {
  const Op::Problem problem = {.heads_q = 4, .heads_kv = 4, .seq_q = 300, .seq_kv = 300};
  const auto own = optimized::flash_attention_score_grad(device::a2());
  const ScarceThreads machine(1, 7);
  expect_same_bits(call_of(problem), problem, *own, phase_2_of(FlashEntryPoint::g1), stream);
  EXPECT_GT(machine.refused(), 0);
}

/// Two streams write to one buffer at the same time: one to its even elements, the other to its odd
/// elements.
TEST_F(Threads, MayWriteInterleavedViews) {
  const Op::Problem problem = {.seq_q = 60, .seq_kv = 70};
  spec::Call<Op> call = spec::call_of(problem, FlashEntryPoint::g1, spec::Product::a2,
                                      spec::Striding::contiguous, spec::Striding::contiguous);
  for (const auto member : {&Op::Parameters::dq, &Op::Parameters::dk, &Op::Parameters::dv})
    for (std::int64_t& stride : (call.parameters.*member).strides) stride *= 2;
  spec::Call<Op> odd = call;
  for (const auto member : {&Op::Parameters::dq, &Op::Parameters::dk, &Op::Parameters::dv})
    (odd.parameters.*member).offset = 1;

  Filling<Op> filling = filling_of(odd);  // `odd` has the larger storages
  Handles handles(filling.uploaded.addresses());
  const Prepared first = phase_1(call, handles), second = phase_1(odd, handles);
  ASSERT_EQ(first.status + second.status, ACLNN_SUCCESS) << recent_message();
  const Workspace one(first.workspace_size), other(second.workspace_size);
  aclrtStream extra = nullptr;
  ASSERT_EQ(aclrtCreateStream(&extra), ACL_SUCCESS);
  const Phase2 phase_2 = phase_2_of(FlashEntryPoint::g1);
  EXPECT_EQ(phase_2(one.get(), first.workspace_size, first.executor, stream), ACLNN_SUCCESS);
  EXPECT_EQ(phase_2(other.get(), second.workspace_size, second.executor, extra), ACLNN_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);

  const auto own = optimized::flash_attention_score_grad(device::a2());
  own->run(problem, filling.inputs, filling.outputs);
  for (const auto member : {&Op::Outputs::dq, &Op::Outputs::dk, &Op::Outputs::dv})
    (filling.outputs.*member).offset = 0;
  own->run(problem, filling.inputs, filling.outputs);
  expect_equal_bytes(odd, filling);
}

TEST_F(Threads, CannotShareAnExecutor) {
  const spec::Call<Op> call = call_of({});
  Filling<Op> filling = filling_of(call);
  Handles handles(filling.uploaded.addresses());
  for (std::int64_t round = 0; round < 20; ++round) {
    const Prepared prepared = phase_1(call, handles);
    ASSERT_EQ(prepared.status, ACLNN_SUCCESS);
    const Workspace workspace(prepared.workspace_size);
    std::atomic<int> served = 0;
    std::barrier start(thread_count);
    {
      std::vector<std::jthread> threads;
      for (std::int64_t number = 0; number < thread_count; ++number)
        threads.emplace_back([&] {
          start.arrive_and_wait();
          const aclnnStatus status = phase_2_of(FlashEntryPoint::g1)(
              workspace.get(), prepared.workspace_size, prepared.executor, stream);
          if (status == ACLNN_SUCCESS) ++served;
        });
    }
    EXPECT_EQ(served, 1);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  }
}

/// Each thread writes to its own byte. The final value of each byte must be the value of the
/// thread's last task.
TEST_F(Threads, CanSubmitTasksToOneStream) {
  constexpr int tasks = 3000;
  void* start = nullptr;
  ASSERT_EQ(aclrtMalloc(&start, thread_count, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  {
    std::vector<std::jthread> threads;
    for (std::int64_t number = 0; number < thread_count; ++number)
      threads.emplace_back([&, own = static_cast<std::byte*>(start) + number] {
        for (int task = 1; task <= tasks; ++task)
          EXPECT_EQ(aclrtMemsetAsync(own, 1, task % 100, 1, stream), ACL_SUCCESS);
        EXPECT_EQ(aclrtMemsetAsync(own, 1, 123, 1, stream), ACL_SUCCESS);
      });
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  std::array<std::uint8_t, thread_count> left{};
  EXPECT_EQ(aclrtMemcpy(left.data(), left.size(), start, left.size(), ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_SUCCESS);
  for (const std::uint8_t byte : left) EXPECT_EQ(byte, 123);
}

/// Several threads wait for one stream, and all must wake up. If only one thread were notified, the
/// others would wait until their time limit.
TEST_F(Threads, MayWaitForOneStream) {
  constexpr std::size_t size = 1 << 24;
  constexpr std::int32_t limit = 20000;
  void* start = nullptr;
  ASSERT_EQ(aclrtMalloc(&start, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (int task = 0; task < 40; ++task)
    ASSERT_EQ(aclrtMemsetAsync(start, size, task, size, stream), ACL_SUCCESS);
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (std::int64_t number = 0; number < thread_count; ++number)
      threads.emplace_back(
          [&] { EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, limit), ACL_SUCCESS); });
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(limit));
}

/// One thread closes the device and waits for the device's tasks. At the same time another thread
/// opens the device again.
TEST_F(Threads, MayOpenTheDeviceWhileOthersCloseIt) {
  constexpr std::size_t size = 1 << 24;
  void* start = nullptr;
  ASSERT_EQ(aclrtMalloc(&start, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (int task = 0; task < 40; ++task)
    ASSERT_EQ(aclrtMemsetAsync(start, size, task, size, stream), ACL_SUCCESS);
  {
    const std::jthread closing([] { EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS); });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&start, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS) << recent_message();
  }
  EXPECT_EQ(aclrtMemset(start, 8, 1, 8), ACL_SUCCESS) << recent_message();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << recent_message();
}

/// One thread calls aclFinalize and aclInit again and again while others call the C API. Every call
/// must return.
TEST_F(Threads, MayEndTheProcessWhileOthersWork) {
  const spec::Call<Op> call = call_of({});
  std::atomic<bool> ends = false;
  const auto body = [&] {
    while (!ends) {
      aclrtSetDevice(0);
      aclrtStream own_stream = nullptr;
      aclrtCreateStream(&own_stream);
      const std::vector<std::byte> bytes(1000);
      void* start = nullptr;
      if (aclrtMalloc(&start, bytes.size(), ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS)
        aclrtMemcpyAsync(start, bytes.size(), start, bytes.size(), ACL_MEMCPY_DEVICE_TO_DEVICE,
                         own_stream);
      const std::int64_t dims[] = {1, 1, 16, 16};
      const aclTensor* const tensor =
          aclCreateTensor(dims, 4, ACL_BF16, nullptr, 0, ACL_FORMAT_ND, dims, 4, start);
      aclrtSynchronizeStream(own_stream);
      aclDestroyTensor(tensor);
      aclrtFree(start);
      aclrtDestroyStream(own_stream);
    }
  };
  std::vector<std::jthread> threads;
  for (std::int64_t number = 0; number < thread_count; ++number) threads.emplace_back(body);
  for (int round = 0; round < 50; ++round) {
    aclFinalize();
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ends = true;
}

}  // namespace
