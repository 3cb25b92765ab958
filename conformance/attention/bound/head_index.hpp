#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/engine/blocks/index_set.hpp"
#include "assay/engine/blocks/operand.hpp"
#include "attention/dense.hpp"
#include "attention/formula/head.hpp"

namespace assay::conformance::attention {

/// A head with more (query, key) pairs than this is large: the threads share the blocks of one such
/// head, and large heads run one after the other.
inline constexpr std::int64_t pairs_of_large_head = std::int64_t{1} << 22;

/// Some queries of the group of one key head, ordered by head (n - kv * group) and then by
/// position, and some of its keys. Gives the engine the counts of these pairs, and their dropout
/// and bias.
class HeadIndex : public engine::IndexSet, public PairSides {
 public:
  /// Keeps a reference to `dense`.
  HeadIndex(const Dense& dense, const spec::RowPosition& key_head,
            std::vector<std::int64_t> queries, std::vector<std::int64_t> keys);

  engine::Range reach(std::int64_t row) const final;
  void counts(std::int64_t row, std::int64_t first, std::span<double> times) const final;
  void fill_kappa(std::int64_t row, std::int64_t first, std::span<double> kappa) const final;
  void fill_bias(std::int64_t row, std::int64_t first, std::span<double> bias) const final;

 protected:
  /// Excludes a row that has no unmasked key.
  void leave_out(std::int64_t row);
  spec::RowPosition query(std::int64_t row) const;

  const Dense& dense_;
  std::int64_t b_, kv_;
  std::vector<std::int64_t> queries_, keys_;

 private:
  std::vector<std::uint8_t> live_;
};

/// Returns the chosen rows of `all`; copies them to `own` unless all rows are chosen.
engine::Rows chosen_rows(const double* all, std::int64_t count, std::int64_t dim,
                         const std::vector<std::int64_t>& chosen, std::vector<double>& own);

/// Returns |x|^2 of `dim` channels of every row x, from channel `first` on.
std::vector<double> norms_of(const engine::Rows& rows, std::int64_t first, std::int64_t dim);

}  // namespace assay::conformance::attention
