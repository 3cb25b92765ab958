#pragma once

#include <memory>

#include "judge/definition.hpp"
#include "operators/nsa_compress_grad/dense.hpp"

namespace assay::conformance::compress {

/// The definition of the operator; refers to its arguments.
std::unique_ptr<Definition> definition_of(const Dense& dense);

}  // namespace assay::conformance::compress
