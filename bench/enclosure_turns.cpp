#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <iostream>

#include "block_problem.hpp"

/// For every input line "S D THREADS", computes the enclosures (intervals that contain the exact
/// results) of one dense head. Prints the wall seconds and the processor seconds. The script
/// bench/enclosure_beside_torch.py alternates these runs with runs of PyTorch.
int main() {
  namespace attention = assay::engine::attention;
  std::int64_t seq = 0, dim = 0, threads = 0, last_seq = 0, last_dim = 0;
  attention::Head head;
  while (std::cin >> seq >> dim >> threads) {
    if (seq != last_seq || dim != last_dim)
      head = attention::random_head({.queries = seq,
                                     .keys = seq,
                                     .dim = dim,
                                     .dim_v = dim,
                                     .scale = 1 / std::sqrt(static_cast<double>(dim))});
    last_seq = seq, last_dim = dim;
    const std::clock_t processor_start = std::clock();
    const auto start = std::chrono::steady_clock::now();
    attention::block_enclosures(head, assay::engine::Windows::all(seq, seq), {.threads = threads});
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::cout << seconds.count() << ' '
              << static_cast<double>(std::clock() - processor_start) / CLOCKS_PER_SEC << std::endl;
  }
  return 0;
}
