#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "assay/spec/attention_problem.hpp"
#include "assay/spec/tensor.hpp"
#include "attention/relations/experiments.hpp"

/// The tensors with one value for each pair of query and key. If a relation moves rows, these
/// values move with them.
namespace assay::conformance::attention::flash {

/// The tensors of a run that have one value per pair of query and key.
struct PairTensors {
  std::optional<spec::Tensor> atten_mask, pse_shift, drop_mask;

  /// Returns whether the tensors have equal elements and equal storage.
  friend bool operator==(const PairTensors& a, const PairTensors& b);
};

/// Returns the problem `moved`, to which rows of `base` are moved, with the shapes of the tensors
/// that `moved_pairs` writes. The bias (pse) and a user mask get the shape (batch, heads_q, Sq,
/// Skv), a mask in TND (Sq, Skv), and slopes (batch, heads_q).
spec::AttentionProblem with_written_pairs(const spec::AttentionProblem& base,
                                          spec::AttentionProblem moved);

/// Moves the tensors to the positions that `origins` define. Compressed masks are not changed, so
/// they must have the same meaning for every pair in `moved`.
PairTensors moved_pairs(const spec::AttentionProblem& base, const PairTensors& given,
                        const spec::AttentionProblem& moved, const Origins& origins);

inline bool is_packed(const spec::AttentionProblem& p) { return is_packed(p.input_layout); }

inline bool has_equal_lengths(const spec::AttentionProblem& p) {
  return p.lengths_q.empty() && p.lengths_kv.empty();
}
inline bool has_user_mask(const spec::AttentionProblem& p) {
  return spec::is_written_out(p.atten_mask);
}
/// Returns whether the bias tensor contains a value for every pair, stored or broadcast.
inline bool has_written_bias(const spec::AttentionProblem& p) {
  using enum spec::PseShape;
  return p.pse_shift != absent && p.pse_shift != bnhs && p.pse_shift != one_nhs && p.pse_type < 2;
}
/// Returns whether `rearranged` can move the pairs of this problem. It cannot move compressed
/// biases, because they omit pairs.
inline bool has_movable_bias(const spec::AttentionProblem& p) {
  return p.pse_shift == spec::PseShape::absent || p.pse_type >= 2 || has_written_bias(p);
}

/// Returns a user mask, of shape BNSS or SS. A pair is unmasked if `keeps(b, n, i, j)` is true; for
/// SS the result must not depend on b and n.
spec::Tensor written_mask(
    const spec::AttentionProblem& problem,
    const std::function<bool(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& keeps);

}  // namespace assay::conformance::attention::flash
