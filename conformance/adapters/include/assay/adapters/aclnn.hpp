#pragma once

#include <memory>
#include <string>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// Opens the implementation of `--implementation aclnn:REST`. REST lists settings, and shared
/// objects that together export the documented C API:
///
///     aclnn:libassay_aclnn.so
///     aclnn:libascendcl.so,libnnopbase.so,libopapi.so,device=1,numerics=ascend_a2,overflow=inf
///
/// Commas separate the words of REST. A word with '=' is a setting; every other word is the path of
/// a shared object for dlopen. device=N: the device number, default 0. numerics=PRESET: the
/// declared arithmetic of the kernel, default ascend_a2. The settings after it may change single
/// fields of the numerics. The adapter requests deterministic results from the library; if the
/// library agrees, the adapter declares order=fixed. The setting order=any disables this request.
///
/// A call uses only the C API. On the device, each tensor is between two guards (memory with known
/// bytes). The adapter checks guards and inputs after the run. `check` calls phase 1
/// (GetWorkspaceSize) with device addresses that phase 1 must not read.
/// Errors: std::invalid_argument if REST has no shared object or an unknown setting, if a shared
/// object cannot be loaded, if a runtime function is missing, or if the runtime does not start;
/// spec::Unsupported if no entry point of the operator is exported. If only some entry points are
/// missing, `unsupported` reports them. Errors of `check` and `run`: spec::Rejected with the status
/// that the library returns; spec::ImplementationFault.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> open_aclnn(const std::string& rest);

}  // namespace assay::adapters
