#include <array>
#include <cstring>
#include <string>

#include "acl/acl.h"
#include "aclnn/runtime/failure.hpp"
#include "aclnn/runtime/process.hpp"

namespace {

using namespace assay::aclnn;

template <class Body>
aclError runtime(std::string_view function, const Body& body) noexcept {
  return answer(Family::runtime, function, body);
}

Failure invalid(const std::string& what) { return {ACL_ERROR_INVALID_PARAM, what}; }

/// Checks that a value is one of the enumerators 0 to `last`.
void require_enumerator(std::string_view name, int value, int last) {
  if (value < 0 || value > last)
    throw invalid(std::string(name) + " is " + std::to_string(value) + "; it must be 0 to " +
                  std::to_string(last));
}

/// The source or the destination of a memory copy.
struct Side {
  std::string_view name;
  const void* first;
  bool on_device;
};

std::shared_ptr<const Allocation> keeper(const Side& side, std::size_t count,
                                         const Device& device) {
  require(Family::runtime, side.first, side.name);
  if (side.on_device) return device.memory.holding(side.first, count, side.name);
  if (device.memory.contains(side.first))
    throw invalid(std::string(side.name) +
                  " is device memory; this kind of copy needs host memory");
  return device.host_memory.contains(side.first)
             ? device.host_memory.holding(side.first, count, side.name)
             : nullptr;
}

void require_room(std::string_view limit, std::size_t room, std::size_t count) {
  if (count > room)
    throw invalid("count is " + std::to_string(count) + "; " + std::string(limit) + " is " +
                  std::to_string(room));
}

struct Copy {
  void* to;
  std::size_t room;
  const void* from;
  std::size_t count;
  aclrtMemcpyKind kind;
};

/// Checks the arguments of a memory copy and returns the function that executes the copy.
auto prepared(const Copy& copy) {
  require_enumerator("kind", copy.kind, ACL_MEMCPY_DEVICE_TO_DEVICE);
  require_room("destMax", copy.room, copy.count);
  const bool to_device =
      copy.kind == ACL_MEMCPY_HOST_TO_DEVICE || copy.kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  const bool from_device =
      copy.kind == ACL_MEMCPY_DEVICE_TO_HOST || copy.kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  const auto device = Process::get().device();  // keeps the device if another thread finalizes
  const std::array keepers = {keeper({"dst", copy.to, to_device}, copy.count, *device),
                              keeper({"src", copy.from, from_device}, copy.count, *device)};
  return [copy, keepers] { std::memmove(copy.to, copy.from, copy.count); };
}

struct Fill {
  void* to;
  std::size_t room;
  std::int32_t value;
  std::size_t count;
};

auto prepared(const Fill& fill) {
  require_room("maxCount", fill.room, fill.count);
  const auto device = Process::get().device();  // keeps the device if another thread finalizes
  const Side side = {"devPtr", fill.to, !device->host_memory.contains(fill.to)};
  return [fill, kept = keeper(side, fill.count, *device)] {
    std::memset(fill.to, fill.value, fill.count);
  };
}

}  // namespace

extern "C" {

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return runtime("aclrtMalloc", [&] {
    require(Family::runtime, devPtr, "devPtr");
    require_enumerator("policy", policy, ACL_MEM_MALLOC_NORMAL_ONLY_P2P);
    Process::get().current();
    *devPtr = Process::get().device()->memory.allocate(size);
  });
}

aclError aclrtFree(void* devPtr) {
  return runtime("aclrtFree", [&] { Process::get().device()->memory.release(devPtr, "devPtr"); });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return runtime("aclrtMallocHost", [&] {
    require(Family::runtime, hostPtr, "hostPtr");
    Process::get().current();
    *hostPtr = Process::get().device()->host_memory.allocate(size);
  });
}

aclError aclrtFreeHost(void* hostPtr) {
  return runtime("aclrtFreeHost",
                 [&] { Process::get().device()->host_memory.release(hostPtr, "hostPtr"); });
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return runtime("aclrtMemcpy", [&] { prepared(Copy{dst, destMax, src, count, kind})(); });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return runtime("aclrtMemcpyAsync", [&] {
    Process::get().stream(stream)->push(prepared(Copy{dst, destMax, src, count, kind}));
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return runtime("aclrtMemset", [&] { prepared(Fill{devPtr, maxCount, value, count})(); });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  return runtime("aclrtMemsetAsync", [&] {
    Process::get().stream(stream)->push(prepared(Fill{devPtr, maxCount, value, count}));
  });
}

}  // extern "C"
