#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attention/exact/score_code.hpp"

namespace assay::conformance::exact {

/// A matrix of small integers, stored row by row.
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::int64_t rows, std::int64_t columns)
      : columns_(static_cast<std::size_t>(columns)),
        values_(static_cast<std::size_t>(rows) * columns_) {}

  std::span<std::int32_t> row(std::int64_t r) {
    return std::span(values_).subspan(static_cast<std::size_t>(r) * columns_, columns_);
  }
  std::span<const std::int32_t> row(std::int64_t r) const {
    return std::span(values_).subspan(static_cast<std::size_t>(r) * columns_, columns_);
  }

 private:
  std::size_t columns_ = 0;
  std::vector<std::int32_t> values_;
};

/// One query row of an exact case. All its numbers are integers.
struct Row {
  Choice choice;
  int log2_count = 0;                ///< log2 of the number of attended keys, if any
  bool muted = false;                ///< dy is set to 0 although the row has unmasked keys
  std::uint32_t kept = 0;            ///< bit m: attended key m survives dropout
  std::vector<std::int64_t> output;  ///< attention_in * keep_prob * 2^log2_count, if choice.exact
  std::vector<std::int64_t>
      dscore;  ///< dS * keep_prob * 4^log2_count of every attended key, as staged; empty: all 0

  bool keeps(std::size_t member) const { return (kept >> member & 1) != 0; }
};

/// The tensors of one key head and of the query heads that use it, as integers. Units:
/// 2^query_exponent for query, 1 for all others. In query and key rows the rope channels come last.
/// The rows of query and dy are indexed by (head within the group, i); the head is the slowest
/// index.
struct Group {
  KeyHead head;
  Matrix query, key, value, dy;
  std::vector<Row> rows;
};

/// Generates the integers of one key head and its query heads. If sums would not be exact, the next
/// attempt uses smaller numbers, or sets dy of some rows to 0.
class GroupBuilder {
 public:
  GroupBuilder(const ExactPlan& plan, const Sides& sides, const KeyHead& head);

  Group build(const Thinning& thinning) const;

 private:
  void fill_keys(Group& group, const Magnitudes& magnitudes) const;
  void fill_values(Group& group) const;
  void fill_query(Group& group, std::int64_t r, const Magnitudes& magnitudes) const;
  void fill_output(Group& group, std::int64_t r, Draws& draws) const;
  void fill_row(Group& group, std::int64_t r, const Thinning& thinning) const;
  void draw_dy(std::span<std::int32_t> dy, const Row& row, const Magnitudes& magnitudes,
               Draws& draws) const;
  bool set_dscore(const Group& group, std::int64_t r, Row& row) const;
  int persistence(const Thinning& thinning) const;
  bool thinned_out(std::int64_t r, const Thinning& thinning) const;
  Magnitudes reduced(const Thinning& thinning) const;

  const ExactPlan* plan_;
  KeyHead head_;
  const Dropout* dropout_;
  Random random_;
  ScoreCode score_code_;
  /// The role of each value channel. left_only: only dy has numbers there; right_only: only value
  /// has numbers; both: dy and value have numbers.
  std::vector<Channel> value_channels_;
  std::vector<Choice> choices_;
};

}  // namespace assay::conformance::exact
