#pragma once

#include <cstdint>
#include <string>

namespace assay::adapters {

/// The floating-point mode of this thread: rounding, subnormal numbers, traps, and on x86 the
/// precision of the x87 registers. The flags of earlier exceptions are not included.
struct FloatingPointMode {
  std::uint64_t control = 0;      ///< x86: MXCSR; AArch64: FPCR; elsewhere the rounding mode
  std::uint32_t old_control = 0;  ///< x86: control word of the x87

  static FloatingPointMode now();
  void set() const;
  friend bool operator==(const FloatingPointMode&, const FloatingPointMode&) = default;
};

/// Describes how two modes differ, e.g. "the rounding mode upward, subnormal results flushed to
/// zero"; empty if they are equal.
std::string difference(const FloatingPointMode& before, const FloatingPointMode& after);

}  // namespace assay::adapters
