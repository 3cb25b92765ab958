#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attention/exclusion.hpp"
#include "attention/inputs.hpp"
#include "operands/flat_view.hpp"

namespace assay::optimized {

/// Reads the dropout mask, one block of scores at a time. Source: the operator documents
/// (dropMaskOptional, keepProb).
class Dropout {
 public:
  /// Keeps references to the inputs. Cost: O(batch) if sequences have different lengths.
  Dropout(const spec::AttentionProblem& problem, const AttentionInputs& inputs);

  bool present() const { return mask_.has_value(); }
  /// Returns 1 / keepProb, the factor of an element that is not dropped.
  float keep_factor() const { return keep_factor_; }
  /// Writes one byte per element of the block: 1 for a dropped element, 0 otherwise. `stride`:
  /// distance between rows (bytes).
  void read(const Block& block, std::int64_t stride, std::uint8_t* dropped) const;

 private:
  std::uint64_t byte(std::int64_t number) const;
  void read_row(std::int64_t first_bit, std::int64_t count, std::uint8_t* dropped) const;

  const spec::AttentionProblem* problem_;
  std::optional<FlatView> mask_;
  float keep_factor_ = 1;
  std::vector<std::int64_t> first_bits_;  ///< one per sequence; empty if all have equal lengths
};

}  // namespace assay::optimized
