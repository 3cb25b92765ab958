#pragma once

#include <cstdint>

namespace assay::mutants {

/// How a kernel computes e^x. clamped: arguments below -88 are replaced by -88. wrapping: the power
/// of two is stored in 16 bits and overflows silently.
enum class Exponential : std::uint8_t {
  library,
  fused_exp2,
  polynomial,
  clamped,
  quadratic,
  wrapping
};

inline constexpr float log2_e = 1.44269504088896340736f;

float exponential(Exponential kind, float x);

}  // namespace assay::mutants
