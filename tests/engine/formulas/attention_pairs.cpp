#include "formulas/attention_head.hpp"

/// The build compiles this file once for each instruction set, with a different value of
/// ASSAY_INSTRUCTIONS.
namespace assay::engine::attention {

using Compiled = CompiledFor<Instructions::ASSAY_INSTRUCTIONS>;

template <>
void read_head(Compiled, const TolerancePairs& block) {
  read_pairs(block);
}
template <>
void read_head(Compiled, const EnclosurePairs& block) {
  read_pairs(block);
}

}  // namespace assay::engine::attention
