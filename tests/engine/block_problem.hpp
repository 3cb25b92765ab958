#pragma once

#include "assay/engine/algebra/enclosure.hpp"
#include "assay/engine/blocks/sweep.hpp"
#include "attention_problem.hpp"

/// The results of a head computed block by block, for comparison with the results pair by pair.
namespace assay::engine::attention {

/// The pairs of a head for which `times` is not 0, with their numbers of copies.
class PairsOfHead : public IndexSet {
 public:
  explicit PairsOfHead(const Head& head) : head_(head) {}
  Range reach(std::int64_t row) const override;
  void counts(std::int64_t row, std::int64_t first, std::span<double> times) const override;

 private:
  const Head& head_;
};

/// The bounds of all elements, computed block by block.
Gradients<Bound> block_bounds(const Head& head, const IndexSet& pairs, const Output& output,
                              const BlockShape& sweep);

/// The enclosures of all elements, computed block by block.
Gradients<Enclosure<double>> block_enclosures(const Head& head, const IndexSet& pairs,
                                              const BlockShape& sweep);

}  // namespace assay::engine::attention
