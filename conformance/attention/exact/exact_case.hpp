#pragma once

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/numerics.hpp"
#include "attention/dense.hpp"
#include "attention/key_pattern.hpp"

namespace assay::conformance::exact {

using Op = spec::FlashAttentionScoreGrad;

/// The exact case of `c`, its queries attending to what `key_pattern` says instead of a mask. The
/// inputs hold no mask. Errors: NoExactCase.
AttentionExactCase attending(const AttentionCase& c, const spec::Numerics& numerics,
                             const KeyPattern& key_pattern, ExactPart part);

/// The exact gradients by their names, with their rows and channels.
std::vector<ExactTensor> exact_tensors(const AttentionExactCase& exact_case, const Op::Problem& p);
/// Compares every element of the judged rows with the exact gradients, as `judge_exact` does. No
/// query reads a key more than `most_times`.
/// Errors: std::invalid_argument if the outputs do not have the problem's shapes.
void compare_exact(const AttentionExactCase& exact_case, const Op::Problem& problem,
                   const attention::GradientTensors& outputs, std::int64_t most_times,
                   const spec::Numerics& numerics, CaseReport& report);

}  // namespace assay::conformance::exact
