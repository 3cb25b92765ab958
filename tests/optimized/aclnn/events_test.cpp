#include <gtest/gtest.h>

#include <chrono>

#include "session.hpp"

namespace {

using namespace assay::test;

/// Provides two streams, and tasks that keep one of them busy.
class Events : public Session {
 protected:
  Events() {
    EXPECT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
    EXPECT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS) << recent_message();
    EXPECT_EQ(aclrtMalloc(&start, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  }

  /// Keeps the stream busy for some milliseconds. At the end every byte of the buffer is `value`.
  void keep_busy(aclrtStream in, int value) {
    for (int task = 0; task < 30; ++task)
      EXPECT_EQ(aclrtMemsetAsync(start, size, task, size, in), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetAsync(start, size, value, size, in), ACL_SUCCESS);
  }
  /// Submits tasks, and calls `seen` while they run. Returns true if `seen` returns true. Tries up
  /// to 100 times, because this thread may be delayed until the tasks have ended.
  template <class Seen>
  bool while_busy(int value, Seen&& seen) {
    for (int round = 0; round < 100; ++round) {
      keep_busy(stream, value);
      if (seen()) return true;
      EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    }
    return false;
  }
  aclrtEventRecordedStatus status() {
    auto found = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_EQ(aclrtQueryEventStatus(event, &found), ACL_SUCCESS) << recent_message();
    return found;
  }
  int last_byte() {
    std::uint8_t last = 0;
    EXPECT_EQ(aclrtMemcpy(&last, 1, static_cast<std::byte*>(start) + size - 1, 1,
                          ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    return last;
  }

  static constexpr std::size_t size = 1 << 22;
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  void* start = nullptr;
};

TEST_F(Events, AreReachedWhenTheTasksBeforeThemAreDone) {
  EXPECT_EQ(status(), ACL_EVENT_RECORDED_STATUS_NOT_READY) << "the event was never recorded";
  EXPECT_TRUE(while_busy(99, [&] {
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS) << recent_message();
    return status() == ACL_EVENT_RECORDED_STATUS_NOT_READY;
  })) << "tasks are not finished";
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS) << recent_message();
  EXPECT_EQ(status(), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(last_byte(), 99);
}

TEST_F(Events, MakeAStreamWaitForAnother) {
  void* copy = nullptr;
  ASSERT_EQ(aclrtMalloc(&copy, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (int round = 1; round <= 5; ++round) {
    keep_busy(stream, 100 + round);
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS) << recent_message();
    EXPECT_EQ(aclrtMemcpyAsync(copy, size, start, size, ACL_MEMCPY_DEVICE_TO_DEVICE, other),
              ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
    std::uint8_t last = 0;
    EXPECT_EQ(aclrtMemcpy(&last, 1, static_cast<std::byte*>(copy) + size - 1, 1,
                          ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    EXPECT_EQ(last, 100 + round);
  }
}

/// If a stream waits for an event, it waits for the state that was recorded before. Recording or
/// destroying the event later does not change the wait.
TEST_F(Events, CanBeRecordedAgainOrDestroyedDuringAWait) {
  keep_busy(stream, 1);
  EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(event, other), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(last_byte(), 1);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_ERROR_INVALID_PARAM);
}

TEST_F(Events, MeasureTheTimeBetweenThem) {
  aclrtEvent end = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&end), ACL_SUCCESS);
  float ms = -1;
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event, end), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  EXPECT_EQ(recent_message(), "aclrtEventElapsedTime: startEvent was never recorded");
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  EXPECT_TRUE(while_busy(5, [&] {
    EXPECT_EQ(aclrtRecordEvent(end, stream), ACL_SUCCESS);
    return aclrtEventElapsedTime(&ms, event, end) == ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID;
  }));
  EXPECT_EQ(recent_message(),
            "aclrtEventElapsedTime: endEvent was recorded, but its stream has not reached it yet");
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event, end), ACL_SUCCESS) << recent_message();
  EXPECT_GT(ms, 0.1F) << "the time must include a write of 128 MB";
  const std::chrono::duration<float, std::milli> passed = std::chrono::steady_clock::now() - before;
  EXPECT_LT(ms, passed.count()) << "the time must be below the clock's";
  EXPECT_EQ(aclrtEventElapsedTime(&ms, end, event), ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL);
  EXPECT_EQ(aclrtEventElapsedTime(nullptr, event, end), ACL_ERROR_INVALID_PARAM);
}

TEST_F(Events, MisuseIsAnswered) {
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(recent_message(),
            "aclrtSynchronizeEvent: event was never recorded; there is nothing to wait for");
  EXPECT_EQ(aclrtStreamWaitEvent(stream, event), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtRecordEvent(stream, stream), ACL_ERROR_INVALID_PARAM)
      << "a stream is not an event";
  EXPECT_EQ(aclrtRecordEvent(event, event), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(status(), ACL_EVENT_RECORDED_STATUS_NOT_READY) << "the refused record must not count";
  EXPECT_EQ(aclrtRecordEvent(nullptr, stream), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateEvent(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtQueryEventStatus(event, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_ERROR_INVALID_PARAM)
      << "the event was destroyed with the device";
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateEvent(&event), ACL_ERROR_UNINITIALIZE);
}

TEST_F(Events, AStreamCanBeWaitedForWithALimit) {
  EXPECT_TRUE(while_busy(7, [&] {
    return aclrtSynchronizeStreamWithTimeout(stream, 0) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
  }));
  EXPECT_EQ(recent_message(),
            "aclrtSynchronizeStreamWithTimeout: tasks of the stream are not done after 0 ms");
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 100000), ACL_SUCCESS) << recent_message();
  EXPECT_EQ(last_byte(), 7);
  keep_busy(stream, 8);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, -1), ACL_SUCCESS);
  EXPECT_EQ(last_byte(), 8);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, -2), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
