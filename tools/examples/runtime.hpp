#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

/// Code that the example programs share: a device, tensors whose elements follow a formula, the two
/// phases of an aclnn call, and a table of results.
namespace example {

/// Checks the status of an ACL function. Errors: std::runtime_error with the name of the function
/// if the status is not ACL_SUCCESS.
inline void demand(const char* function, int status) {
  if (status == ACL_SUCCESS) return;
  const char* text = aclGetRecentErrMsg();
  throw std::runtime_error(std::string(function) + " answered " + std::to_string(status) + ": " +
                           (text ? text : ""));
}

/// Device memory.
class Buffer {
 public:
  explicit Buffer(std::size_t size) {
    if (size > 0) demand("aclrtMalloc", aclrtMalloc(&address_, size, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  ~Buffer() {
    if (address_) aclrtFree(address_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* address() const { return address_; }

 private:
  void* address_ = nullptr;
};

/// Initializes the ACL runtime with a device and a stream, and releases them at the end.
class Runtime {
 public:
  Runtime() {
    demand("aclInit", aclInit(nullptr));
    demand("aclrtSetDevice", aclrtSetDevice(0));
    demand("aclrtCreateStream", aclrtCreateStream(&stream_));
  }
  ~Runtime() {
    aclrtDestroyStream(stream_);
    aclrtResetDevice(0);
    aclFinalize();
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Runs both phases of an aclnn operator. `phase1` computes the workspace size. It gets two
  /// pointers, for the size and the executor: the last parameters of every phase-1 function.
  template <class Phase1, class Phase2>
  void run(Phase1&& phase1, Phase2&& phase2) {
    std::uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    demand("phase 1", phase1(&size, &executor));
    const Buffer workspace(size);
    demand("phase 2", phase2(workspace.address(), size, executor, stream_));
    demand("aclrtSynchronizeStream", aclrtSynchronizeStream(stream_));
  }

 private:
  aclrtStream stream_ = nullptr;
};

/// These functions describe the element types of the examples: the size in bytes, and the
/// conversion from float and to float.
inline std::size_t bytes_of(aclDataType type) {
  switch (type) {
    case ACL_UINT8:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
      return 2;
    default:
      return 4;
  }
}

inline void store(aclDataType type, float value, void* element) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  if (type == ACL_FLOAT16) bits = aclFloatToFloat16(value);
  if (type == ACL_BF16) bits >>= 16;  // the examples use only numbers whose lower bits are zero
  if (type == ACL_INT32 || type == ACL_UINT8) bits = static_cast<std::uint32_t>(value);
  std::memcpy(element, &bits, bytes_of(type));
}

inline float load(aclDataType type, const void* element) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, element, bytes_of(type));
  if (type == ACL_FLOAT16) return aclFloat16ToFloat(static_cast<aclFloat16>(bits));
  if (type == ACL_BF16) bits <<= 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// A contiguous tensor on the device. Element k is value(k).
class Tensor {
 public:
  using Value = std::function<float(std::int64_t k)>;

  Tensor(std::vector<std::int64_t> shape, aclDataType type, const Value& value)
      : type_(type), size_(count(shape)), buffer_(size_ * bytes_of(type)) {
    std::vector<char> host(size_ * bytes_of(type));
    for (std::size_t k = 0; k < size_; ++k)
      store(type, value(static_cast<std::int64_t>(k)), host.data() + k * bytes_of(type));
    demand("aclrtMemcpy", aclrtMemcpy(buffer_.address(), host.size(), host.data(), host.size(),
                                      ACL_MEMCPY_HOST_TO_DEVICE));
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t axis = shape.size(); axis-- > 1;)
      strides[axis - 1] = strides[axis] * shape[axis];
    tensor_ = aclCreateTensor(shape.data(), shape.size(), type, strides.data(), 0, ACL_FORMAT_ND,
                              shape.data(), shape.size(), buffer_.address());
    if (!tensor_) throw std::runtime_error("aclCreateTensor did not create a tensor");
  }
  /// Makes a tensor with equal elements.
  Tensor(std::vector<std::int64_t> shape, aclDataType type, float value)
      : Tensor(std::move(shape), type, [value](std::int64_t) { return value; }) {}
  ~Tensor() { aclDestroyTensor(tensor_); }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  aclTensor* get() const { return tensor_; }

  std::vector<float> values() const {
    std::vector<char> host(size_ * bytes_of(type_));
    demand("aclrtMemcpy", aclrtMemcpy(host.data(), host.size(), buffer_.address(), host.size(),
                                      ACL_MEMCPY_DEVICE_TO_HOST));
    std::vector<float> values;
    for (std::size_t k = 0; k < size_; ++k)
      values.push_back(load(type_, host.data() + k * bytes_of(type_)));
    return values;
  }

 private:
  static std::size_t count(const std::vector<std::int64_t>& shape) {
    std::int64_t product = 1;
    for (const std::int64_t extent : shape) product *= extent;
    return static_cast<std::size_t>(product);
  }

  aclDataType type_;
  std::size_t size_;
  Buffer buffer_;
  aclTensor* tensor_ = nullptr;
};

/// An array of integers in host memory, such as a list of sequence lengths.
class Array {
 public:
  explicit Array(const std::vector<std::int64_t>& values)
      : array_(aclCreateIntArray(values.data(), values.size())) {}
  ~Array() { aclDestroyIntArray(array_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  const aclIntArray* get() const { return array_; }

 private:
  aclIntArray* array_;
};

/// Compares the results of an example with their formulas, and prints both.
class Results {
 public:
  /// Checks that element k of `tensor` is expected(k). The allowed error is `tolerance` times the
  /// largest magnitude of the expected values.
  void compare(const char* name, const Tensor& tensor, const Tensor::Value& expected,
               float tolerance = 0) {
    const std::vector<float> values = tensor.values();
    float largest = 0, worst = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const float expected_value = expected(static_cast<std::int64_t>(k));
      largest = std::fmax(largest, std::fabs(expected_value));
      const float error = std::fabs(values[k] - expected_value);
      worst = error <= worst ? worst : error;
    }
    const bool right = worst <= tolerance * largest;
    std::printf("%-10s %zu elements, the last %.9g, expected %.9g, worst error %.2g: %s\n", name,
                values.size(), values.back(),
                expected(static_cast<std::int64_t>(values.size()) - 1), worst,
                right ? "right" : "WRONG");
    all_right_ = all_right_ && right;
  }
  /// Returns the exit code of the program: 0 if all results were right, otherwise 1.
  int exit_code() const { return all_right_ ? 0 : 1; }

 private:
  bool all_right_ = true;
};

/// Runs `body` with a device, and returns the exit code of the program.
template <class Body>
int run(Body&& body) {
  try {
    Runtime runtime;
    Results results;
    body(runtime, results);
    return results.exit_code();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}

}  // namespace example
