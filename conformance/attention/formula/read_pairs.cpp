#include "attention/formula/head.hpp"

/// This file is compiled once for each instruction set (macro ASSAY_INSTRUCTIONS).
namespace assay::conformance::attention {

template <>
void read_head(engine::CompiledFor<engine::Instructions::ASSAY_INSTRUCTIONS>,
               const TolerancePairs& block) {
  engine::read_pairs(block);
}

}  // namespace assay::conformance::attention
