#pragma once

#include <atomic>

namespace assay::cli {

/// Set by the first SIGINT or SIGTERM once `stop_on_signals` was called.
const std::atomic<bool>& stop_requested();

/// The first SIGINT or SIGTERM asks for a stop, the next one kills.
void stop_on_signals();

}  // namespace assay::cli
