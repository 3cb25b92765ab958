#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/tensor.hpp"
#include "attention/formula/forward.hpp"
#include "attention/statistics.hpp"
#include "judge/definition.hpp"
#include "judge/relations/trial.hpp"

/// Judges forward kernels that declare saves=lse. Their softmax_max and softmax_sum may be any two
/// numbers m and z; the judge compares m + ln z, under the name softmax_max. Derivation:
/// docs/forward.md.
namespace assay::conformance::attention {

inline bool saves_lse(const spec::Numerics& numerics) { return numerics.saves == spec::Saved::lse; }

/// Returns m + ln z. For a row without an unmasked key, a kernel may return an infinity, or a
/// number up to -FLT_MAX; the result is then -FLT_MAX.
double log_sum_exp(double softmax_max, double softmax_sum);

/// Returns whether m + ln z (the log-sum-exp of a row) has the value of a row without an unmasked
/// key.
inline bool is_of_no_key(double softmax_max, double softmax_sum) {
  return log_sum_exp(softmax_max, softmax_sum) == dead_statistics.max;
}

/// For all rows without an unmasked key, copies the statistics from `from` to `to`. The statistics
/// tensors of both must have equal strides and offsets.
template <class Inputs>
void copy_rows_without_keys(const Inputs& from, Inputs& to) {
  const std::vector<std::int64_t> of_max = viewed_elements(from.softmax_max),
                                  of_sum = viewed_elements(from.softmax_sum);
  for (std::size_t k = 0; k < of_max.size(); ++k) {
    const double max = from.softmax_max.load(of_max[k]), sum = from.softmax_sum.load(of_sum[k]);
    if (!is_of_no_key(max, sum)) continue;
    to.softmax_max.store(of_max[k], max);
    to.softmax_sum.store(of_sum[k], sum);
  }
}

/// Returns the rounding error of computing m + ln z from m and z. The arguments are the magnitudes
/// of m and ln z.
double saving_error(double max, double log, const Arithmetic& arithmetic);

/// Returns the largest error of m + ln z (equation E50 in docs/formula_sheet.md).
Limits lse_error(const ForwardRow& row, const Arithmetic& arithmetic);

/// Returns a high-precision definition that gives the log-sum-exp as softmax_max, and no
/// softmax_sum.
std::unique_ptr<Definition> lse_definition(std::unique_ptr<Definition> of_statistics);

/// Returns the outputs in the form in which relations (comparisons of runs) compare them. For
/// saves=lse, softmax_max is the log-sum-exp, and softmax_sum is left out.
OutputValues compared_statistics(OutputValues values, const spec::Numerics& numerics);

/// Returns whether an exact case compares this output bit by bit. With saves=lse the answer is
/// false for statistics, because ln z is not exact.
inline bool has_exact_bits(std::string_view output, const spec::Numerics& numerics) {
  return !saves_lse(numerics) || (output != "softmax_max" && output != "softmax_sum");
}

}  // namespace assay::conformance::attention
