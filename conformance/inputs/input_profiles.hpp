#pragma once

#include <cstdint>

#include "assay/conformance/inputs/random.hpp"
#include "assay/spec/call.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::conformance {

/// The position of an element, and the random numbers for it.
struct Place {
  Stream tensor;
  spec::DType dtype;
  std::int64_t s, d;
  Random row;                      ///< random numbers of (b, n, s)
  Random head;                     ///< random numbers of (b, n), shared by all its rows
  std::int64_t rows = 0, dim = 0;  ///< number of rows and channels of the head

  bool is(Stream which) const { return tensor == which; }
  bool half() const { return dtype == spec::DType::fp16; }
  double normal() const { return factor * row.normal(static_cast<std::uint64_t>(d)); }
  double head_normal() const { return factor * head.normal(static_cast<std::uint64_t>(d)); }
  double uniform() const { return row.uniform(static_cast<std::uint64_t>(d)); }

  /// The random generator returns multiples of 2^-16, which leave low bits of the significand zero.
  /// The product with this factor uses all bits of an fp32 significand.
  static constexpr double factor = 0x1.f0f3b6d7a9c51p-1;
};

/// The random numbers of a tensor: one generator for each head (b, n), and one for each row (b, n,
/// s).
class DrawnPlaces {
 public:
  DrawnPlaces(std::uint64_t seed, Stream which) : random_(stream(seed, which)) {}

  Random head(std::int64_t b, std::int64_t n) const {
    return random_.at({0, number(n), number(b)});
  }
  Random row(std::int64_t b, std::int64_t n, std::int64_t s) const {
    return random_.at({number(s), number(n), number(b)});
  }

 private:
  /// Returns index + 1. The index 0 is reserved for "all indices".
  static std::uint64_t number(std::int64_t index) { return static_cast<std::uint64_t>(index) + 1; }

  Random random_;
};

/// A function that returns the value that an input profile (distribution of the input values) has
/// at an element.
using ProfileValue = double (*)(const Place& place);

/// Selects about one in `one_in` rows or elements. The selection does not depend on the random
/// values of the elements.
inline bool chosen(const Random& random, std::int64_t index, std::uint64_t one_in) {
  constexpr std::uint64_t beyond_every_element = std::uint64_t{1} << 63;
  return random.bits(beyond_every_element + static_cast<std::uint64_t>(index)) % one_in == 0;
}

/// Value functions of the input profiles (distributions of the input values) that all operators
/// share. dy is the incoming gradient of a gradient operator.
namespace profile {

inline double normal(const Place& p) { return p.normal(); }
inline double all_positive(const Place& p) { return p.uniform(); }
inline double offset(const Place& p) { return 3 + 0.5 * p.normal(); }
inline double outliers(const Place& p) { return p.normal() * (chosen(p.row, p.d, 128) ? 16 : 1); }
inline double tiny_dy(const Place& p) {
  return p.normal() * (p.is(Stream::dy) ? (p.half() ? 0x1p-6 : 0x1p-40) : 1);
}
inline double huge_dy(const Place& p) {
  return p.normal() * (p.is(Stream::dy) ? (p.half() ? 0x1p4 : 0x1p40) : 1);
}
inline double sparse_dy(const Place& p) {
  return p.is(Stream::dy) && !chosen(p.row, 0, 4) ? 0.0 : p.normal();
}
/// Returns values as in the input profile (distribution of values) `normal`, but negates one
/// tensor. All other tensors are unchanged.
template <Stream negated>
double negative(const Place& p) {
  return p.is(negated) ? -p.normal() : p.normal();
}

}  // namespace profile

/// Describes how a tensor is filled: random seed, tensor, and the function that returns the values
/// of the input profile.
struct Filling {
  std::uint64_t seed;
  Stream which;
  ProfileValue value;
  double factor = 1;  ///< a power of two by which every value is multiplied
};

/// Returns a tensor with the shape, strides and type of `parameter`, between guards (known bytes)
/// as in `guarded_tensor`. `filling` gives the values of the elements in the view.
spec::Tensor filled_tensor(const spec::Parameter& parameter, spec::Layout layout,
                           const spec::Extents& extents, const Filling& filling);

}  // namespace assay::conformance
