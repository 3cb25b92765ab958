#include "aclnn/objects/operands.hpp"

#include <algorithm>
#include <stdexcept>

#include "aclnn/aclnn_base.h"
#include "aclnn/objects/strided.hpp"
#include "aclnn/runtime/failure.hpp"
#include "aclnn/runtime/process.hpp"

namespace assay::aclnn {
namespace {

StridedView strided(const TensorView& view) {
  return {view.shape, view.strides, view.offset, element_size(view.dtype)};
}

Failure invalid(std::string_view name, const std::string& what) {
  return {ACLNN_ERR_PARAM_INVALID, std::string(name) + what};
}

/// Returns the size of the tensor (bytes). Errors: Failure if it exceeds the device memory or 64
/// bits.
std::int64_t within_device(std::string_view name, std::optional<std::int64_t> bytes,
                           const Memory& memory) {
  const auto capacity = static_cast<std::int64_t>(memory.capacity());
  if (!bytes || *bytes > capacity)
    throw invalid(name, " is larger than the " + std::to_string(capacity) + " B of the device");
  return *bytes;
}

/// Returns the allocation that contains the elements, or null if the tensor has no elements.
std::shared_ptr<const Allocation> memory_of(std::string_view name, const TensorView& view,
                                            const Memory& memory) {
  if (within_device(name, packed_size(strided(view)), memory) == 0) return nullptr;
  const std::int64_t reached = within_device(name, reach(strided(view)), memory);
  if (view.start == nullptr)
    throw Failure(ACLNN_ERR_PARAM_NULLPTR, std::string(name) + " has elements, but no memory");
  return memory.holding(view.start, static_cast<std::size_t>(reached), name);
}

}  // namespace

SequenceLengths lengths_of(const std::vector<std::int64_t>& sums) {
  SequenceLengths lengths = {.all = {}, .longest = 0};
  std::int64_t start = 0;
  for (const std::int64_t end : sums) {
    lengths.all.push_back(end - start);
    lengths.longest = std::max(lengths.longest, lengths.all.back());
    start = end;
  }
  return lengths;
}

const Bindings::Binding* Bindings::find(std::string_view name) const {
  const auto found = std::ranges::find(bindings_, name, &Binding::name);
  return found == bindings_.end() ? nullptr : &*found;
}

const Bindings::Binding& Bindings::given(std::string_view name) const {
  const Binding* const found = find(name);
  if (found == nullptr) throw std::logic_error("no tensor is bound to " + std::string(name));
  return *found;
}

spec::Tensor Bindings::blank(std::string_view name) const {
  const TensorView& view = *given(name).view;
  return spec::contiguous_tensor(dtype_of(view.dtype).value(), view.shape);
}

spec::Tensor Bindings::gather(std::string_view name) const {
  const TensorView& view = *given(name).view;
  spec::Tensor tensor = blank(name);
  aclnn::gather(strided(view), view.start, tensor.bytes.data());
  return tensor;
}

std::optional<spec::Tensor> Bindings::gather_if_given(std::string_view name) const {
  if (find(name) == nullptr) return std::nullopt;
  return gather(name);
}

void Bindings::scatter(std::string_view name, const spec::Tensor& values) const {
  const TensorView& view = *given(name).view;
  aclnn::scatter(strided(view), values.bytes.data(), view.start);
}

spec::Parameter Operands::tensor(std::string_view name, const aclTensor* handle) {
  return describe(name, handle, true);
}

spec::Parameter Operands::reserved(std::string_view name, const aclTensor* handle) {
  return describe(name, handle, false);
}

spec::Parameter Operands::describe(std::string_view name, const aclTensor* handle, bool touched) {
  if (handle == nullptr) return {};
  auto view = Process::get().tensors.find(handle);
  if (view == nullptr)
    throw invalid(name, " is not a valid aclTensor: it was destroyed or never created");
  const auto dtype = dtype_of(view->dtype);
  if (!dtype)
    notes_ += " (" + std::string(name) + " has aclDataType " + text_of(view->dtype) +
              ", which is treated as fp64; operators support neither type)";
  spec::Parameter parameter = {.present = true,
                               .dtype = dtype.value_or(spec::DType::fp64),
                               .format = format_of(view->format),
                               .shape = view->shape,
                               .strides = view->strides,
                               .offset = view->offset};
  operands_.push_back({name, handle, std::move(view), touched});
  return parameter;
}

std::optional<std::vector<std::int64_t>> Operands::array(std::string_view name,
                                                         const aclIntArray* handle) {
  if (handle == nullptr) return std::nullopt;
  const auto found = Process::get().int_arrays.find(handle);
  if (found == nullptr)
    throw invalid(name, " is not a valid aclIntArray: it was destroyed or never created");
  arrays_.push_back({name, handle});
  return found->values;
}

void Operands::require_size(const Memory& memory) const {
  for (const Operand& operand : operands_)
    within_device(operand.name, packed_size(strided(*operand.view)), memory);
}

void Operands::require_alive() const {
  for (const Operand& operand : operands_)
    if (Process::get().tensors.find(operand.handle) == nullptr)
      throw invalid(operand.name, " was destroyed between phase 1 and phase 2");
  for (const Array& array : arrays_)
    if (Process::get().int_arrays.find(array.handle) == nullptr)
      throw invalid(array.name, " was destroyed between phase 1 and phase 2");
}

Bindings Operands::bind(const Memory& memory) const {
  std::vector<Bindings::Binding> bindings;
  for (const Operand& operand : operands_)
    if (operand.touched && !operand.view->shape.empty())
      bindings.push_back(
          {operand.name, operand.view, memory_of(operand.name, *operand.view, memory)});
  return Bindings(std::move(bindings));
}

}  // namespace assay::aclnn
