#include "tile/dispatch.hpp"

#include <stdexcept>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace assay::optimized {
namespace {

/// Every machine with AVX2 converts 16-bit floats too; clang 14 does not know how to ask.
bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool has_avx512() {
#if defined(__x86_64__)
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

/// GCC 12 and clang 14 do not know how to ask for it by name.
bool has_avx512_bf16() {
#if defined(__x86_64__)
  constexpr unsigned leaf = 7, subleaf = 1, bit = 1U << 5;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return has_avx512() && __get_cpuid_count(leaf, subleaf, &eax, &ebx, &ecx, &edx) != 0 &&
         (eax & bit) != 0;
#else
  return false;
#endif
}

}  // namespace

bool is_available(HostMode mode) {
  return mode == HostMode::any_cpu || (mode == HostMode::avx512_bf16 && has_avx512_bf16());
}

std::vector<Instructions> available_instructions() {
  std::vector<Instructions> available;
  if (has_avx512()) available.push_back(Instructions::avx512);
  if (has_avx2()) available.push_back(Instructions::avx2);
  available.push_back(Instructions::portable);
  return available;
}

namespace tile {

const Kernels& kernels(Instructions instructions) {
  const std::vector<Instructions> available = available_instructions();
  if (instructions == Instructions::fastest) instructions = available.front();
  for (const Instructions one : available) {
    if (one != instructions) continue;
#if defined(__x86_64__)
    if (one == Instructions::avx512) return avx512_kernels;
    if (one == Instructions::avx2) return avx2_kernels;
#endif
    return portable_kernels;
  }
  throw std::invalid_argument("this machine does not execute " +
                              std::string(spec::to_string(instructions)));
}

const Kernels& kernels_of_any_cpu(const Options& options) {
  if (options.host != HostMode::any_cpu)
    throw std::invalid_argument("the operator has no host mode " +
                                std::string(spec::to_string(options.host)));
  return kernels(options.instructions);
}

const PairKernels& pair_kernels(HostMode mode) {
#if defined(__x86_64__)
  if (mode == HostMode::avx512_bf16 && is_available(mode)) return avx512_bf16_kernels;
#endif
  throw std::invalid_argument("this machine has no instructions for the host mode " +
                              std::string(spec::to_string(mode)));
}

}  // namespace tile
}  // namespace assay::optimized
