#include "attention/formula/forward.hpp"

/// Compiled once for each instruction set, ASSAY_INSTRUCTIONS.
namespace assay::conformance::attention {

template <>
void read_forward(engine::CompiledFor<engine::Instructions::ASSAY_INSTRUCTIONS>,
                  const ForwardPairs& block) {
  engine::read_pairs(block);
}

}  // namespace assay::conformance::attention
