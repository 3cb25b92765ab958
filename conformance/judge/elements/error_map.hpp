#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/layout.hpp"

namespace assay::conformance {

/// The largest error / tau in each cell of rows and channels, whatever the head, and of each head:
/// what an `ErrorMap` says of a whole tensor.
class ErrorGrid {
 public:
  explicit ErrorGrid(const spec::Extents& extents);

  /// The cells of one row.
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
  /// Those of other rows.
  void append(const ErrorGrid& later);
  ErrorMap map() const;

 private:
  const spec::Extents* extents_;
  int row_shift_, channel_shift_, head_shift_;
  std::int64_t columns_;
  std::vector<double> cells_, heads_;  ///< below 0: nothing was judged
};

/// Elements around the worst one: two rows and two channels to each side, as far as they were
/// judged.
class Neighbourhood {
 public:
  /// What one row holds, an entry a channel.
  struct Row {
    spec::RowPosition at;
    std::vector<double> actual, expected, tolerance;
  };

  /// The row behind those that were added before; `worst`: a channel of it that is worse than all
  /// before it, or -1. Swaps the row with one that is no longer needed.
  void add(Row& row, std::int64_t worst);
  /// Those of rows behind these; `worse`: the worst element is among them.
  void append(const Neighbourhood& later, bool worse);
  void finish(ErrorMap& map) const;

 private:
  bool is_near(const spec::RowPosition& row) const;
  void take(const Row& row);

  std::int64_t rows_ = 0;
  std::array<Row, 2> first_, last_;
  spec::RowPosition worst_;
  std::int64_t channel_ = -1;
  std::vector<Row> near_;  ///< of the channels around the worst one
};

/// Adds an element to those around the worst one, to as many digits as a table shows.
void add_near(ErrorMap& map, double actual, double expected, double tolerance);

}  // namespace assay::conformance
