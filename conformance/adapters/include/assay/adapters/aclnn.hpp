#pragma once

#include <memory>
#include <string>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// Opens the implementation of `--implementation aclnn:REST`. REST lists shared objects that
/// together export the documented C API, and settings:
///
///     aclnn:libassay_aclnn.so
///     aclnn:libascendcl.so,libnnopbase.so,libopapi.so,device=1,numerics=ascend_a2,overflow=inf
///
/// REST is separated by commas. A word with '=' is a setting; every other word is a shared object
/// as dlopen accepts it. device=N: the device number, default 0. numerics=PRESET: the declared
/// numerics, default ascend_a2. After it, each field of the numerics can be set by its name. The
/// adapter requests deterministic results from the library; if the library agrees, the adapter
/// declares order=fixed. order=any disables the request.
///
/// A call uses only the C API. On the device each tensor is between two guards; guards and inputs
/// are checked after the run. `check` calls phase 1 with addresses that phase 1 must not read.
/// Errors: std::invalid_argument for a REST without a shared object, an unknown setting, a shared
/// object that cannot be loaded, a runtime function that no shared object exports, or a runtime
/// that does not start; spec::Unsupported if no entry point of the operator is exported. If only
/// some entry points are missing, `unsupported` reports them. Errors of check and run:
/// spec::Rejected with the status that the library returns; spec::ImplementationFault.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> open_aclnn(const std::string& rest);

}  // namespace assay::adapters
