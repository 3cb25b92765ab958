#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "attention/flash/relations/parts.hpp"
#include "attention/flash/relations/rearranging.hpp"
#include "attention/flash/relations/spelling.hpp"
#include "operators/flash_attention_score_grad/traits.hpp"

namespace assay::conformance {
namespace attention::flash {

using Op = spec::FlashAttentionScoreGrad;
using FlashCase = Case<Op>;

inline constexpr std::string_view cascade_name = "cascade";

}  // namespace attention::flash

struct flash::RelationParts : flash::CommonParts<flash::Op> {
  static std::span<const Operand<Op>> operands();
  static std::span<const ComparedOutput<Op>> outputs();
  static std::vector<const Relation<Op>*> relations();
  /// Moves the rows. A row that had no keys may then have only masked keys; it gets the statistics
  /// of a fully masked row.
  static conformance::Trial<Op> rearranged(const conformance::Trial<Op>& base,
                                           const Op::Problem& problem, const Origins& origins);

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

/// Relations (statements about several runs) that scale, add or shift input values.
std::span<const Relation> arithmetic_relations();
/// The relation between calls with different values of softmaxInLayout (memory order of the
/// statistics).
std::span<const Relation> statistics_order_relations();

}  // namespace attention::flash
}  // namespace assay::conformance
