#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/text_enum.hpp"

namespace assay::optimized {

/// Host instructions that the tile kernels use. None of them changes a bit of the result.
enum class Instructions : std::uint8_t { fastest, avx512, avx2, portable };

}  // namespace assay::optimized

template <>
inline constexpr auto assay::spec::spellings_of<assay::optimized::Instructions> =
    assay::spec::Spellings<assay::optimized::Instructions, 4>{{{
        {assay::optimized::Instructions::fastest, "fastest"},
        {assay::optimized::Instructions::avx512, "avx512"},
        {assay::optimized::Instructions::avx2, "avx2"},
        {assay::optimized::Instructions::portable, "portable"},
    }}};

namespace assay::optimized {

/// What this machine can execute, fastest first; `portable` is always there.
std::vector<Instructions> available_instructions();

/// How a kernel uses this machine.
struct Options {
  int threads = 0;  ///< host threads, 0: all; never changes a bit of the result
  Instructions instructions = Instructions::fastest;
};

}  // namespace assay::optimized
