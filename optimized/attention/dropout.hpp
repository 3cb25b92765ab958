#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "flash_attention_score_grad/exclusion.hpp"
#include "operands/flat_view.hpp"

namespace assay::optimized {

/// Reads the dropout mask block by block. Source: the operator documents (dropMaskOptional,
/// keepProb).
class Dropout {
 public:
  using Op = spec::FlashAttentionScoreGrad;

  /// Keeps references to the inputs. Cost: O(batch) if sequences have different lengths.
  Dropout(const Op::Problem& problem, const Op::Inputs& inputs);

  bool present() const { return mask_.has_value(); }
  /// Returns 1 / keepProb, the factor of an element that is not dropped.
  float keep_factor() const { return keep_factor_; }
  /// Fills the rows of the block: 1 for a dropped element, 0 otherwise. `stride` is the distance
  /// between rows.
  void read(const Block& block, std::int64_t stride, std::uint8_t* dropped) const;

 private:
  std::uint64_t byte(std::int64_t number) const;
  void read_row(std::int64_t first_bit, std::int64_t count, std::uint8_t* dropped) const;

  const Op::Problem* problem_;
  std::optional<FlatView> mask_;
  float keep_factor_ = 1;
  std::vector<std::int64_t> first_bits_;  ///< one per sequence; empty if all have equal lengths
};

}  // namespace assay::optimized
