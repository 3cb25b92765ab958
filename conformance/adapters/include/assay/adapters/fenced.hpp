#pragma once

#include <functional>
#include <memory>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// What `make` makes, so that nothing it does changes how its caller computes with floating-point
/// numbers. It computes as it left the thread when it was made (a library that is built for speed
/// flushes subnormal numbers from its loading on); behind each call the caller's own mode is back.
/// Errors: those of `make`; of every call beside the implementation's own spec::ImplementationFault
///         (mode_changed) where the call left another mode than it found, as in "left the rounding
///         mode upward".
template <class Op>
std::unique_ptr<spec::Implementation<Op>> fenced(
    const std::function<std::unique_ptr<spec::Implementation<Op>>()>& make);

}  // namespace assay::adapters
