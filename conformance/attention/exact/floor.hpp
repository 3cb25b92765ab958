#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/attention/lattice.hpp"

namespace assay::conformance::lattice {

/// Largest residue that counts as 0 where the exact gradient is 0: what probabilities of size
/// numerics.floor leave behind on pairs that the mask excludes.
class Floor {
 public:
  Floor(const spec::FlashAttentionScoreGrad::Problem& problem,
        const spec::FlashAttentionScoreGrad::Inputs& inputs, const spec::NumericsProfile& numerics);

  /// `d` counts on through the channels of the rope tensors.
  double dq(const spec::RowPosition& row, std::int64_t d) const;
  /// The same for every key of a head.
  double dk(const spec::RowPosition& row, std::int64_t d) const;
  double dv(const spec::RowPosition& row, std::int64_t d) const;

 private:
  struct Views;
  void add_head(std::int64_t b, std::int64_t n, const Views& views);
  void add_keys(std::int64_t b, std::int64_t kv, const Views& views);
  std::size_t key_head(std::int64_t b, std::int64_t kv) const;
  std::size_t width() const;

  spec::FlashAttentionScoreGrad::Problem problem_;
  spec::Extents queries_;
  double phi_;                      ///< 0: nothing else is computed
  double kept_factor_;              ///< 1 / keep_prob
  std::vector<double> row_size_;    ///< |dy| max|V| / keep_prob + sum|dy O| of every query row
  std::vector<double> key_sum_;     ///< (batch, heads_kv, width): sum_j |K|
  std::vector<double> value_norm_;  ///< (batch, heads_kv): max_j |V_j|
  std::vector<double> query_sum_;   ///< (batch, heads_kv, width): sum of row_size |Q|
  std::vector<double> dy_sum_;      ///< (batch, heads_kv, head_dim_v): sum |dy|
};

}  // namespace assay::conformance::lattice
