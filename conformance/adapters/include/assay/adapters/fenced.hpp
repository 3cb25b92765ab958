#pragma once

#include <functional>
#include <memory>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// Creates an implementation with `make` and wraps it, so that it cannot change the floating-point
/// mode of its caller. The implementation computes in the mode that `make` left in the thread: for
/// example, a library that was built for speed sets flush-to-zero when it is loaded. After each
/// call the caller's own mode is restored.
/// Errors: the errors of `make`. Errors of every call: the errors of the implementation, and
/// spec::ImplementationFault (mode_changed) if the call changed the mode, as in "left the rounding
/// mode upward".
template <class Op>
std::unique_ptr<spec::Implementation<Op>> fenced(
    const std::function<std::unique_ptr<spec::Implementation<Op>>()>& make);

}  // namespace assay::adapters
