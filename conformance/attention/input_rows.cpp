#include "attention/input_rows.hpp"

#include <cstddef>

#include "assay/spec/at.hpp"

namespace assay::conformance::attention {

using spec::at;

InputRows::InputRows(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents)
    : main_(tensor, layout, extents), width_(extents.dim) {}

void InputRows::add_rope(const spec::Tensor& rope, spec::Layout layout,
                         const spec::Extents& extents) {
  rope_.emplace(rope, layout, extents);
  width_ = main_.extents().dim + extents.dim;
}

void InputRows::read(const spec::RowPosition& row, float* to) const {
  const std::int64_t dim = main_.extents().dim;
  main_.read_row(row.b, row.n, row.s, std::span(to, at(dim)));
  if (rope_) rope_->read_row(row.b, row.n, row.s, std::span(to + dim, at(width_ - dim)));
}

FloatRow InputRows::row(const spec::RowPosition& row) const {
  FloatRow numbers(width_);
  read(row, numbers.data());
  return numbers;
}

HeadRows::HeadRows(const InputRows& from, const spec::RowPosition& first, std::int64_t heads)
    : from_(from), first_(first), count_(heads * from.length(first.b)) {}
HeadRows::HeadRows(const InputRows& from, const spec::RowPosition& first,
                   std::span<const std::int64_t> chosen)
    : from_(from), first_(first), count_(std::ssize(chosen)), chosen_(chosen) {}

void HeadRows::read(std::int64_t first, std::int64_t count, float* to) const {
  const std::int64_t length = from_.length(first_.b);
  for (std::int64_t k = first; k < first + count; ++k, to += from_.width()) {
    const std::int64_t number = chosen_ ? (*chosen_)[at(k)] : k;
    from_.read({first_.b, first_.n + number / length, number % length}, to);
  }
}

engine::Rows HeadRows::rows() const {
  return {.data = nullptr, .rows = count_, .dim = from_.width(), .source = this};
}

}  // namespace assay::conformance::attention
