#include "assay/spec/striding.hpp"

#include <algorithm>
#include <utility>

#include "assay/spec/dtype.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::spec {
namespace {

/// The number of unused elements at the end of each innermost row and before the first row of a
/// padded view.
constexpr std::int64_t padding = 3;

/// Sets strides and offset. Each row of the storage has `elements` unused elements at its end, and
/// the view begins after `elements` unused elements.
void pad(Parameter& parameter, Shape storage, std::int64_t elements) {
  storage.back() += elements;
  parameter.strides = contiguous_strides(storage);
  parameter.offset = elements;
}

/// Does the same as `pad`, with a different number of unused elements for each tensor of a call
/// (`number` is its index). Every third tensor also has its first two axes exchanged in memory. A
/// tensor with one axis is contiguous, after an offset.
void mix(Parameter& parameter, std::int64_t number) {
  Shape storage = parameter.shape;
  const std::int64_t distance = number + 1;
  if (storage.size() < 2) {
    parameter.offset = distance;
    return;
  }
  const bool exchanged = number % 3 == 2;
  if (exchanged) std::swap(storage[0], storage[1]);
  pad(parameter, storage, distance);
  if (exchanged) std::swap(parameter.strides[0], parameter.strides[1]);
}

/// Exchanges two axes in memory; the shape does not change.
void exchange(Parameter& parameter, std::size_t a, std::size_t b) {
  Shape storage = parameter.shape;
  std::swap(storage[a], storage[b]);
  parameter.strides = contiguous_strides(storage);
  std::swap(parameter.strides[a], parameter.strides[b]);
}

/// Makes the span of the view at least `far_elements` elements, by a larger stride of the first
/// axis with several elements. If no axis has several elements, or the tensor has only one axis,
/// the function makes the offset larger instead.
void spread(Parameter& parameter) {
  const Shape& shape = parameter.shape;
  if (element_count(shape) == 0) return;
  const auto axis =
      std::ranges::find_if(shape, [](std::int64_t extent) { return extent > 1; }) - shape.begin();
  if (axis == std::ssize(shape) || shape.size() == 1) {
    parameter.offset = far_elements;
    return;
  }
  const auto k = static_cast<std::size_t>(axis);
  const std::int64_t steps = shape[k] - 1;
  // All axes before this one have only one element, so the stride of this axis can grow without an
  // overlap.
  parameter.strides[k] = std::max(parameter.strides[k] + 1, (far_elements + steps - 1) / steps);
}

}  // namespace

void apply_striding(Parameter& parameter, Striding striding, std::int64_t number) {
  const Shape& shape = parameter.shape;
  parameter.strides = contiguous_strides(shape);
  parameter.offset = 0;
  if (shape.empty()) return;
  switch (striding) {
    case Striding::contiguous:
      return;
    case Striding::padded:
      if (shape.size() > 1) pad(parameter, shape, padding);
      return;
    case Striding::transposed:
      if (shape.size() > 1) exchange(parameter, 0, 1);
      return;
    case Striding::columns:
      if (shape.size() > 1) exchange(parameter, shape.size() - 2, shape.size() - 1);
      return;
    case Striding::mixed:
      return mix(parameter, number);
    case Striding::far:
      return spread(parameter);
  }
}

std::int64_t storage_bytes(const Parameter& parameter) {
  return storage_elements(parameter.shape, parameter.strides, parameter.offset) *
         size_of(parameter.dtype);
}

bool is_sparse(const Parameter& parameter) {
  constexpr std::int64_t many_bytes = std::int64_t{1} << 30, few_of_them = 8;
  if (!parameter.present) return false;
  const std::int64_t bytes = storage_bytes(parameter);
  return bytes >= many_bytes &&
         element_count(parameter.shape) * size_of(parameter.dtype) <= bytes / few_of_them;
}

void Strides::set(std::string_view tensor, Striding striding) {
  std::erase_if(named_, [&](const auto& entry) { return entry.first == tensor; });
  if (striding == all_) return;
  named_.emplace_back(tensor, striding);
  std::ranges::sort(named_);
}

Striding Strides::of(std::string_view tensor) const {
  for (const auto& [name, striding] : named_)
    if (name == tensor) return striding;
  return all_;
}

bool Strides::is_contiguous() const { return all_ == Striding::contiguous && named_.empty(); }

std::string to_text(const Strides& strides) {
  std::string text;
  if (strides.all() != Striding::contiguous || strides.named().empty())
    text = to_string(strides.all());
  for (const auto& [name, striding] : strides.named())
    text += (text.empty() ? "" : ",") + name + ':' + std::string(to_string(striding));
  return text;
}

}  // namespace assay::spec
