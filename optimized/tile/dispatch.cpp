#include "tile/dispatch.hpp"

#include <bit>
#include <stdexcept>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace assay::optimized {
namespace {

/// Every machine with AVX2 can also convert 16-bit floats, so this function does not test for that
/// feature (clang 14 cannot).
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

/// Tests for AVX-512 BF16 with the CPUID instruction, because GCC 12 and clang 14 cannot test for
/// this feature by name.
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

#if defined(__x86_64__) && defined(__linux__)
/// Requests permission from Linux to use the AMX registers, for this process and all its threads.
bool may_use_amx() {
  constexpr long ask_for_state = 0x1023, state_of_tiles = 18;
  return syscall(SYS_arch_prctl, ask_for_state, state_of_tiles) == 0;
}

/// Compares the AMX unit with its emulation on small integers. Their sums are exact in every order.
bool multiplies_as_expected() {
  constexpr std::int64_t rows = 40, columns = 48, depth = 24;
  std::vector<tile::Pair> a(rows * depth), b(depth * columns);
  const auto bf16 = [](std::size_t k) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(k % 13) - 6) >> 16;
  };
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = bf16(5 * k) | bf16(7 * k + 1) << 16;
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = bf16(3 * k) | bf16(11 * k + 2) << 16;
  std::vector<float> found(rows * columns), expected(found.size());
  tile::PairProduct product = {.a = a.data(),
                               .a_row = depth,
                               .a_depth = 1,
                               .b = b.data(),
                               .b_row = columns,
                               .c = found.data(),
                               .c_row = columns,
                               .rows = rows,
                               .columns = columns,
                               .depth = depth};
  tile::multiply_on_amx(product);
  product.c = expected.data();
  tile::multiply_as_amx(product);
  return found == expected;
}
#endif

/// Returns whether the machine has AMX and the unit computes correct products.
bool has_amx_bf16() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr unsigned leaf = 7, tiles = 1U << 24, of_bf16 = 1U << 22;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  static const bool has =
      has_avx512_bf16() && __get_cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx) != 0 &&
      (edx & tiles) != 0 && (edx & of_bf16) != 0 && may_use_amx() && multiplies_as_expected();
  return has;
#else
  return false;
#endif
}

}  // namespace

bool is_available(HostMode mode) {
  switch (mode) {
    case HostMode::any_cpu:
    case HostMode::fastest:
      return true;
    case HostMode::avx512_bf16:
      return has_avx512_bf16();
    case HostMode::amx_bf16:
      return has_amx_bf16();
  }
  return false;
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
  throw std::invalid_argument("this machine does not support the instruction set " +
                              std::string(spec::to_string(instructions)));
}

const Kernels& kernels_of_any_cpu(const Options& options) {
  if (options.host != HostMode::any_cpu)
    throw std::invalid_argument("the operator has no host mode " +
                                std::string(spec::to_string(options.host)));
  return kernels(options.instructions);
}

#if defined(__x86_64__)
namespace {

PairKernels with_products(void (*multiply)(const PairProduct&)) {
  return {.multiply = multiply,
          .interleave = avx512_bf16_kernels.interleave,
          .commit = avx512_bf16_kernels.commit};
}

}  // namespace
#endif

const PairKernels& pair_kernels(HostMode mode) {
#if defined(__x86_64__)
  if (mode == HostMode::avx512_bf16 && is_available(mode)) return avx512_bf16_kernels;
  if (mode == HostMode::amx_bf16 && is_available(mode)) {
    static const PairKernels kernels = with_products(multiply_on_amx);
    return kernels;
  }
#endif
  throw std::invalid_argument("this machine does not support the host mode " +
                              std::string(spec::to_string(mode)));
}

const PairKernels& emulated_amx_kernels() {
#if defined(__x86_64__)
  if (has_avx512_bf16()) {
    static const PairKernels kernels = with_products(multiply_as_amx);
    return kernels;
  }
#endif
  throw std::invalid_argument("this machine does not support AVX-512 BF16");
}

}  // namespace tile
}  // namespace assay::optimized
