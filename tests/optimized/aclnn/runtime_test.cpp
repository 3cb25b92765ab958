#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <thread>

#include "session.hpp"

namespace {

using namespace assay::test;

class Runtime : public Session {
 protected:
  void* memory(std::size_t size) {
    void* start = nullptr;
    EXPECT_EQ(aclrtMalloc(&start, size, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS)
        << recent_message();
    return start;
  }
};

TEST(Process, MustBeInitializedOnce) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_UNINITIALIZE);
  std::uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(recent_message(), "aclInit: the process is already initialized");
  EXPECT_EQ(recent_message(), "");
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST(Process, ModelsTheProductOfTheEnvironment) {
  const auto soc_name_of = [](const char* product) {
    setenv("ASSAY_ACLNN_PRODUCT", product, 1);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS) << recent_message();
    const std::string name = aclrtGetSocName();
    aclFinalize();
    return name;
  };
  EXPECT_EQ(soc_name_of("a2"), "Ascend910B2");
  EXPECT_EQ(soc_name_of("a3"), "Ascend910_9391");
  setenv("ASSAY_ACLNN_PRODUCT", "a4", 1);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(recent_message(), "aclInit: ASSAY_ACLNN_PRODUCT is \"a4\"; it must be one of a2, a3");
  EXPECT_EQ(aclrtGetSocName(), nullptr);
  EXPECT_EQ(soc_name_of(""), "Ascend910B2") << "an empty value counts as not set";
  unsetenv("ASSAY_ACLNN_PRODUCT");
}

TEST(Process, RefusesStatisticsOrdersThatItDoesNotHave) {
  const auto refusal_of = [](const char* orders) {
    setenv("ASSAY_ACLNN_STATISTICS", orders, 1);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INVALID_PARAM) << orders;
    const std::string message = recent_message();
    unsetenv("ASSAY_ACLNN_STATISTICS");
    return message;
  };
  EXPECT_EQ(refusal_of("statistics_order=NTD"),
            "aclInit: ASSAY_ACLNN_STATISTICS is \"statistics_order=NTD\": numerics "
            "'statistics_order=NTD': expected undeclared, heads_first, tokens_first");
  EXPECT_EQ(refusal_of("stage=bf16"),
            "aclInit: ASSAY_ACLNN_STATISTICS is \"stage=bf16\": the variable may set only "
            "statistics_order, "
            "statistics_order_empty and statistics_order_same_as_input");
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS) << recent_message();
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST_F(Runtime, HasOneDevice) {
  std::uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 1U);
  std::int32_t id = -1;
  EXPECT_EQ(aclrtGetDevice(&id), ACL_SUCCESS);
  EXPECT_EQ(id, 0);
  for (const std::int32_t other : {-1, 1}) {
    EXPECT_EQ(aclrtSetDevice(other), ACL_ERROR_INVALID_DEVICE);
    EXPECT_EQ(aclrtResetDevice(other), ACL_ERROR_INVALID_DEVICE);
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtCreateContext(&context, other), ACL_ERROR_INVALID_DEVICE);
  }
  EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM);
}

/// aclFinalize destroys all objects, even if the process calls aclInit again.
TEST_F(Runtime, FinalizeDestroysEveryObject) {
  const std::int64_t dims[] = {4};
  float value = 2;
  const auto tensor = [&] {
    return aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, nullptr);
  };
  const aclTensor *const single = tensor(), *const listed = tensor();
  const aclTensorList* const list = aclCreateTensorList(&listed, 1);
  const aclIntArray* const array = aclCreateIntArray(dims, 1);
  const aclScalar* const scalar = aclCreateScalar(&value, ACL_FLOAT);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(single), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyIntArray(array), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyScalar(scalar), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(Runtime, ReinitializedProcessMustSetItsDevice) {
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(memory(64), 64, 0, 64), ACL_SUCCESS);
}

TEST_F(Runtime, TheLastResetOfTheDeviceReleasesWhatLivesOnIt) {
  void* const start = memory(64);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(start, 64, 0, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(start, 64, 0, 64), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_INVALID_PARAM);
}

TEST_F(Runtime, TheLastResetOfTheDeviceGivesBackItsMemory) {
  const auto room = [] {
    void* start = nullptr;
    EXPECT_EQ(aclrtMalloc(&start, std::size_t{1} << 50, ACL_MEM_MALLOC_HUGE_FIRST),
              ACL_ERROR_BAD_ALLOC);
    return recent_message();
  };
  const std::string whole = room();
  memory(100);
  EXPECT_NE(room(), whole);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(room(), whole);
}

TEST_F(Runtime, AThreadNeedsAContext) {
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  std::jthread([&] {
    void* start = nullptr;
    aclrtStream own = nullptr;
    EXPECT_EQ(aclrtMalloc(&start, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtMallocHost(&start, 8), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtCreateStream(&own), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    EXPECT_EQ(aclrtMalloc(&start, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtCreateStream(&own), ACL_SUCCESS);
  }).join();
}

TEST_F(Runtime, ContextsEndWithTheirStreams) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  aclrtContext current = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
  EXPECT_EQ(current, context);
  aclrtStream inner = nullptr;
  EXPECT_EQ(aclrtCreateStream(&inner), ACL_SUCCESS);
  for (const void* handle : {context, inner})  // callers may use the low bits of addresses
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(handle) % alignof(std::max_align_t), 0u);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyStream(inner), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateStream(&inner), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(current), ACL_ERROR_INVALID_PARAM)
      << "the default context cannot be destroyed";
  EXPECT_EQ(aclrtDestroyContext(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(Runtime, RemembersWhetherResultsMustBeDeterministic) {
  std::int64_t value = -1;
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 1) << "options must be independent";
  EXPECT_EQ(aclrtCtxGetSysParamOpt(static_cast<aclSysParamOpt>(3), &value),
            ACL_ERROR_INVALID_PARAM);
  for (const std::int64_t other : {-1, 2}) {
    EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, other), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(recent_message(),
              "aclrtCtxSetSysParamOpt: value is " + std::to_string(other) + "; it must be 0 or 1");
  }
  EXPECT_EQ(aclrtCtxSetSysParamOpt(static_cast<aclSysParamOpt>(3), 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(Runtime, GivesAlignedMemoryWithinTheDevice) {
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory(1)) % 64, 0U);
  void* start = nullptr;
  EXPECT_EQ(aclrtMalloc(&start, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMalloc(&start, 8, static_cast<aclrtMemMallocPolicy>(7)), ACL_ERROR_INVALID_PARAM);
  for (const std::size_t size : {std::size_t{1} << 40, std::numeric_limits<std::size_t>::max()}) {
    EXPECT_EQ(aclrtMalloc(&start, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_BAD_ALLOC);
    EXPECT_NE(recent_message().find("device memory"), std::string::npos);
  }
}

TEST_F(Runtime, FreesMemoryOnce) {
  void* const start = memory(64);
  EXPECT_EQ(aclrtFree(static_cast<std::byte*>(start) + 8), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFree(start), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(start), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  std::int64_t host = 0;
  EXPECT_EQ(aclrtFree(&host), ACL_ERROR_INVALID_PARAM);
}

/// The device has 64 GiB. The test allocates and frees 80 GiB in total, so freed memory must become
/// available again.
TEST_F(Runtime, GetsBackTheMemoryThatIsFreed) {
  constexpr std::size_t size = std::size_t{1} << 30, most = 80;
  std::size_t taken = 0;
  void* start = nullptr;
  for (; taken < most; ++taken) {
    if (aclrtMalloc(&start, size, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) break;
    EXPECT_EQ(aclrtFree(start), ACL_SUCCESS);
  }
  EXPECT_EQ(taken, most) << recent_message();
}

/// All free bytes of the device can be allocated, but not one more.
TEST_F(Runtime, CountsAllocatedMemory) {
  void* start = nullptr;
  EXPECT_EQ(aclrtMalloc(&start, std::size_t{1} << 50, ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_BAD_ALLOC);
  const std::string message = recent_message();
  const std::string before = "a capacity of ";
  const std::size_t of = message.find(before) + before.size();
  const std::size_t capacity = std::stoull(message.substr(of));
  EXPECT_NE(message.find(" " + std::to_string(capacity) + " B are left"), std::string::npos);
  void *const first = memory(60), *const second = memory(40);
  EXPECT_EQ(aclrtMalloc(&start, capacity - 99, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_BAD_ALLOC);
  EXPECT_NE(recent_message().find(" " + std::to_string(capacity - 100) + " B are left"),
            std::string::npos);
  EXPECT_EQ(aclrtFree(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(second), ACL_SUCCESS);
  EXPECT_EQ(aclrtMalloc(&start, capacity + 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_BAD_ALLOC);
  EXPECT_NE(recent_message().find(" " + std::to_string(capacity) + " B are left"),
            std::string::npos);
}

TEST_F(Runtime, GivesHostMemoryForCopies) {
  void* host = nullptr;
  ASSERT_EQ(aclrtMallocHost(&host, 100), ACL_SUCCESS) << recent_message();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(host) % 64, 0U);
  EXPECT_EQ(aclrtMemset(host, 100, 7, 100), ACL_SUCCESS) << recent_message();
  void* const device = memory(100);
  EXPECT_EQ(aclrtMemcpy(device, 100, host, 100, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(host, 100, 0, 100), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(host, 100, device, 100, ACL_MEMCPY_DEVICE_TO_HOST, stream),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(static_cast<unsigned char*>(host)[99], 7);
  EXPECT_EQ(aclrtMemcpy(host, 101, device, 101, ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(recent_message(),
            "aclrtMemcpy: dst needs 101 B; the allocation ends 100 B after this address");
  EXPECT_EQ(aclrtMemcpy(device, 100, host, 100, ACL_MEMCPY_DEVICE_TO_DEVICE),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFree(host), ACL_ERROR_INVALID_PARAM) << "host memory needs aclrtFreeHost";
  EXPECT_EQ(aclrtFreeHost(device), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(recent_message(), "aclrtFreeHost: hostPtr is not the start of allocated host memory");
  EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(host), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFreeHost(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocHost(&host, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocHost(nullptr, 8), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocHost(&host, std::numeric_limits<std::size_t>::max()), ACL_ERROR_BAD_ALLOC);
}

/// A copy task keeps a reference to its host memory, so the caller may free this memory earlier.
TEST_F(Runtime, HostMemoryMayBeFreedWhileACopyNeedsIt) {
  constexpr std::size_t size = 1 << 22;
  void *const device = memory(size), *host = nullptr;
  ASSERT_EQ(aclrtMallocHost(&host, size), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(host, size, 3, size), ACL_SUCCESS);
  for (int k = 0; k < 8; ++k)
    EXPECT_EQ(aclrtMemcpyAsync(device, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE, stream),
              ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

TEST_F(Runtime, CopiesBetweenHostAndDevice) {
  std::array<int, 100> there{}, back{};
  std::iota(there.begin(), there.end(), 7);
  constexpr std::size_t size = sizeof(there);
  void *const first = memory(size), *const second = memory(size);
  EXPECT_EQ(aclrtMemcpy(first, size, there.data(), size, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(second, size, first, size, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(back.data(), size, second, size, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(there, back);
  EXPECT_EQ(aclrtMemset(second, size, 0, size / 2), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(back.data(), size, second, size, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(back[49], 0);
  EXPECT_EQ(back[50], there[50]);
}

TEST_F(Runtime, RefusesCopiesOutsideOfMemory) {
  std::array<std::byte, 128> host{};
  auto* const start = static_cast<std::byte*>(memory(64));
  const auto copy = [&](void* to, std::size_t room, const void* from, std::size_t count,
                        aclrtMemcpyKind kind) {
    EXPECT_EQ(aclrtMemcpy(to, room, from, count, kind), ACL_ERROR_INVALID_PARAM);
    return recent_message();
  };
  EXPECT_EQ(copy(start, 64, host.data(), 65, ACL_MEMCPY_HOST_TO_DEVICE),
            "aclrtMemcpy: count is 65; destMax is 64");
  EXPECT_EQ(copy(start, 65, host.data(), 65, ACL_MEMCPY_HOST_TO_DEVICE),
            "aclrtMemcpy: dst needs 65 B; the allocation ends 64 B after this address");
  EXPECT_EQ(copy(host.data(), 128, start + 8, 57, ACL_MEMCPY_DEVICE_TO_HOST),
            "aclrtMemcpy: src needs 57 B; the allocation ends 56 B after this address");
  EXPECT_EQ(copy(host.data(), 128, start, 64, ACL_MEMCPY_HOST_TO_DEVICE),
            "aclrtMemcpy: dst is not allocated device memory");
  EXPECT_EQ(copy(start, 64, start, 64, ACL_MEMCPY_HOST_TO_DEVICE),
            "aclrtMemcpy: src is device memory; this kind of copy needs host memory");
  EXPECT_EQ(copy(nullptr, 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE),
            "aclrtMemcpy: dst is null; it is required");
  EXPECT_EQ(copy(start + 64, 8, host.data(), 8, ACL_MEMCPY_HOST_TO_DEVICE),
            "aclrtMemcpy: dst is not allocated device memory");
  EXPECT_EQ(aclrtMemset(start, 32, 0, 33), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(recent_message(), "aclrtMemset: count is 33; maxCount is 32");
  EXPECT_EQ(aclrtMemset(start, 64, 0, 65), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemset(start, 65, 0, 65), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemset(host.data(), 8, 0, 8), ACL_ERROR_INVALID_PARAM);
}

TEST_F(Runtime, CopiesWithinOneMemoryMayOverlap) {
  std::array<std::uint8_t, 64> there{}, back{};
  std::iota(there.begin(), there.end(), std::uint8_t{0});
  auto* const start = static_cast<std::byte*>(memory(64));
  EXPECT_EQ(aclrtMemcpy(start, 64, there.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(start + 1, 63, start, 63, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(back.data(), 64, start, 64, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_TRUE(std::equal(there.begin(), there.end() - 1, back.begin() + 1));
}

TEST_F(Runtime, KeepsTheOrderWithinAStream) {
  constexpr std::size_t size = 1 << 16;
  void *const source = memory(size), *const copy = memory(size);
  for (aclrtStream in : {stream, aclrtStream{nullptr}})
    for (int value = 1; value < 50; ++value) {
      EXPECT_EQ(aclrtMemsetAsync(source, size, value, size, in), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpyAsync(copy, size, source, size, ACL_MEMCPY_DEVICE_TO_DEVICE, in),
                ACL_SUCCESS);
      EXPECT_EQ(aclrtMemsetAsync(source, size, 0, size, in), ACL_SUCCESS);
      EXPECT_EQ(value % 2 == 0 ? aclrtSynchronizeStream(in) : aclrtSynchronizeDevice(),
                ACL_SUCCESS);
      std::array<std::uint8_t, 2> ends{};
      EXPECT_EQ(aclrtMemcpy(&ends[0], 1, copy, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpy(&ends[1], 1, static_cast<std::byte*>(copy) + size - 1, 1,
                            ACL_MEMCPY_DEVICE_TO_HOST),
                ACL_SUCCESS);
      EXPECT_EQ(ends[0], value);
      EXPECT_EQ(ends[1], value);
    }
}

TEST_F(Runtime, DestroysAStreamOnceItsTasksAreDone) {
  constexpr std::size_t size = 1 << 20;
  void* const start = memory(size);
  aclrtStream own = nullptr;
  EXPECT_EQ(aclrtCreateStream(&own), ACL_SUCCESS);
  for (int value = 1; value <= 20; ++value) aclrtMemsetAsync(start, size, value, size, own);
  EXPECT_EQ(aclrtDestroyStream(own), ACL_SUCCESS);
  std::uint8_t last = 0;
  aclrtMemcpy(&last, 1, static_cast<std::byte*>(start) + size - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST);
  EXPECT_EQ(last, 20);
  EXPECT_EQ(aclrtDestroyStream(own), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateStream(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST(Float16, RoundsToNearestTiesToEven) {
  EXPECT_EQ(aclFloatToFloat16(1.0F), 0x3C00);
  EXPECT_EQ(aclFloatToFloat16(1.0F + 0x1p-11F), 0x3C00);
  EXPECT_EQ(aclFloatToFloat16(1.0F + 0x3p-11F), 0x3C02);
  EXPECT_EQ(aclFloatToFloat16(65520.0F), 0x7C00);
  EXPECT_EQ(aclFloatToFloat16(0x1p-24F), 1);
  EXPECT_EQ(aclFloat16ToFloat(0xC000), -2.0F);
  EXPECT_EQ(aclFloat16ToFloat(0xFC00), -INFINITY);
  EXPECT_TRUE(std::isnan(aclFloat16ToFloat(0x7E00)));
}

}  // namespace
