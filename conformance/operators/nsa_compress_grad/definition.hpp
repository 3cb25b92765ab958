#pragma once

#include <memory>

#include "judge/definition.hpp"
#include "operators/nsa_compress_grad/dense.hpp"

namespace assay::conformance::compress {

/// Returns the definition (the high-precision reference) of the operator. The definition keeps
/// references to the arguments.
std::unique_ptr<Definition> definition_of(const Dense& dense);

}  // namespace assay::conformance::compress
