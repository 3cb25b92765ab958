#pragma once

#include <memory>
#include <string>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// Opens the implementation that a shared library exports as `assay_plugin_v1`, see assay_plugin.h.
/// The implementation runs in this process. Errors: std::invalid_argument with the file and the
/// reason (the file does not exist, is not a library, does not export the function, or has another
/// version); spec::Unsupported if the library does not offer the operator.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> open_plugin(const std::string& path);

}  // namespace assay::adapters
