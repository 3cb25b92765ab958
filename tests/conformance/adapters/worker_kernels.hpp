#pragma once

#include <memory>
#include <string>

#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::tests {

using Compress = spec::NsaCompressGrad;

/// Returns a test kernel with arbitrary outputs that depend on every input and on the call.
/// `manner` selects its behaviour: "good", or one of the failures in worker_kernels.cpp.
std::unique_ptr<spec::Implementation<Compress>> worker_kernel(const std::string& manner);

/// A legal call. The inputs contain numbers, the outputs contain the NaN pattern ("poison") that
/// marks unwritten elements.
struct Trial {
  Trial();
  Compress::Problem problem;
  spec::Call<Compress> call;
  Compress::Inputs inputs;
  Compress::Outputs outputs;
};

}  // namespace assay::tests
