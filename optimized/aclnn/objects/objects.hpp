#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "assay/spec/call.hpp"

namespace assay::aclnn {

/// The description of a tensor in device memory, with the values that its creator passed.
struct TensorView {
  aclDataType dtype;
  aclFormat format;
  spec::Shape shape, strides;  ///< strides in elements
  std::int64_t offset;         ///< in elements
  spec::Shape storage_shape;
  std::byte* start;
};

/// A list of tensors. A null entry stands for an absent tensor.
struct TensorList {
  std::vector<const aclTensor*> tensors;
};

struct IntArray {
  std::vector<std::int64_t> values;
};

struct Scalar {
  aclDataType dtype;
  std::array<std::byte, 16> bytes;  ///< the element, from byte 0 on
};

/// The arguments with which a caller describes a tensor. An array may be null if its size is 0;
/// null strides mean a row-major view.
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

/// Creates a tensor description. Errors: Failure if it is invalid; the message names the argument.
TensorView tensor_view(const TensorDescription& description);

/// Returns the type in namespace spec for an aclDataType, or nothing if spec does not define this
/// type.
std::optional<spec::DType> dtype_of(aclDataType dtype);
/// Returns the format in namespace spec for an aclFormat. Formats that spec does not define become
/// plain or private.
spec::Format format_of(aclFormat format);
/// Returns the bytes of one element. Returns 0 if an element does not have a whole number of bytes.
std::int64_t element_size(aclDataType dtype);
/// Formats the type as the number of its enumeration value, such as "27".
std::string text_of(aclDataType dtype);

}  // namespace assay::aclnn
