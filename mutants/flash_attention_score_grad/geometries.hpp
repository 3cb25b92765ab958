#pragma once

#include <string>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::mutants {

/// One legal call, whatever the elements of its tensors.
struct Geometry {
  spec::FlashAttentionScoreGrad::Problem problem;
  spec::FlashEntryPoint entry_point = spec::FlashEntryPoint::g1;
  spec::Strides inputs, outputs;
  std::string mask = "random";  ///< pattern of a user mask
  std::vector<spec::DType> dtypes = {spec::DType::bf16, spec::DType::fp16, spec::DType::fp32};
};

/// The geometries on which every mutant is judged. Each feature is in one of them, next to as
/// many others as fit.
std::vector<Geometry> geometries();

}  // namespace assay::mutants
