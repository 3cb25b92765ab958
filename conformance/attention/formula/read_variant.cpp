#include "attention/formula/variant.hpp"

/// This file is compiled once for each instruction set (macro ASSAY_INSTRUCTIONS).
namespace assay::conformance::attention {

template <>
void read_variant(engine::CompiledFor<engine::Instructions::ASSAY_INSTRUCTIONS>,
                  const PairsOf<VariantFormula>& block) {
  engine::read_pairs(block);
}

template <>
void read_variant(engine::CompiledFor<engine::Instructions::ASSAY_INSTRUCTIONS>,
                  const PairsOf<VariantForwardFormula>& block) {
  engine::read_pairs(block);
}

}  // namespace assay::conformance::attention
