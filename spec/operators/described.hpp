#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "assay/spec/striding.hpp"

/// Parts that the calls of all operators are made of.
namespace assay::spec::detail {

/// The descriptor of a tensor that is there.
inline Parameter described(DType dtype, const Shape& shape, Striding striding) {
  Parameter result{.present = true, .dtype = dtype, .shape = shape};
  apply_striding(result, striding);
  return result;
}

/// Inclusive sums; none of none.
inline std::vector<std::int64_t> running_sums(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> sums(lengths.size());
  std::partial_sum(lengths.begin(), lengths.end(), sums.begin());
  return sums;
}

/// What the documents call the actual sequence lengths: one sum per sequence.
inline std::vector<std::int64_t> ends_of(const Extents& extents) {
  std::vector<std::int64_t> ends;
  for (std::int64_t b = 0; b < extents.batch; ++b) ends.push_back(extents.start(b + 1));
  return ends;
}

}  // namespace assay::spec::detail
