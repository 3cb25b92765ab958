#pragma once

#include <functional>
#include <memory>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// The worker's side of `isolated`: makes the implementation and answers until the judge says
/// goodbye. To be called by a process that `isolated` started, before any thread is. The process
/// and what it started die with the judge. The words of its command line are cleared in memory.
/// Errors: std::runtime_error in a process that nobody started as a worker. What `make` throws is
///         told to the judge.
template <class Op>
void serve(const std::function<std::unique_ptr<spec::Implementation<Op>>()>& make);

}  // namespace assay::adapters
