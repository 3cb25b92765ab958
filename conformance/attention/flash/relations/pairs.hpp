#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "assay/spec/attention_problem.hpp"
#include "assay/spec/tensor.hpp"
#include "attention/relations/experiments.hpp"

/// Moves tensors with one value per pair of query and key. If a relation (a comparison of two runs)
/// moves rows, these values move with the rows.
namespace assay::conformance::attention::flash {

/// The tensors of a run with one value per pair of query and key.
struct PairTensors {
  std::optional<spec::Tensor> atten_mask, pse_shift, drop_mask;

  /// Returns whether elements and storage of the tensors are equal.
  friend bool operator==(const PairTensors& a, const PairTensors& b);
};

/// Returns the problem `moved` with the tensor shapes that `moved_pairs` writes; `moved` contains
/// the rows of `base` at other positions. A bias (pse) and a user mask get the shape (batch,
/// heads_q, Sq, Skv). A mask in TND gets the shape (Sq, Skv), and slopes get (batch, heads_q).
spec::AttentionProblem with_written_pairs(const spec::AttentionProblem& base,
                                          spec::AttentionProblem moved);

/// Moves the tensors to the positions that `origins` define. Does not change compressed masks, so
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
/// Returns whether the bias tensor contains every pair's value, stored or broadcast.
inline bool has_written_bias(const spec::AttentionProblem& p) {
  using enum spec::PseShape;
  return p.pse_shift != absent && p.pse_shift != bnhs && p.pse_shift != one_nhs && p.pse_type < 2;
}
/// Returns whether `rearranged` can move the pairs of this problem. It cannot move compressed
/// biases, because they omit pairs.
inline bool has_movable_bias(const spec::AttentionProblem& p) {
  return p.pse_shift == spec::PseShape::absent || p.pse_type >= 2 || has_written_bias(p);
}

/// Creates a user mask of shape BNSS or SS. A pair is unmasked if `keeps(b, n, i, j)` is true; for
/// SS the result must not depend on b and n.
spec::Tensor written_mask(
    const spec::AttentionProblem& problem,
    const std::function<bool(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& keeps);

}  // namespace assay::conformance::attention::flash
