#pragma once

#include <string>

namespace assay::hostile {

/// Returns the name of the hostile action that kernels in this process perform: the value of the
/// environment variable HOSTILE. If it is empty, kernels behave correctly.
std::string manner();

/// Performs the named hostile action in the middle of a call. Returns false if the name is unknown.
/// The caller then continues as if nothing had happened.
bool act(const std::string& manner);

}  // namespace assay::hostile
