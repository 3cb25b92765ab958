#include "attention/formula/forward.hpp"

/// This file is compiled once for each instruction set (macro ASSAY_INSTRUCTIONS).
namespace assay::conformance::attention {

template <>
void read_forward(engine::CompiledFor<engine::Instructions::ASSAY_INSTRUCTIONS>,
                  const ForwardPairs& block) {
  engine::read_pairs(block);
}

}  // namespace assay::conformance::attention
