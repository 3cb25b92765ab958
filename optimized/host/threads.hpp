#pragma once

#include <cstdint>

namespace assay::optimized {

/// Host threads for so many floating-point operations in so many units of work: at most `asked`, or
/// as many as the machine has where that is 0.
std::int64_t threads_for(int asked, double flop, std::int64_t units);

}  // namespace assay::optimized
