#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/lattice.hpp"

namespace assay::conformance::lattice {

/// Largest residue that counts as 0 where the exact gradient is 0: what probabilities of size
/// numerics.floor leave behind on pairs that the mask excludes.
class Floor {
 public:
  Floor(const spec::FlashAttentionScoreGrad::Problem& problem,
        const spec::FlashAttentionScoreGrad::Inputs& inputs, const spec::NumericsProfile& numerics);

  double dq(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t d) const;
  /// The same for every key of a head.
  double dk(std::int64_t b, std::int64_t kv, std::int64_t d) const;
  double dv(std::int64_t b, std::int64_t kv, std::int64_t d) const;

 private:
  void add_head(std::int64_t b, std::int64_t n,
                const spec::FlashAttentionScoreGrad::Inputs& inputs);
  void add_keys(std::int64_t b, std::int64_t kv,
                const spec::FlashAttentionScoreGrad::Inputs& inputs);
  std::size_t key_head(std::int64_t b, std::int64_t kv) const;

  spec::FlashAttentionScoreGrad::Problem problem_;
  double phi_;                      ///< 0: nothing else is computed
  std::vector<double> row_size_;    ///< |dy| max|V| + sum|dy O| of every query row
  std::vector<double> key_sum_;     ///< (batch, heads_kv, head_dim): sum_j |K|
  std::vector<double> value_norm_;  ///< (batch, heads_kv): max_j |V_j|
  std::vector<double> query_sum_;   ///< (batch, heads_kv, head_dim): sum of row_size |Q|
  std::vector<double> dy_sum_;      ///< (batch, heads_kv, head_dim_v): sum |dy|
};

}  // namespace assay::conformance::lattice
