#include "aclnn/arguments.hpp"

#include <algorithm>

#include "assay/spec/status.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::adapters {
namespace {

/// Returns the storage shape that aclCreateTensor receives. If the view covers its whole storage,
/// this is the shape of the view, as in the example programs of the documentation. Otherwise it is
/// one dimension with all elements of the storage.
spec::Shape storage_shape(const spec::Parameter& p) {
  if (p.offset == 0 && p.strides == spec::contiguous_strides(p.shape)) return p.shape;
  return {std::max<std::int64_t>(0, spec::storage_elements(p.shape, p.strides, p.offset))};
}

/// Returns the address of the values. The address is not null even for an empty vector, because the
/// library would take a null pointer for an absent array.
const std::int64_t* numbers(const std::vector<std::int64_t>& values) {
  static constexpr std::int64_t none = 0;
  return values.empty() ? &none : values.data();
}

std::string shape_text(const spec::Shape& shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + ")";
}

}  // namespace

const acl::Tensor* Arguments::tensor(std::string_view name, const spec::Parameter& p) {
  if (!p.present) return nullptr;
  const spec::Shape storage = storage_shape(p);
  const acl::Functions& f = runtime_.functions();
  const acl::Tensor* made = f.create_tensor(numbers(p.shape), p.shape.size(), acl::code_of(p.dtype),
                                            numbers(p.strides), p.offset, acl::code_of(p.format),
                                            numbers(storage), storage.size(), address_of_(name, p));
  if (!made)
    throw spec::Rejected(spec::Status::param_invalid,
                         "aclCreateTensor returned a null pointer for " + std::string(name) +
                             " of shape " + shape_text(p.shape) + ", strides " +
                             shape_text(p.strides) + ", offset " + std::to_string(p.offset));
  objects_.emplace_back(made, [destroy = f.destroy_tensor](const void* held) {
    destroy(static_cast<const acl::Tensor*>(held));
  });
  return made;
}

const acl::IntArray* Arguments::array(const std::optional<std::vector<std::int64_t>>& values) {
  if (!values) return nullptr;
  const acl::Functions& f = runtime_.functions();
  const acl::IntArray* made = f.create_int_array(numbers(*values), values->size());
  if (!made)
    throw spec::Rejected(spec::Status::param_invalid,
                         "aclCreateIntArray returned a null pointer for an array of " +
                             std::to_string(values->size()) + " values");
  objects_.emplace_back(made, [destroy = f.destroy_int_array](const void* held) {
    destroy(static_cast<const acl::IntArray*>(held));
  });
  return made;
}

char* Arguments::text(const std::optional<std::string>& text) {
  return text ? texts_.emplace_back(*text).data() : nullptr;
}

}  // namespace assay::adapters
