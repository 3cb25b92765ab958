#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace assay::mutants {

/// Shuffles `values`. Equal seeds give equal orders.
template <class Value>
void shuffle(std::vector<Value>& values, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  for (std::size_t left = values.size(); left > 1; --left) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::swap(values[left - 1], values[(state >> 33) % left]);
  }
}

}  // namespace assay::mutants
