#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "assay/spec/layout.hpp"

namespace assay::aclnn {

/// The viewed elements of a storage.
struct StridedView {
  const spec::Shape& shape;
  const spec::Shape& strides;  ///< in elements
  std::int64_t offset;         ///< in elements
  std::int64_t element_size;
};

/// Bytes of the storage up to the last viewed element, and of all viewed elements side by side;
/// nothing for more than 64 bits count.
std::optional<std::int64_t> reach(const StridedView& view);
std::optional<std::int64_t> packed_size(const StridedView& view);

/// Copies the viewed elements from `storage`, in row-major order, side by side to `packed`.
void gather(const StridedView& view, const std::byte* storage, std::byte* packed);

/// The way back; other bytes of `storage` stay as they are.
void scatter(const StridedView& view, const std::byte* packed, std::byte* storage);

}  // namespace assay::aclnn
