#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "attention/exclusion.hpp"
#include "attention/inputs.hpp"
#include "operands/tiles.hpp"

namespace assay::optimized {

/// The position bias of a block of scores. Row i starts at `at` + i * `stride`. A row may be read
/// up to the next multiple of the number of vector lanes.
struct BiasRows {
  const float* at;
  std::int64_t stride;
};

/// Reads or computes the position bias, one block of scores at a time. Source: the operator
/// documents (pseShiftOptional, pseType).
class PositionBias {
 public:
  /// Keeps references to its arguments.
  PositionBias(const spec::AttentionProblem& problem, const AttentionInputs& inputs,
               const tile::Kernels& kernels);

  bool present() const { return tensor_ != nullptr; }
  /// Returns true if the scores are scaled after the bias is added, false if they are scaled
  /// before.
  bool scaled_after() const { return problem_->pse_type == 1; }
  /// Returns the bias of a block. The bias is stored in `space`, as a tile or as one line of rows +
  /// columns floats.
  BiasRows read(const Block& block, const Tile& space) const;

 private:
  /// Reads `count` elements of the bias tensor with stride `step`.
  struct Run {
    std::int64_t element, step, count;
  };

  bool depends_on_distance() const;
  BiasRows by_distance(const Block& block, float* line) const;
  void slopes(const Block& block, std::int64_t first, float* line) const;
  void compressed_tnd(const Block& block, std::int64_t first, float* line) const;
  BiasRows single_row(const Block& block, const Tile& space) const;
  void compressed_row(const Block& block, std::int64_t i, float* to) const;
  std::int64_t element(const std::array<std::int64_t, 4>& index) const;
  void widen(const Run& run, float* to) const;

  const spec::AttentionProblem* problem_;
  const tile::Kernels* kernels_;
  const spec::Tensor* tensor_ = nullptr;
  tile::Storage storage_ = tile::Storage::fp32;
  std::int64_t element_size_ = 4;
  std::vector<std::int64_t> first_elements_;  ///< one per sequence in the packed shapes
};

}  // namespace assay::optimized
