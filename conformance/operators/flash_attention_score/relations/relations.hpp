#pragma once

#include <span>
#include <vector>

#include "assay/conformance/operators/flash_attention_score.hpp"
#include "attention/flash/relations/parts.hpp"
#include "attention/flash/relations/rearranging.hpp"
#include "attention/flash/relations/spelling.hpp"
#include "operators/flash_attention_score/traits.hpp"

namespace assay::conformance {

struct flash_forward::RelationParts : flash::CommonParts<spec::FlashAttentionScore> {
  static std::span<const Operand<Op>> operands();
  static std::span<const ComparedOutput<Op>> outputs();
  static std::vector<const Relation<Op>*> relations();
  static constexpr RelationText other = {};
};

namespace attention::flash_forward {

/// Relations (statements about several runs) that scale, add or shift input values.
std::span<const Relation<spec::FlashAttentionScore>> arithmetic_relations();

}  // namespace attention::flash_forward
}  // namespace assay::conformance
