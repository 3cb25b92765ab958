#pragma once

#include <atomic>

namespace assay::test {

/// Each flag makes `new` fail while it is set. The first: in all threads. The second: in all
/// threads except the test's thread. The third: only for sizes of a gibibyte and more.
extern std::atomic<bool> memory_is_exhausted, memory_is_exhausted_elsewhere, memory_is_scarce;

}  // namespace assay::test
