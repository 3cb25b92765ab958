#include "isolated/floating_point.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#include <cfenv>
#endif

namespace assay::adapters {
namespace {

/// A bit field of the floating-point control register, and the names of its values.
struct Field {
  int shift;
  std::uint64_t mask;
  const char* names[4];
};

#if defined(__x86_64__)
constexpr std::uint64_t flags = 0x3f;  // MXCSR bits that record past exceptions
constexpr Field fields[] = {
    {13,
     3,
     {"the rounding mode to nearest", "the rounding mode downward", "the rounding mode upward",
      "the rounding mode toward zero"}},
    {15, 1, {"subnormal results kept", "subnormal results flushed to zero"}},
    {6, 1, {"subnormal operands kept", "subnormal operands taken as zero"}}};
/// The bits that mask (switch off) floating-point exceptions. An exception that is not masked ends
/// the process.
constexpr std::uint64_t trap_bits = 0x3f << 7;
constexpr std::uint64_t no_traps = trap_bits;
#elif defined(__aarch64__)
constexpr Field fields[] = {
    {22,
     3,
     {"the rounding mode to nearest", "the rounding mode upward", "the rounding mode downward",
      "the rounding mode toward zero"}},
    {24, 1, {"subnormal numbers kept", "subnormal numbers flushed to zero"}},
    {19, 1, {"subnormal fp16 numbers kept", "subnormal fp16 numbers flushed to zero"}}};
constexpr std::uint64_t trap_bits = 0x9f00;
constexpr std::uint64_t no_traps = 0;
#else
constexpr Field fields[] = {{0, 0, {""}}};
constexpr std::uint64_t trap_bits = 0;
constexpr std::uint64_t no_traps = 0;
#endif

}  // namespace

FloatingPointMode FloatingPointMode::now() {
#if defined(__x86_64__)
  std::uint16_t word = 0;
  asm volatile("fnstcw %0" : "=m"(word));
  return {.control = _mm_getcsr() & ~flags, .old_control = word};
#elif defined(__aarch64__)
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return {.control = control};
#else
  return {.control = static_cast<std::uint64_t>(std::fegetround())};
#endif
}

void FloatingPointMode::set() const {
#if defined(__x86_64__)
  const auto word = static_cast<std::uint16_t>(old_control);
  asm volatile("fnclex\n\tfldcw %0" : : "m"(word));  // a pending exception would trap immediately
  _mm_setcsr(static_cast<unsigned>(control));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(control));
#else
  std::fesetround(static_cast<int>(control));
#endif
}

std::string difference(const FloatingPointMode& before, const FloatingPointMode& after) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  for (const auto& [shift, mask, names] : fields)
    if (((before.control ^ after.control) >> shift & mask) != 0)
      add(names[after.control >> shift & mask]);
  if (((before.control ^ after.control) & trap_bits) != 0)
    add((after.control & trap_bits) == no_traps ? "floating-point traps off"
                                                : "floating-point traps on");
  if (before.old_control != after.old_control) add("the control word of the x87 changed");
  if (text.empty() && before != after) add("the floating-point control register changed");
  return text;
}

}  // namespace assay::adapters
