#pragma once

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/numerics.hpp"
#include "attention/dense.hpp"
#include "attention/exact/plan.hpp"
#include "attention/key_pattern.hpp"

namespace assay::conformance::exact {

/// Generates the exact case of `c`: inputs for which every correct kernel computes the same bits.
/// `key_pattern` says which keys a query attends to; the inputs contain no mask. If `value` is
/// `merged` (the key tensor also serves as value), dk of the result is the sum of dk and dv.
/// Errors: NoExactCase if no exact case exists for `c`.
AttentionExactCase attending(const AttentionCase& c, const spec::Numerics& numerics,
                             const KeyPattern& key_pattern, ExactPart part,
                             ValueForm value = ValueForm::own);

/// Returns the exact gradients, each with its name, rows and channels.
std::vector<ExactTensor> exact_tensors(const AttentionExactCase& exact_case, const Op::Problem& p);
/// Compares every element of the judged rows with the exact gradients, as `judge_exact` does.
/// `most_times`: the largest number of times that a query attends to one key.
/// Errors: std::invalid_argument if the outputs do not have the shapes of the problem.
void compare_exact(const AttentionExactCase& exact_case, const Op::Problem& problem,
                   const attention::GradientTensors& outputs, std::int64_t most_times,
                   const spec::Numerics& numerics, CaseReport& report);

}  // namespace assay::conformance::exact
