#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/reference/operands.hpp"
#include "attention/relations/experiments.hpp"
#include "judge/relations/relation.hpp"

namespace assay::conformance {
namespace attention::flash {

using Op = spec::FlashAttentionScoreGrad;
using FlashCase = Case<Op>;

/// The tensors of a run that have one value per pair of query and key.
struct PairTensors {
  std::optional<spec::Tensor> atten_mask, pse_shift, drop_mask;

  /// Returns whether elements and storage are equal.
  friend bool operator==(const PairTensors& a, const PairTensors& b);
};

/// Returns an entry point that has all parameters of a problem.
spec::FlashEntryPoint entry_point_of(const Op::Problem& problem);

inline constexpr std::string_view cascade_name = "cascade";

}  // namespace attention::flash

struct flash::RelationParts {
  using Op = flash::Op;
  using Rows = reference::Operands<double>;
  using Side = flash::PairTensors;
  using Origins = attention::Origins;

  static std::span<const Operand<Op>> operands();
  static std::span<const ComparedOutput<Op>> outputs();
  static std::vector<const Relation<Op>*> relations();
  static Rows rows_of(const Op::Problem& problem, const Op::Inputs& inputs) {
    return reference::operands_of<double>(problem, inputs);
  }
  static Side side_of(const Op::Inputs& inputs) {
    return {inputs.atten_mask, inputs.pse_shift, inputs.drop_mask};
  }
  static void add_side(const Trial<Op>& trial, const Op::Parameters& call, Op::Inputs& inputs);

  /// Moves the tensors of `base` to the positions that `origins` define. The bias (pse) and a user
  /// mask get the shape (batch, heads_q, Sq, Skv), a mask in TND (Sq, Skv), and slopes (batch,
  /// heads_q). Compressed masks are not changed, so they must have the same meaning for every pair
  /// in `problem`.
  static Trial<Op> rearranged(const Trial<Op>& base, const Op::Problem& problem,
                              const Origins& origins);

  static bool offers(spec::FlashEntryPoint entry_point, const Op::Problem& problem);
  static spec::FlashEntryPoint entry_point_of(const Op::Problem& problem) {
    return flash::entry_point_of(problem);
  }
  static double cost_of_bounds(const Op::Problem& problem) {
    return Suite<Op>::multiply_adds(problem);
  }

  static constexpr RelationText other = {
      .name = flash::cascade_name,
      .sentence =
          "A kernel's own forward, and its gradient computed from that forward, are each within "
          "their bound.",
      .domain = "kernels that offer a forward",
      .agreement = "bound"};
};

namespace attention::flash {

using Trial = conformance::Trial<Op>;
using Experiment = conformance::Experiment<Op>;
using Relation = conformance::Relation<Op>;
using Piece = conformance::Piece<Op>;

/// Relations that permute rows and keys, or split the call.
std::span<const Relation> rearranging_relations();
/// Relations that scale, add or shift the numbers.
std::span<const Relation> arithmetic_relations();
/// Relations between equivalent calls: masks, biases, dropout, channels, layouts, sequences.
std::span<const Relation> spelling_relations();

inline bool is_packed(const Op::Problem& p) { return is_packed(p.input_layout); }

inline bool has_equal_lengths(const Op::Problem& p) {
  return p.lengths_q.empty() && p.lengths_kv.empty();
}
inline bool has_user_mask(const Op::Problem& p) { return spec::is_written_out(p.atten_mask); }
/// Returns whether the bias tensor contains a value for every pair, each stored or broadcast.
inline bool has_written_bias(const Op::Problem& p) {
  using enum spec::PseShape;
  return p.pse_shift != absent && p.pse_shift != bnhs && p.pse_shift != one_nhs && p.pse_type < 2;
}
/// Returns whether `rearranged` can describe moved pairs. It cannot for compressed biases, which
/// omit pairs.
inline bool has_movable_bias(const Op::Problem& p) {
  return p.pse_shift == spec::PseShape::absent || p.pse_type >= 2 || has_written_bias(p);
}

/// Returns a user mask, of shape BNSS or SS. A pair is unmasked if `keeps(b, n, i, j)` is true; for
/// SS the result must not depend on b and n.
spec::Tensor written_mask(
    const Op::Problem& problem,
    const std::function<bool(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& keeps);

}  // namespace attention::flash
}  // namespace assay::conformance
