#include "tile/dispatch.hpp"

#include <stdexcept>
#include <string>

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

}  // namespace

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

}  // namespace tile
}  // namespace assay::optimized
