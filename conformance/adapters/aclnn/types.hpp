#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "assay/spec/call.hpp"

/// The documented C API: opaque handles, codes, and pointers to the functions. No header of the
/// tested library is included. Source: acl_base.h, acl_rt.h, acl_meta.h; aclnn return codes.
namespace assay::adapters::acl {

struct Tensor;
struct IntArray;
struct Executor;
using Status = std::int32_t;
using Context = void*;
using Stream = void*;

inline constexpr Status success = 0;
inline constexpr int repeat_initialize = 100002;
/// The values of C enumerators that the adapter uses.
inline constexpr int malloc_huge_first = 0;
inline constexpr int host_to_device = 1, device_to_host = 2;
inline constexpr int opt_deterministic = 0;

/// These functions return the aclDataType number of an element type and the aclFormat number of a
/// memory format.
constexpr int code_of(spec::DType dtype) {
  switch (dtype) {
    case spec::DType::fp32:
      return 0;
    case spec::DType::fp16:
      return 1;
    case spec::DType::int8:
      return 2;
    case spec::DType::int32:
      return 3;
    case spec::DType::uint8:
      return 4;
    case spec::DType::int16:
      return 6;
    case spec::DType::uint16:
      return 7;
    case spec::DType::uint32:
      return 8;
    case spec::DType::int64:
      return 9;
    case spec::DType::uint64:
      return 10;
    case spec::DType::fp64:
      return 11;
    case spec::DType::boolean:
      return 12;
    case spec::DType::bf16:
      return 27;
    case spec::DType::hifloat8:
      return 34;
    case spec::DType::float8_e5m2:
      return 35;
    case spec::DType::float8_e4m3fn:
      return 36;
  }
  return -1;
}

constexpr int code_of(spec::Format format) {
  switch (format) {
    case spec::Format::nchw:
      return 0;
    case spec::Format::nhwc:
      return 1;
    case spec::Format::nd:
      return 2;
    case spec::Format::nc1hwc0:
      return 3;
    case spec::Format::fractal_z:
      return 4;
    case spec::Format::fractal_nz:
      return 29;
    case spec::Format::ncl:
      return 47;
  }
  return -1;
}

/// Pointers to the functions of the runtime and to the functions that create tensors. A pointer is
/// null if no shared object exports the function.
struct Functions {
  int (*init)(const char* config) = nullptr;
  int (*finalize)() = nullptr;
  int (*set_device)(std::int32_t device) = nullptr;
  int (*reset_device)(std::int32_t device) = nullptr;
  int (*create_context)(Context*, std::int32_t device) = nullptr;
  int (*destroy_context)(Context) = nullptr;
  int (*set_current_context)(Context) = nullptr;
  int (*create_stream)(Stream*) = nullptr;
  int (*destroy_stream)(Stream) = nullptr;
  int (*synchronize_stream)(Stream) = nullptr;
  int (*malloc)(void** address, std::size_t size, int policy) = nullptr;
  int (*free)(void* address) = nullptr;
  int (*memcpy)(void* to, std::size_t room, const void* from, std::size_t count,
                int kind) = nullptr;
  Tensor* (*create_tensor)(const std::int64_t* view, std::uint64_t view_rank, int dtype,
                           const std::int64_t* strides, std::int64_t offset, int format,
                           const std::int64_t* storage, std::uint64_t storage_rank,
                           void* address) = nullptr;
  Status (*destroy_tensor)(const Tensor*) = nullptr;
  IntArray* (*create_int_array)(const std::int64_t* values, std::uint64_t size) = nullptr;
  Status (*destroy_int_array)(const IntArray*) = nullptr;
  /// Optional functions: a library may lack them.
  Status (*set_executor_repeatable)(Executor*) = nullptr;
  Status (*destroy_executor)(Executor*) = nullptr;
  int (*set_parameter)(int option, std::int64_t value) = nullptr;
  const char* (*recent_error)() = nullptr;
};

/// Calls the C function at address `symbol` with the elements of the tuple as its arguments.
template <class... Arguments>
Status invoke(void* symbol, const std::tuple<Arguments...>& arguments) {
  const auto function = reinterpret_cast<Status (*)(Arguments...)>(symbol);
  return std::apply(function, arguments);
}

}  // namespace assay::adapters::acl
