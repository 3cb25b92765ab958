#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "flash_attention_score_grad/exclusion.hpp"
#include "operands/flat_view.hpp"

namespace assay::optimized {

/// Reads the bits of the dropout mask block by block.
/// Source: the operator documents (dropMaskOptional, keepProb).
class Dropout {
 public:
  using Op = spec::FlashAttentionScoreGrad;

  /// It refers to the inputs. Cost: O(batch) where the lengths differ.
  Dropout(const Op::Problem& problem, const Op::Inputs& inputs);

  bool present() const { return mask_.has_value(); }
  /// What a kept element is multiplied by.
  float keep_factor() const { return keep_factor_; }
  /// Fills the block's rows, `stride` apart, with 1 where an element is dropped and 0 elsewhere.
  void read(const Block& block, std::int64_t stride, std::uint8_t* dropped) const;

 private:
  std::uint64_t byte(std::int64_t number) const;
  void read_row(std::int64_t first_bit, std::int64_t count, std::uint8_t* dropped) const;

  const Op::Problem* problem_;
  std::optional<FlatView> mask_;
  float keep_factor_ = 1;
  std::vector<std::int64_t> first_bits_;  ///< of every sequence; empty where they are alike
};

}  // namespace assay::optimized
