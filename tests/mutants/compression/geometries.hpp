#pragma once

#include <vector>

#include "assay/spec/compression.hpp"
#include "assay/spec/striding.hpp"

namespace assay::mutants::compress {

/// The problem and the memory layout of one legal call, but not the values of the tensors.
struct Geometry {
  spec::CompressionProblem problem;
  spec::Striding inputs = spec::Striding::contiguous, outputs = spec::Striding::contiguous;
};

/// Returns the shapes and layouts on which every mutant (changed kernel) is judged, in fp16 and in
/// bf16. Every feature that can make a fault visible occurs at least once. Most problems combine
/// several features, so that few problems are sufficient.
std::vector<Geometry> geometries();

}  // namespace assay::mutants::compress
