#pragma once

#include <cstdint>

namespace assay::aclnn {

/// Adds up the bytes of the aligned buffers that a kernel keeps in global memory.
class WorkspaceSize {
 public:
  void add_floats(std::int64_t count) {
    constexpr std::int64_t boundary = 512;
    constexpr auto size = static_cast<std::int64_t>(sizeof(float));
    bytes_ += (count * size + boundary - 1) / boundary * boundary;
  }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(bytes_); }

 private:
  std::int64_t bytes_ = 0;
};

}  // namespace assay::aclnn
