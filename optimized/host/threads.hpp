#pragma once

#include <cstdint>

namespace assay::optimized {

/// Returns how many host threads to use for `flop` operations in `units` units of work. The limit
/// is `asked`; if `asked` is 0, the limit is the number of hardware threads.
std::int64_t threads_for(int asked, double flop, std::int64_t units);

}  // namespace assay::optimized
