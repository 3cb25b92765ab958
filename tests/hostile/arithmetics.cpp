#include <cfenv>
#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "act_tables.hpp"

namespace assay::hostile {
namespace {

#if defined(__x86_64__)
void set_bits(unsigned bits) { _mm_setcsr(_mm_getcsr() | bits); }
void set_x87_precision() {
  std::uint16_t word = 0x027f;
  asm volatile("fldcw %0" : : "m"(word));
}
#elif defined(__aarch64__)
void set_bits(unsigned bit) {
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("msr fpcr, %0" : : "r"(control | std::uint64_t{1} << (bit == 0x8000 ? 24 : 19)));
}
void set_x87_precision() { set_bits(0x8000); }
#endif

}  // namespace

Acts arithmetics() {
  return {
      {"rounds upward", [] { std::fesetround(FE_UPWARD); }},
      {"rounds downward", [] { std::fesetround(FE_DOWNWARD); }},
      {"rounds toward zero", [] { std::fesetround(FE_TOWARDZERO); }},
      {"flushes results", [] { set_bits(0x8000); }},
      {"flushes operands", [] { set_bits(0x0040); }},
      {"traps", [] { feenableexcept(FE_DIVBYZERO | FE_INVALID); }},
      {"computes in short registers", set_x87_precision},
  };
}

}  // namespace assay::hostile
