#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tile/dispatch.hpp"

/// Helpers for tests of tile kernels (the vectorized inner loops).
namespace assay::test {

/// Returns the kernels of all instruction sets that this machine supports.
inline std::vector<const optimized::tile::Kernels*> available_kernels() {
  std::vector<const optimized::tile::Kernels*> sets;
  for (const auto instructions : optimized::available_instructions())
    sets.push_back(&optimized::tile::kernels(instructions));
  return sets;
}

/// Returns numbers in [-1, 1) from a linear congruential generator.
inline std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<std::int32_t>(seed)) * 0x1p-31F;
  }
  return values;
}

}  // namespace assay::test
