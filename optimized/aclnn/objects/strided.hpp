#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "assay/spec/layout.hpp"

namespace assay::aclnn {

/// A strided view: the elements of a storage that belong to a tensor.
struct StridedView {
  const spec::Shape& shape;
  const spec::Shape& strides;  ///< in elements
  std::int64_t offset;         ///< in elements
  std::int64_t element_size;
};

/// Returns two sizes of a view (bytes): the size of the storage up to the end of the last viewed
/// element, and the size of all viewed elements without gaps. Returns nothing if a size exceeds 64
/// bits.
std::optional<std::int64_t> reach(const StridedView& view);
std::optional<std::int64_t> packed_size(const StridedView& view);

/// Copies the viewed elements from `storage` to `packed`, in row-major order without gaps.
void gather(const StridedView& view, const std::byte* storage, std::byte* packed);

/// Copies from `packed` to the viewed elements; other bytes of `storage` do not change.
void scatter(const StridedView& view, const std::byte* packed, std::byte* storage);

}  // namespace assay::aclnn
