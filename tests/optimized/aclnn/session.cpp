#include "session.hpp"

#include <utility>

namespace assay::test {
namespace {

aclDataType acl(spec::DType dtype) {
  using spec::DType;
  switch (dtype) {
    case DType::fp16:
      return ACL_FLOAT16;
    case DType::bf16:
      return ACL_BF16;
    case DType::fp32:
      return ACL_FLOAT;
    case DType::fp64:
      return ACL_DOUBLE;
    case DType::int8:
      return ACL_INT8;
    case DType::int16:
      return ACL_INT16;
    case DType::int32:
      return ACL_INT32;
    case DType::int64:
      return ACL_INT64;
    case DType::uint8:
      return ACL_UINT8;
    case DType::uint16:
      return ACL_UINT16;
    case DType::uint32:
      return ACL_UINT32;
    case DType::uint64:
      return ACL_UINT64;
    case DType::boolean:
      return ACL_BOOL;
    case DType::hifloat8:
      return ACL_HIFLOAT8;
    case DType::float8_e5m2:
      return ACL_FLOAT8_E5M2;
    case DType::float8_e4m3fn:
      return ACL_FLOAT8_E4M3FN;
  }
  return ACL_DT_UNDEFINED;
}

aclFormat acl(spec::Format format) {
  using spec::Format;
  switch (format) {
    case Format::nd:
      return ACL_FORMAT_ND;
    case Format::nchw:
      return ACL_FORMAT_NCHW;
    case Format::nhwc:
      return ACL_FORMAT_NHWC;
    case Format::ncl:
      return ACL_FORMAT_NCL;
    case Format::nc1hwc0:
      return ACL_FORMAT_NC1HWC0;
    case Format::fractal_z:
      return ACL_FORMAT_FRACTAL_Z;
    case Format::fractal_nz:
      return ACL_FORMAT_FRACTAL_NZ;
  }
  return ACL_FORMAT_UNDEFINED;
}

}  // namespace

std::string recent_message() {
  const char* const message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

Session::Session() {
  recent_message();
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS) << recent_message();
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
}

Session::~Session() { aclFinalize(); }

DeviceBytes::DeviceBytes(std::span<const std::byte> bytes) : size_(bytes.size()) {
  EXPECT_EQ(aclrtMalloc(&start_, size_, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS)
      << recent_message();
  EXPECT_EQ(aclrtMemcpy(start_, size_, bytes.data(), size_, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS)
      << recent_message();
}

DeviceBytes::DeviceBytes(DeviceBytes&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), size_(other.size_) {}

DeviceBytes::~DeviceBytes() {
  if (start_ != nullptr) aclrtFree(start_);
}

std::vector<std::byte> DeviceBytes::download() const {
  std::vector<std::byte> bytes(size_);
  EXPECT_EQ(aclrtMemcpy(bytes.data(), size_, start_, size_, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS)
      << recent_message();
  return bytes;
}

Handles::~Handles() {
  for (const aclTensor* tensor : tensors_) aclDestroyTensor(tensor);
  destroy_arrays();
}

void Handles::destroy_arrays() {
  for (const aclIntArray* array : arrays_) aclDestroyIntArray(array);
  arrays_.clear();
}

aclTensor* Handles::tensor(std::string_view name, const spec::Parameter& p) {
  if (!p.present) return nullptr;
  const auto found = addresses_.find(name);
  aclTensor* const tensor = aclCreateTensor(
      p.shape.data(), p.shape.size(), acl(p.dtype), p.strides.data(), p.offset, acl(p.format),
      p.shape.data(), p.shape.size(), found == addresses_.end() ? nullptr : found->second);
  EXPECT_NE(tensor, nullptr) << name << ": " << recent_message();
  if (name == killed_)
    aclDestroyTensor(tensor);
  else
    tensors_.push_back(tensor);
  return tensor;
}

const aclIntArray* Handles::array(std::string_view name,
                                  const std::optional<std::vector<std::int64_t>>& values) {
  if (!values) return nullptr;
  const aclIntArray* const array = aclCreateIntArray(values->data(), values->size());
  EXPECT_NE(array, nullptr) << name << ": " << recent_message();
  if (name == killed_)
    aclDestroyIntArray(array);
  else
    arrays_.push_back(array);
  return array;
}

char* text(const std::optional<std::string>& text) {
  return text ? const_cast<char*>(text->c_str()) : nullptr;
}

}  // namespace assay::test
