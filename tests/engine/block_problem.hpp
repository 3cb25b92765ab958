#pragma once

#include "assay/engine/algebra/enclosure.hpp"
#include "assay/engine/blocks/sweep.hpp"
#include "attention_problem.hpp"

/// What blocks make of a head, to be compared with what pairs make of it.
namespace assay::engine::attention {

/// The pairs that `times` of a head counts.
class PairsOfHead : public IndexSet {
 public:
  explicit PairsOfHead(const Head& head) : head_(head) {}
  Range reach(std::int64_t row) const override;
  void counts(std::int64_t row, std::int64_t first, std::span<double> times) const override;

 private:
  const Head& head_;
};

/// The bounds of all elements, in blocks.
Gradients<Bound> block_bounds(const Head& head, const IndexSet& pairs, const Output& output,
                              const BlockShape& sweep);

/// The enclosures of all elements, in blocks.
Gradients<Enclosure<double>> block_enclosures(const Head& head, const IndexSet& pairs,
                                              const BlockShape& sweep);

}  // namespace assay::engine::attention
