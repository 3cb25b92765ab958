#pragma once

#include <vector>

#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::mutants::compress {

/// One legal call, whatever the elements of its tensors.
struct Geometry {
  spec::NsaCompressGrad::Problem problem;
  spec::Striding inputs = spec::Striding::contiguous, outputs = spec::Striding::contiguous;
};

/// The geometries on which every mutant is judged, each in fp16 and bf16. Each feature is in one
/// of them, next to as many others as fit.
std::vector<Geometry> geometries();

}  // namespace assay::mutants::compress
