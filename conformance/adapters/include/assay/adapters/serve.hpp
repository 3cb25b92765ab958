#pragma once

#include <functional>
#include <memory>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// The worker's side of `isolated`: creates the implementation and answers requests until the judge
/// closes the connection. Must be called in a process that `isolated` started, before any thread is
/// started. The process and its children are killed when the judge ends. The function erases the
/// command-line arguments in memory. Errors: std::runtime_error in a process that was not started
/// as a worker. Exceptions of `make` are reported to the judge.
template <class Op>
void serve(const std::function<std::unique_ptr<spec::Implementation<Op>>()>& make);

}  // namespace assay::adapters
