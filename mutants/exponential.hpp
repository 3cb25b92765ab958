#pragma once

#include <cstdint>

namespace assay::mutants {

/// How e^x is formed. clamped: the argument never falls below -88.
enum class Exponential : std::uint8_t { library, fused_exp2, polynomial, clamped, quadratic };

inline constexpr float log2_e = 1.44269504088896340736f;

float exponential(Exponential kind, float x);

}  // namespace assay::mutants
