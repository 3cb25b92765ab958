#pragma once

#include <memory>
#include <string_view>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/spec/numerics.hpp"
#include "attention/formula/forward.hpp"
#include "judge/definition.hpp"
#include "judge/relations/trial.hpp"

/// Forwards that declare saves=lse: softmax_max and softmax_sum are any two numbers m and z, and
/// m + ln z is judged, as an output of the name softmax_max. Derivation: docs/forward.md.
namespace assay::conformance::attention {

inline bool saves_lse(const spec::Numerics& numerics) { return numerics.saves == spec::Saved::lse; }

/// Returns m + ln z. Fully masked rows give an infinity, or a number up to -FLT_MAX; for them the
/// result is -FLT_MAX.
double log_sum_exp(double softmax_max, double softmax_sum);

/// Returns the largest error of m + ln z (equation E50 in docs/formula_sheet.md).
Limits lse_error(const ForwardRow& row, const Arithmetic& arithmetic);

/// Returns a definition whose rows of softmax_max are the log-sum-exp, and which has no
/// softmax_sum.
std::unique_ptr<Definition> lse_definition(std::unique_ptr<Definition> of_statistics);

/// Returns the outputs as a relation compares them: for saves=lse, softmax_max is the log-sum-exp,
/// and softmax_sum is left out.
OutputValues compared_statistics(OutputValues values, const spec::Numerics& numerics);

/// Returns whether the output of this name is compared bit by bit in exact cases. With saves=lse no
/// statistic is compared so, because ln z is not exact.
inline bool has_exact_bits(std::string_view output, const spec::Numerics& numerics) {
  return !saves_lse(numerics) || (output != "softmax_max" && output != "softmax_sum");
}

}  // namespace assay::conformance::attention
