#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "assay/spec/dtype.hpp"
#include "assay/spec/numerics.hpp"

namespace assay::conformance {

/// An exact binary fraction: numerator * 2^exponent.
struct Dyadic {
  std::int64_t numerator = 0;
  int exponent = 0;
};

/// The parts of an exact case that are built. `inputs`: without the exact outputs, which would use
/// memory while the kernel runs.
enum class ExactPart : std::uint8_t { inputs, all };

/// Thrown if no exact case exists for a problem and numerics. The case is then not applicable. The
/// message says why.
class NoExactCase : public std::runtime_error {
 public:
  explicit NoExactCase(const std::string& reason)
      : std::runtime_error("no exact case: " + reason) {}
};

/// The exact values of one output of an exact case before the final cast; shape (rows, dim).
struct ExactTensor {
  const char* name;
  std::span<const Dyadic> exact;
  std::span<const std::int64_t> rows;  ///< judged rows, ascending numbers of `spec::Extents::row`
  std::int64_t dim;
};

/// The two bit patterns that a cast may return. They are equal if only one is correct.
struct AcceptableBits {
  std::uint32_t first = 0, second = 0;
  friend bool operator==(const AcceptableBits&, const AcceptableBits&) = default;
};

/// The results that a cast of `exact` to fp16, bf16 or fp32 may return. `unknown`: both neighbours
/// if `exact` is a tie. `stochastic` and `unknown_any`: both neighbours if `exact` is between two
/// numbers. `either`: infinity and the largest finite number. Errors: std::invalid_argument for
/// other types.
AcceptableBits acceptable_bits(Dyadic exact, spec::DType dtype, spec::Rounding rounding,
                               spec::Overflow overflow);

/// Rounds `exact` once, with integer arithmetic. If several results are acceptable, it chooses ties
/// to even for `unknown`, toward zero for `stochastic` and `unknown_any`, and infinity for
/// `either`. Errors: as `acceptable_bits`.
std::uint32_t round_dyadic(Dyadic exact, spec::DType dtype, spec::Rounding rounding,
                           spec::Overflow overflow);

/// Converts a finite number without error.
Dyadic dyadic_of(double finite);

}  // namespace assay::conformance
