#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/layout.hpp"

namespace assay::conformance {

/// The largest error / tau in each cell of (rows, channels), over all heads, and the largest in
/// each head. This is the part of an `ErrorMap` that describes a whole tensor.
class ErrorGrid {
 public:
  explicit ErrorGrid(const spec::Extents& extents);

  /// Adds the cells of one row.
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
  /// Adds the cells of the next rows.
  void append(const ErrorGrid& later);
  ErrorMap map() const;

 private:
  const spec::Extents* extents_;
  int row_shift_, channel_shift_, head_shift_;
  std::int64_t columns_;
  std::vector<double> cells_, heads_;  ///< a value below 0: no element was judged
};

/// The elements near the worst one: up to two rows and two channels to each side, if they were
/// judged.
class Neighbourhood {
 public:
  /// The values of one row of a tensor, one entry per channel.
  struct Row {
    spec::RowPosition at;
    std::vector<double> actual, expected, tolerance;
  };

  /// Adds the next row. `worst`: the channel of this row that is worse than all earlier elements,
  /// or -1. Swaps `row` with a buffer that is not needed any more.
  void add(Row& row, std::int64_t worst);
  /// Adds the next rows. `worse`: true if these rows contain the worst element.
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

/// Adds an element near the worst one. Its values are rounded to the number of decimal digits that
/// a table shows.
void add_near(ErrorMap& map, double actual, double expected, double tolerance);

}  // namespace assay::conformance
