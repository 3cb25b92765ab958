#pragma once

#include <string>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::mutants {

/// The problem and the memory layout of one legal call, without the values of its tensors.
struct Geometry {
  spec::FlashAttentionScoreGrad::Problem problem;
  spec::FlashEntryPoint entry_point = spec::FlashEntryPoint::g1;
  spec::Strides inputs, outputs;
  std::string mask = "random";  ///< pattern of a user mask
  std::vector<spec::DType> dtypes = {spec::DType::bf16, spec::DType::fp16, spec::DType::fp32};
};

/// Returns the geometries on which every mutant is judged. Each feature occurs in one geometry,
/// combined with as many other features as possible.
std::vector<Geometry> geometries();

}  // namespace assay::mutants
