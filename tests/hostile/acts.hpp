#pragma once

#include <string>

namespace assay::hostile {

/// The value of the environment variable HOSTILE: the name of the hostile action of kernels in this
/// process. If it is empty, kernels behave correctly.
std::string manner();

/// Performs the named hostile action in the middle of a call. Returns false if the name is unknown.
/// The caller then continues as if nothing had happened.
bool act(const std::string& manner);

}  // namespace assay::hostile
