#pragma once

#include <atomic>

namespace assay::test {

/// While one of these flags is set, `new` fails: in every thread; in every thread except the test's
/// thread; for sizes of a gibibyte and more.
extern std::atomic<bool> memory_is_exhausted, memory_is_exhausted_elsewhere, memory_is_scarce;

}  // namespace assay::test
