#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "assay/spec/dtype.hpp"
#include "assay/spec/numerics.hpp"

namespace assay::conformance {

/// An exact binary fraction with the value numerator * 2^exponent.
struct Dyadic {
  std::int64_t numerator = 0;
  int exponent = 0;
};

/// Says which parts of an exact case are built. `inputs` omits the exact outputs, which would use
/// memory while the kernel runs.
enum class ExactPart : std::uint8_t { inputs, all };

/// The exception for a problem and numerics (a kernel's declared arithmetic) that allow no exact
/// case. The case is then not applicable. The message contains the reason.
class NoExactCase : public std::runtime_error {
 public:
  explicit NoExactCase(const std::string& reason)
      : std::runtime_error("no exact case: " + reason) {}
};

/// The exact values of one output before the final cast; shape (rows, dim).
struct ExactTensor {
  const char* name;
  std::span<const Dyadic> exact;
  std::span<const std::int64_t> rows;  ///< judged rows, ascending numbers of `spec::Extents::row`
  std::int64_t dim;
};

/// The two bit patterns that a cast may return. Both are equal if only one result is correct.
struct AcceptableBits {
  std::uint32_t first = 0, second = 0;
  friend bool operator==(const AcceptableBits&, const AcceptableBits&) = default;
};

/// Returns the results that a cast of `exact` to fp16, bf16 or fp32 may return. The neighbours of a
/// value are the nearest numbers of the type below and above it. Rounding `unknown`: both
/// neighbours if `exact` is a tie. `stochastic` and `unknown_any`: both neighbours if the type
/// cannot represent `exact`. Overflow `either`: infinity and the largest finite number. Errors:
/// std::invalid_argument for other types.
AcceptableBits acceptable_bits(Dyadic exact, spec::DType dtype, spec::Rounding rounding,
                               spec::Overflow overflow);

/// Rounds `exact` once, with integer arithmetic. Some roundings allow several results. Then the
/// function rounds ties to even for `unknown`, rounds toward zero for `stochastic` and
/// `unknown_any`, and returns infinity for `either`. Errors: the errors of `acceptable_bits`.
std::uint32_t round_dyadic(Dyadic exact, spec::DType dtype, spec::Rounding rounding,
                           spec::Overflow overflow);

/// Converts a finite number to a binary fraction without error.
Dyadic dyadic_of(double finite);

}  // namespace assay::conformance
