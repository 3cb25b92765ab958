#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/text_enum.hpp"

namespace assay::optimized {

/// Host instructions that the tile kernels use. None of them changes a bit of the result.
enum class Instructions : std::uint8_t { fastest, avx512, avx2, portable };

/// How the products of the gradient are summed on the host. `any_cpu`: the same bits on every
/// machine. `avx512_bf16`, `amx_bf16`: bf16 numbers pair by pair with the instructions of that
/// name, in other orders; for bf16 only, and only where the machine has them.
enum class HostMode : std::uint8_t { any_cpu, avx512_bf16, amx_bf16 };

}  // namespace assay::optimized

template <>
inline constexpr auto assay::spec::spellings_of<assay::optimized::Instructions> =
    assay::spec::Spellings<assay::optimized::Instructions, 4>{{{
        {assay::optimized::Instructions::fastest, "fastest"},
        {assay::optimized::Instructions::avx512, "avx512"},
        {assay::optimized::Instructions::avx2, "avx2"},
        {assay::optimized::Instructions::portable, "portable"},
    }}};

template <>
inline constexpr auto assay::spec::spellings_of<assay::optimized::HostMode> =
    assay::spec::Spellings<assay::optimized::HostMode, 3>{{{
        {assay::optimized::HostMode::any_cpu, "any_cpu"},
        {assay::optimized::HostMode::avx512_bf16, "avx512_bf16"},
        {assay::optimized::HostMode::amx_bf16, "amx_bf16"},
    }}};

namespace assay::optimized {

/// What this machine can execute, fastest first; `portable` is always there.
std::vector<Instructions> available_instructions();
/// Whether this machine has the instructions of a mode.
bool is_available(HostMode mode);

/// How a kernel uses this machine.
struct Options {
  int threads = 0;  ///< host threads, 0: all; never changes a bit of the result
  Instructions instructions = Instructions::fastest;
  HostMode host = HostMode::any_cpu;  ///< another one has another name and other numerics
};

}  // namespace assay::optimized
