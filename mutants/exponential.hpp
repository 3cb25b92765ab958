#pragma once

#include <cstdint>

namespace assay::mutants {

/// How e^x is formed. clamped: the argument never falls below -88. wrapping: the power of two is
/// kept in 16 bits, and nothing is done about what does not fit.
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
