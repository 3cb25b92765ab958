#pragma once

#include "assay/engine/algebra/enclosure.hpp"
#include "assay/engine/blocks/sweep.hpp"
#include "attention_problem.hpp"

/// Computes the results of a head block by block, for a comparison with the results for single
/// pairs.
namespace assay::engine::attention {

/// The pairs of query and key that occur in a head (`times` is not 0), and how often each occurs.
class PairsOfHead : public IndexSet {
 public:
  explicit PairsOfHead(const Head& head) : head_(head) {}
  Range reach(std::int64_t row) const override;
  void counts(std::int64_t row, std::int64_t first, std::span<double> times) const override;

 private:
  const Head& head_;
};

/// Computes the error bounds of all elements block by block.
Gradients<Bound> block_bounds(const Head& head, const IndexSet& pairs, const Output& output,
                              const BlockShape& sweep);

/// Computes the enclosures of all elements (a value and a proven limit of its error) block by
/// block.
Gradients<Enclosure<double>> block_enclosures(const Head& head, const IndexSet& pairs,
                                              const BlockShape& sweep);

/// Returns the outputs in the order in which blocks of their rows are finished by one thread: 0 for
/// dq, 1 for dk, 2 for dv.
std::vector<std::size_t> order_of_blocks(const Head& head, const IndexSet& pairs,
                                         const BlockShape& sweep);

}  // namespace assay::engine::attention
