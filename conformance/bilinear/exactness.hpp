#pragma once

#include <algorithm>

#include "assay/spec/dtype.hpp"
#include "assay/spec/numerics.hpp"

namespace assay::conformance::bilinear {

/// The number of bits of the largest integers that a kernel represents exactly, for products and
/// for sums.
struct Exactness {
  int product, sum;
};

/// Equation E47: returns the number of bits of the integers that a kernel with these numerics
/// (declared arithmetic) represents exactly. `io`: the element type of the tensors.
inline Exactness exactness(const spec::Numerics& numerics, spec::DType io) {
  constexpr int fp32_bits = spec::fp32_format.significand_bits;
  const auto bits = [](spec::DType type) {
    const bool is_narrow = type == spec::DType::fp16 || type == spec::DType::bf16;
    return is_narrow ? spec::format_of(type).significand_bits : fp32_bits;
  };
  const int accumulator = numerics.accumulator == spec::Accumulator::fp16
                              ? spec::fp16_format.significand_bits
                              : fp32_bits;
  const int sum = std::min(bits(numerics.partials), accumulator);
  return {.product = std::min({bits(io), bits(numerics.stage), sum}), .sum = sum};
}

}  // namespace assay::conformance::bilinear
