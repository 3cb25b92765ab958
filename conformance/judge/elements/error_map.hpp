#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/layout.hpp"

namespace assay::conformance {

/// The largest quotient error / tau (tolerance) in each block of rows and channels, over all heads,
/// and the largest in each head. An `ErrorMap` contains this grid and the elements near the largest
/// error.
class ErrorGrid {
 public:
  explicit ErrorGrid(const spec::Extents& extents);

  /// Updates the grid with the elements of one row.
  class Row {
   public:
    void add(std::int64_t channel, double ratio) {
      double& cell = cells_[channel >> shift_];
      if (ratio > cell) cell = ratio;
      if (ratio > *head_) *head_ = ratio;
    }

   private:
    friend class ErrorGrid;
    Row(double* cells, double* head, int shift) : cells_(cells), head_(head), shift_(shift) {}
    double *cells_, *head_;
    int shift_;
  };
  Row row(const spec::RowPosition& at);
  /// Adds the results of the rows that follow.
  void append(const ErrorGrid& later);
  ErrorMap map() const;

 private:
  const spec::Extents* extents_;
  int row_shift_, channel_shift_, head_shift_;
  std::int64_t columns_;
  std::vector<double> cells_, heads_;  ///< a value below 0: no element was judged
};

/// The judged elements near the element with the largest error: up to two rows and two channels on
/// each side.
class Neighbourhood {
 public:
  /// The values of one row of a tensor, with one number per channel in each list.
  struct Row {
    spec::RowPosition at;
    std::vector<double> actual, expected, tolerance;
  };

  /// Adds the next row. `worst`: the channel with a larger error than all earlier elements, or -1.
  /// Swaps `row` with a buffer that is no longer needed.
  void add(Row& row, std::int64_t worst);
  /// Adds the rows that follow. `worse`: true if they contain the element with the largest error.
  void append(const Neighbourhood& later, bool worse);
  void finish(ErrorMap& map) const;

 private:
  bool is_near(const spec::RowPosition& row) const;
  void take(const Row& row);

  std::int64_t rows_ = 0;
  std::array<Row, 2> first_, last_;
  spec::RowPosition worst_;
  std::int64_t channel_ = -1;
  std::vector<Row> near_;  ///< rows near the worst element
};

/// Adds one element near the largest error to the map. Its values are rounded to the decimal digits
/// that the error table shows.
void add_near(ErrorMap& map, double actual, double expected, double tolerance);

}  // namespace assay::conformance
