#pragma once

#include <cstdint>

namespace assay::bench {

// Runs fused multiply-adds of floats in chains that stay in registers, and returns the number of
// operations. There is one such function for each instruction set.
[[gnu::visibility("default")]] double fma_avx512(std::int64_t rounds);
[[gnu::visibility("default")]] double fma_avx2(std::int64_t rounds);
[[gnu::visibility("default")]] double fma_portable(std::int64_t rounds);

}  // namespace assay::bench
