#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "assay/spec/dtype.hpp"
#include "assay/spec/numerics.hpp"

namespace assay::conformance {

/// An exact value: numerator * 2^exponent.
struct Dyadic {
  std::int64_t numerator = 0;
  int exponent = 0;
};

/// The parts of an exact case to build. `inputs` leaves out the exact gradients, so that they do
/// not exist while the kernel runs.
enum class ExactPart : std::uint8_t { inputs, all };

/// There is no exact case for a problem and numerics: the case is not applicable. The message says
/// why.
class NoExactCase : public std::runtime_error {
 public:
  explicit NoExactCase(const std::string& reason)
      : std::runtime_error("no exact case: " + reason) {}
};

/// The exact values of one output of an exact case before the final cast: rows x dim.
struct ExactTensor {
  const char* name;
  std::span<const Dyadic> exact;
  std::span<const std::int64_t> rows;  ///< judged rows, ascending numbers of `spec::Extents::row`
  std::int64_t dim;
};

/// The bits that a cast may give; equal where only one pattern is right.
struct AcceptableBits {
  std::uint32_t first = 0, second = 0;
  friend bool operator==(const AcceptableBits&, const AcceptableBits&) = default;
};

/// What a cast of `exact` to fp16, bf16 or fp32 may give: `unknown` both neighbours of an exact
/// tie, `stochastic` and `unknown_any` both neighbours of a value between two numbers, `either`
/// infinity and the largest finite number. Errors: std::invalid_argument for other types.
AcceptableBits acceptable_bits(Dyadic exact, spec::DType dtype, spec::Rounding rounding,
                               spec::Overflow overflow);

/// `exact` rounded once by integer arithmetic. Where several results are acceptable: ties to even
/// for `unknown`, toward zero for `stochastic` and `unknown_any`, infinity for `either`. Errors: as
/// `acceptable_bits`.
std::uint32_t round_dyadic(Dyadic exact, spec::DType dtype, spec::Rounding rounding,
                           spec::Overflow overflow);

/// A finite number as what it is exactly.
Dyadic dyadic_of(double finite);

}  // namespace assay::conformance
