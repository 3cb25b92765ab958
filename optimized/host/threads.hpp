#pragma once

#include <cstdint>

namespace assay::optimized {

/// Returns how many host threads to use for `flop` operations that are split into `units` units of
/// work. The maximum is `asked`, or the number of hardware threads if `asked` is 0.
std::int64_t threads_for(int asked, double flop, std::int64_t units);

}  // namespace assay::optimized
