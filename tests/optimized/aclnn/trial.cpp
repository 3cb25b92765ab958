#include "trial.hpp"

namespace assay::test {
namespace {

/// Returns 64 random bits for a counter, with the generator splitmix64.
std::uint64_t noise(std::uint64_t counter) {
  counter += 0x9E3779B97F4A7C15U;
  counter = (counter ^ counter >> 30) * 0xBF58476D1CE4E5B9U;
  counter = (counter ^ counter >> 27) * 0x94D049BB133111EBU;
  return counter ^ counter >> 31;
}

double element(std::string_view name, spec::DType dtype, std::uint64_t bits) {
  const double number = static_cast<double>(bits >> 11) * 0x1p-52 - 1;
  if (name == "drop_mask") return static_cast<double>(bits % 256);
  if (name == "softmax_sum") return 2 + number;
  if (name == "softmax_max") return 1;
  if (dtype == spec::DType::int32 || dtype == spec::DType::uint8 || dtype == spec::DType::boolean)
    return static_cast<double>(bits % 2);
  return number;
}

}  // namespace

spec::Tensor storage_of(const spec::Parameter& parameter, std::byte fill) {
  spec::Tensor tensor{.dtype = parameter.dtype,
                      .shape = parameter.shape,
                      .strides = parameter.strides,
                      .offset = parameter.offset,
                      .bytes = {}};
  const std::int64_t elements =
      spec::storage_elements(tensor.shape, tensor.strides, tensor.offset) + 2;
  tensor.bytes.assign(static_cast<std::size_t>(elements * spec::size_of(tensor.dtype)), fill);
  return tensor;
}

void fill_with_noise(std::string_view name, spec::Tensor& tensor) {
  std::uint64_t counter = std::hash<std::string_view>()(name);
  if (name == "atten_mask") {  // too large to fill element by element
    for (std::byte& byte : tensor.bytes)
      byte = static_cast<std::byte>((counter += 0x9E3779B97F4A7C15U) >> 63);
    return;
  }
  for (const std::int64_t at : spec::viewed_elements(tensor))
    tensor.store(at, element(name, tensor.dtype, noise(counter++)));
}

void Uploaded::add(std::string_view name, const spec::Tensor& tensor) {
  bytes_.emplace(name, DeviceBytes(tensor.bytes));
}

Addresses Uploaded::addresses() const {
  Addresses addresses;
  for (const auto& [name, bytes] : bytes_) addresses[name] = bytes.get();
  return addresses;
}

std::vector<std::byte> Uploaded::download(std::string_view name) const {
  return bytes_.at(name).download();
}

Workspace::Workspace(std::uint64_t size) {
  if (size == 0) return;
  EXPECT_EQ(aclrtMalloc(&start_, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS) << recent_message();
}

Workspace::~Workspace() {
  if (start_ != nullptr) aclrtFree(start_);
}

}  // namespace assay::test
