#pragma once

#include <cstdint>

namespace assay::bench {

// Fused multiply-adds of floats in chains that never leave the registers; how many operations that
// were. Built as those of composed.hpp.
[[gnu::visibility("default")]] double fma_avx512(std::int64_t rounds);
[[gnu::visibility("default")]] double fma_avx2(std::int64_t rounds);
[[gnu::visibility("default")]] double fma_portable(std::int64_t rounds);

}  // namespace assay::bench
