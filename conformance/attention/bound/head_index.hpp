#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/engine/blocks/index_set.hpp"
#include "assay/engine/blocks/operand.hpp"
#include "attention/dense.hpp"
#include "attention/formula/head.hpp"

namespace assay::conformance::attention {

/// A head with more (query, key) pairs than this is large. Large heads run one after the other, and
/// all threads share the blocks of one large head.
inline constexpr std::int64_t pairs_of_large_head = std::int64_t{1} << 22;

/// Selects some keys of one key head, and some queries of the query heads that use it. Queries are
/// ordered by head (n - kv * group), then by position. The engine reads from this class how often
/// each pair counts, its dropout and its bias.
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
  /// Excludes a query row that has no unmasked key.
  void leave_out(std::int64_t row);
  spec::RowPosition query(std::int64_t row) const;
  /// Returns the first row of the first query head that uses the key head.
  spec::RowPosition first_query_head() const { return {b_, kv_ * dense_.problem.group(), 0}; }

  const Dense& dense_;
  std::int64_t b_, kv_;
  std::vector<std::int64_t> queries_, keys_;

 private:
  std::vector<std::uint8_t> live_;
};

/// Returns the squared norm |x|^2 of every row x, over `dim` channels from channel `first` on.
std::vector<double> norms_of(const engine::Rows& rows, std::int64_t first, std::int64_t dim);

}  // namespace assay::conformance::attention
