#pragma once

#include <memory>
#include <string>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// The implementation that a shared library exports as `assay_plugin_v1`, see assay_plugin.h. It
/// runs in this process.
/// Errors: std::invalid_argument naming the file and what is wrong with it: absent, no library, no
///         such function, another version; spec::Unsupported for an operator that it does not
///         offer.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> open_plugin(const std::string& path);

}  // namespace assay::adapters
