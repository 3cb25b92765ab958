#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/reference/operands.hpp"
#include "assay/reference/real.hpp"

namespace assay::reference {

template <class Real>
std::vector<Real> zeros(std::int64_t size) {
  return std::vector<Real>(static_cast<std::size_t>(size), Real(0));
}

/// Returns the dot product of two rows; a row is a vector or a span.
template <class Row, class Other>
typename Row::value_type dot(const Row& a, const Other& b) {
  typename Row::value_type sum(0);
  for (std::size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

template <class Real, class Row>
void add_scaled(std::vector<Real>& sum, const Real& factor, const Row& row) {
  for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += factor * row[d];
}

/// Returns row number `index` of a dense array that has rows of `dim` elements.
template <class Real, class Element>
RowOf<Real> row(const std::vector<Element>& elements, std::int64_t index, std::int64_t dim) {
  const auto first = elements.begin() + index * dim;
  return RowOf<Real>(first, first + dim);
}

/// Returns row number `index` of a tensor, which is read now.
template <class Real>
RowOf<Real> row(const TensorRows& rows, std::int64_t index, std::int64_t dim) {
  std::vector<double> values(static_cast<std::size_t>(dim));
  rows.read(index, values);
  RowOf<Real> row;
  row.reserve(values.size());
  for (const double value : values)
    row.push_back(static_cast<typename RowOf<Real>::value_type>(value));
  return row;
}

/// Returns a view of a row without a copy, for arrays that are stored in the type of the
/// arithmetic.
template <class Real>
std::span<const Real> row_of(const std::vector<Real>& elements, std::int64_t index,
                             std::int64_t dim) {
  return std::span(elements).subspan(static_cast<std::size_t>(index * dim),
                                     static_cast<std::size_t>(dim));
}

/// Returns row number `index` of a tensor, followed by row `index` of its rope part. Scores are dot
/// products of such rows.
template <class Real, class Element>
RowOf<Real> joined_row(const std::vector<Element>& elements, std::int64_t dim,
                       const std::vector<Element>& rope, std::int64_t dim_rope,
                       std::int64_t index) {
  RowOf<Real> joined = row<Real>(elements, index, dim);
  const auto first = rope.begin() + index * dim_rope;
  joined.insert(joined.end(), first, first + dim_rope);
  return joined;
}

template <class Real>
RowOf<Real> joined_row(const TensorRows& rows, std::int64_t dim, const TensorRows& rope,
                       std::int64_t dim_rope, std::int64_t index) {
  RowOf<Real> joined = row<Real>(rows, index, dim);
  if (dim_rope == 0) return joined;
  const RowOf<Real> rest = row<Real>(rope, index, dim_rope);
  joined.insert(joined.end(), rest.begin(), rest.end());
  return joined;
}

/// Splits a row of `joined_row`: keeps the first `dim` elements in `joined` and returns the rope
/// part.
template <class Real>
std::vector<Real> split_rope(std::vector<Real>& joined, std::int64_t dim) {
  std::vector<Real> rope(joined.begin() + dim, joined.end());
  joined.resize(static_cast<std::size_t>(dim));
  return rope;
}

}  // namespace assay::reference
