#pragma once

#include <memory>
#include <string>

#include "assay/spec/implementation.hpp"

namespace assay::adapters {

/// What `--implementation aclnn:REST` says: shared objects that together export the documented C
/// API, and settings.
///
///     aclnn:libassay_aclnn.so
///     aclnn:libascendcl.so,libnnopbase.so,libopapi.so,device=1,numerics=ascend_a2,overflow=inf
///
/// REST is a list between commas. A word with '=' is a setting, every other one a shared object as
/// dlopen takes it. device=N: the device's number, 0 if not said. numerics=PRESET: what is declared
/// of the arithmetic, ascend_a2 if not said; after it every field of the numerics by its name. The
/// library is asked for deterministic results; where it agrees, order=fixed is declared, unless
/// order=any says not to ask.
///
/// A call goes through the C API alone: tensors lie on the device between guards, which are looked
/// at after the run, as are the inputs. Phase 1 of `check` is given addresses that it must not
/// read.
/// Errors: std::invalid_argument for a REST without shared object, a setting that does not exist, a
///         shared object that cannot be loaded, a function of the runtime that none of them
///         exports, or a runtime that does not start; spec::Unsupported if none of the operator's
///         entry points is exported. One that is missing alone is `unsupported`. Of check and run:
///         spec::Rejected with the status that the library answers; spec::ImplementationFault.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> open_aclnn(const std::string& rest);

}  // namespace assay::adapters
