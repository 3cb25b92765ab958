#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aclnn/library.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::adapters {

/// A buffer in device memory. Errors: spec::ImplementationFault (out_of_memory) if the device
/// cannot allocate this many bytes.
class DeviceBuffer {
 public:
  DeviceBuffer(std::shared_ptr<const AclRuntime> runtime, std::int64_t size);

  std::byte* address() const { return static_cast<std::byte*>(address_.get()); }
  std::int64_t size() const { return size_; }
  void upload(std::int64_t offset, const void* from, std::int64_t count) const;
  void download(std::int64_t offset, void* to, std::int64_t count) const;

 private:
  void copy(void* to, const void* from, std::int64_t count, int kind) const;

  std::shared_ptr<const AclRuntime> runtime_;
  std::unique_ptr<void, std::function<void(void*)>> address_;
  std::int64_t size_;
};

/// The device memory of a call: tensors and workspace, each between two guards (memory with known
/// bytes). Later calls reuse the buffers.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::shared_ptr<const AclRuntime> runtime);

  /// Releases the buffers of the last call, so that the next call can reuse them.
  void clear();
  /// Copies the storage of an input to the device. The tensor must stay alive until `collect` is
  /// called.
  void* place_input(std::string_view name, const spec::Tensor& tensor);
  void* place_output(std::string_view name, spec::Tensor& tensor);
  void* place_zeros(std::string_view name, std::int64_t size);
  /// Allocates device memory without setting its contents.
  void* place_room(std::string_view name, std::int64_t size);
  /// Copies the storages of the outputs back to the host. Errors: spec::ImplementationFault if the
  /// kernel wrote to a guard or to an input.
  void collect();

 private:
  struct Place {
    DeviceBuffer buffer;
    std::string name = {};
    std::int64_t size = 0;  ///< without the guards
    const spec::Tensor* input = nullptr;
    spec::Tensor* output = nullptr;
  };

  Place& next(std::string_view name, std::int64_t size);
  /// Copies bytes from a storage to the device. If the storage is sparse, only its allocated pieces
  /// are copied.
  static void upload(const Place& place, const spec::Storage& bytes);
  static void download(const Place& place, const spec::Storage& pieces, std::byte* to);
  void check_guards(const Place& place);
  void check_input(const Place& place);

  std::shared_ptr<const AclRuntime> runtime_;
  std::vector<Place> places_;
  std::size_t used_ = 0;
  spec::Storage scratch_;
};

}  // namespace assay::adapters
