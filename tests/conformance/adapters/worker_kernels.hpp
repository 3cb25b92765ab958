#pragma once

#include <memory>
#include <string>

#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::tests {

using Compress = spec::NsaCompressGrad;

/// A kernel whose outputs are arbitrary numbers that depend on every input and on the call. It
/// behaves as `manner` says: "good", or one of the failures in worker_kernels.cpp.
std::unique_ptr<spec::Implementation<Compress>> worker_kernel(const std::string& manner);

/// A legal call. Its inputs are filled with numbers, its outputs with poison.
struct Trial {
  Trial();
  Compress::Problem problem;
  spec::Call<Compress> call;
  Compress::Inputs inputs;
  Compress::Outputs outputs;
};

}  // namespace assay::tests
