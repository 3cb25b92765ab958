#include "attention/formula/head.hpp"

/// Compiled once for each instruction set, ASSAY_INSTRUCTIONS.
namespace assay::conformance::attention {

template <>
void read_head(engine::CompiledFor<engine::Instructions::ASSAY_INSTRUCTIONS>,
               const TolerancePairs& block) {
  engine::read_pairs(block);
}

}  // namespace assay::conformance::attention
