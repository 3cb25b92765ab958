#include "host/threads.hpp"

#include <algorithm>

#include "assay/parallel/loop.hpp"

namespace assay::optimized {
namespace {

/// Minimum work per thread (operations). For less work, starting a thread costs more time than the
/// thread saves.
constexpr double flop_per_thread = 2e7;

}  // namespace

std::int64_t threads_for(int asked, double flop, std::int64_t units) {
  const auto worth = static_cast<std::int64_t>(flop / flop_per_thread);
  return std::max<std::int64_t>(1, std::min({parallel::thread_count(asked), worth, units}));
}

}  // namespace assay::optimized
