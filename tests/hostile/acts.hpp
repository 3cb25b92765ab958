#pragma once

#include <string>

namespace assay::hostile {

/// What the environment variable HOSTILE names: the manner of a kernel in this process; empty: a
/// healthy one.
std::string manner();

/// Does what a manner stands for, in the midst of a call; false where it is none that we know.
/// Whoever calls it goes on afterwards as if nothing were.
bool act(const std::string& manner);

}  // namespace assay::hostile
