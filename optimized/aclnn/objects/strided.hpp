#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "assay/spec/layout.hpp"

namespace assay::aclnn {

/// A strided view: describes which elements of a storage belong to a tensor.
struct StridedView {
  const spec::Shape& shape;
  const spec::Shape& strides;  ///< in elements
  std::int64_t offset;         ///< in elements
  std::int64_t element_size;
};

/// Return sizes of a view (bytes), or nothing if the size exceeds 64 bits. `reach`: the distance
/// from the start of the storage to the end of the last viewed element. `packed_size`: the size of
/// all viewed elements without gaps.
std::optional<std::int64_t> reach(const StridedView& view);
std::optional<std::int64_t> packed_size(const StridedView& view);

/// Copies the viewed elements from `storage` to `packed`, in row-major order without gaps.
void gather(const StridedView& view, const std::byte* storage, std::byte* packed);

/// Copies the elements of `packed` to the viewed elements of `storage`. Other bytes of `storage` do
/// not change.
void scatter(const StridedView& view, const std::byte* packed, std::byte* storage);

}  // namespace assay::aclnn
