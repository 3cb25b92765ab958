#pragma once

#include <functional>
#include <memory>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// Wraps the implementation that `make` creates, so that it cannot change the floating-point mode
/// of its caller. The implementation computes in the mode that `make` left in the thread: for
/// example, a library with fast-math options sets flush-to-zero when it is loaded. The wrapper
/// restores the caller's mode after each call. Errors: the errors of `make`. Errors of every call:
/// the errors of the implementation; spec::ImplementationFault (mode_changed) if the call changed
/// the mode, with a text such as "left the rounding mode upward".
template <class Op>
std::unique_ptr<spec::Implementation<Op>> fenced(
    const std::function<std::unique_ptr<spec::Implementation<Op>>()>& make);

}  // namespace assay::adapters
