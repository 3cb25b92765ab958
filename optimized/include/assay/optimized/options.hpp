#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/text_enum.hpp"

namespace assay::optimized {

/// The instruction set of the host for the tile kernels. All sets give bit-identical results.
enum class Instructions : std::uint8_t { fastest, avx512, avx2, portable };

/// How the host sums the products of the gradient. `any_cpu`: bit-identical results on every
/// machine. `avx512_bf16` and `amx_bf16`: the instructions of these names multiply pairs of bf16
/// numbers and sum in other orders. Both modes support only bf16, and need a machine that has the
/// instructions. `fastest`: for bf16 the mode that is fastest on this machine, which is measured
/// once in a process; for other types any_cpu.
enum class HostMode : std::uint8_t { any_cpu, avx512_bf16, amx_bf16, fastest };

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
    assay::spec::Spellings<assay::optimized::HostMode, 4>{{{
        {assay::optimized::HostMode::any_cpu, "any_cpu"},
        {assay::optimized::HostMode::avx512_bf16, "avx512_bf16"},
        {assay::optimized::HostMode::amx_bf16, "amx_bf16"},
        {assay::optimized::HostMode::fastest, "fastest"},
    }}};

namespace assay::optimized {

/// Returns the instruction sets of this machine, fastest first; `portable` is always available.
std::vector<Instructions> available_instructions();
/// Returns whether this machine has the instructions of the host mode (how the host sums the
/// products of the gradient).
bool is_available(HostMode mode);

/// How a kernel uses the host machine.
struct Options {
  int threads = 0;  ///< host threads, 0: all; results are bit-identical
  Instructions instructions = Instructions::fastest;
  HostMode host = HostMode::any_cpu;  ///< other modes change the name and the numerics
};

}  // namespace assay::optimized
