#pragma once

#include <atomic>

namespace assay::test {

/// While one of them is set, `new` fails: in every thread; in every thread but that of the tests;
/// for a gibibyte and more.
extern std::atomic<bool> memory_is_exhausted, memory_is_exhausted_elsewhere, memory_is_scarce;

}  // namespace assay::test
