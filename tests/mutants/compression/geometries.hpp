#pragma once

#include <vector>

#include "assay/spec/compression.hpp"
#include "assay/spec/striding.hpp"

namespace assay::mutants::compress {

/// The problem and the memory layout of one legal call, without the values of its tensors.
struct Geometry {
  spec::CompressionProblem problem;
  spec::Striding inputs = spec::Striding::contiguous, outputs = spec::Striding::contiguous;
};

/// The geometries on which every mutant is judged, each in fp16 and bf16. Each feature occurs in
/// one geometry, combined with as many other features as fit.
std::vector<Geometry> geometries();

}  // namespace assay::mutants::compress
