#include "aclnn/objects/strided.hpp"

#include <algorithm>
#include <cstring>

namespace assay::aclnn {
namespace {

std::optional<std::int64_t> product(std::optional<std::int64_t> x, std::int64_t y) {
  std::int64_t result = 0;
  if (!x || __builtin_mul_overflow(*x, y, &result)) return std::nullopt;
  return result;
}

std::optional<std::int64_t> sum(std::optional<std::int64_t> x, std::optional<std::int64_t> y) {
  std::int64_t result = 0;
  if (!x || !y || __builtin_add_overflow(*x, *y, &result)) return std::nullopt;
  return result;
}

bool is_empty(const spec::Shape& shape) { return std::ranges::find(shape, 0) != shape.end(); }

/// Splits a strided view into lines. A line consists of `length` elements with the distance `step`.
/// Before the split, adjacent axes are merged if they are contiguous in the storage; the last axis
/// then gives the lines.
struct Lines {
  spec::Shape shape, strides;
  std::int64_t length = 1, step = 1;
};

Lines lines_of(const StridedView& view) {
  Lines lines;
  for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
    const std::int64_t extent = view.shape[axis], stride = view.strides[axis];
    if (extent == 1) continue;
    if (!lines.shape.empty() && lines.strides.back() == extent * stride) {
      lines.shape.back() *= extent;
      lines.strides.back() = stride;
      continue;
    }
    lines.shape.push_back(extent);
    lines.strides.push_back(stride);
  }
  if (lines.shape.empty()) return lines;
  lines.length = lines.shape.back(), lines.step = lines.strides.back();
  lines.shape.pop_back(), lines.strides.pop_back();
  return lines;
}

/// Calls `line` for every line of the view, in row-major order. The argument is the index of the
/// line's first element in the storage.
template <class Line>
void for_each_line(const Lines& lines, std::int64_t offset, const Line& line) {
  spec::Shape index(lines.shape.size(), 0);
  std::int64_t element = offset;
  while (true) {
    line(element);
    std::size_t axis = index.size();
    while (axis > 0) {
      --axis;
      element += lines.strides[axis];
      if (++index[axis] < lines.shape[axis]) break;
      element -= lines.strides[axis] * lines.shape[axis];
      index[axis] = 0;
      if (axis == 0) return;
    }
    if (index.empty()) return;
  }
}

/// Describes the copy of one line: `count` elements, each of `size` bytes; strides in bytes.
struct Run {
  std::int64_t count, size, from_step, to_step;
};

template <std::size_t size>
void copy_elements(const Run& run, const std::byte* from, std::byte* to) {
  for (std::int64_t k = 0; k < run.count; ++k, from += run.from_step, to += run.to_step)
    std::memcpy(to, from, size);
}

void copy(const Run& run, const std::byte* from, std::byte* to) {
  if (run.from_step == run.size && run.to_step == run.size) {
    std::memcpy(to, from, static_cast<std::size_t>(run.count * run.size));
    return;
  }
  switch (run.size) {
    case 1:
      return copy_elements<1>(run, from, to);
    case 2:
      return copy_elements<2>(run, from, to);
    case 4:
      return copy_elements<4>(run, from, to);
    default:
      return copy_elements<8>(run, from, to);
  }
}

}  // namespace

std::optional<std::int64_t> reach(const StridedView& view) {
  if (is_empty(view.shape)) return 0;
  std::optional<std::int64_t> elements = sum(view.offset, 1);
  for (std::size_t axis = 0; axis < view.shape.size(); ++axis)
    elements = sum(elements, product(view.shape[axis] - 1, view.strides[axis]));
  return product(elements, view.element_size);
}

std::optional<std::int64_t> packed_size(const StridedView& view) {
  if (is_empty(view.shape)) return 0;
  std::optional<std::int64_t> bytes = view.element_size;
  for (const std::int64_t extent : view.shape) bytes = product(bytes, extent);
  return bytes;
}

void gather(const StridedView& view, const std::byte* storage, std::byte* packed) {
  if (is_empty(view.shape)) return;
  const Lines lines = lines_of(view);
  const std::int64_t size = view.element_size;
  for_each_line(lines, view.offset, [&](std::int64_t element) {
    copy({lines.length, size, lines.step * size, size}, storage + element * size, packed);
    packed += lines.length * size;
  });
}

void scatter(const StridedView& view, const std::byte* packed, std::byte* storage) {
  if (is_empty(view.shape)) return;
  const Lines lines = lines_of(view);
  const std::int64_t size = view.element_size;
  for_each_line(lines, view.offset, [&](std::int64_t element) {
    copy({lines.length, size, size, lines.step * size}, packed, storage + element * size);
    packed += lines.length * size;
  });
}

}  // namespace assay::aclnn
