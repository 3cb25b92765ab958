#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "tile/kernels.hpp"

namespace assay::test {

inline std::atomic<std::int64_t> products_left = 0;

inline void count_product() {
  if (products_left-- == 0) throw std::runtime_error("a product failed");
}

/// Returns the portable kernels with a fault: after `products` matrix products or window sums, the
/// next one throws an exception.
inline optimized::tile::Kernels failing_kernels(std::int64_t products) {
  products_left = products;
  optimized::tile::Kernels kernels = optimized::tile::portable_kernels;
  kernels.multiply = [](const optimized::tile::Product& product) {
    count_product();
    optimized::tile::portable_kernels.multiply(product);
  };
  kernels.add_windows = [](const optimized::tile::WindowSums& rows) {
    count_product();
    optimized::tile::portable_kernels.add_windows(rows);
  };
  return kernels;
}

/// Makes a kernel fail at different steps. Every call of run(kernels, threads) must return with the
/// exception of the kernel. Returns the number of runs that threw.
template <class Run>
int failed_runs(const Run& run) {
  int failed = 0;
  for (const std::int64_t threads : {1, 2, 5}) {
    bool has_failed = true;
    for (std::int64_t products = 0; has_failed; products = 2 * products + 1) {
      const optimized::tile::Kernels kernels = failing_kernels(products);
      try {
        run(kernels, threads);
        has_failed = false;
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "a product failed");
        ++failed;
      }
    }
  }
  return failed;
}

}  // namespace assay::test
