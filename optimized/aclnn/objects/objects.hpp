#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "assay/spec/call.hpp"

namespace assay::aclnn {

/// A description of device memory, as its creator gave it.
struct TensorView {
  aclDataType dtype;
  aclFormat format;
  spec::Shape shape, strides;  ///< strides in elements
  std::int64_t offset;         ///< in elements
  spec::Shape storage_shape;
  std::byte* start;
};

/// Null for a place that was left empty.
struct TensorList {
  std::vector<const aclTensor*> tensors;
};

struct IntArray {
  std::vector<std::int64_t> values;
};

struct Scalar {
  aclDataType dtype;
  std::array<std::byte, 16> bytes;  ///< of the element, in front
};

/// What the caller says of a tensor. Arrays may be null where their number is 0; null strides stand
/// for a row-major view.
struct TensorDescription {
  const std::int64_t* dims;
  std::uint64_t rank;
  aclDataType dtype;
  const std::int64_t* strides;
  std::int64_t offset;
  aclFormat format;
  const std::int64_t* storage_dims;
  std::uint64_t storage_rank;
  void* start;
};

/// Errors: Failure for what describes no tensor, naming the culprit.
TensorView tensor_view(const TensorDescription& description);

/// The type of the contract; nothing for one that it does not know.
std::optional<spec::DType> dtype_of(aclDataType dtype);
/// Formats that the contract does not know are taken for the nearest: plain or private.
spec::Format format_of(aclFormat format);
/// Bytes of one element; 0 for a type without a size of its own.
std::int64_t element_size(aclDataType dtype);
/// "27".
std::string text_of(aclDataType dtype);

}  // namespace assay::aclnn
