#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/layout.hpp"
#include "judge/elements/index_set.hpp"

namespace assay::conformance {

/// Returns the value with which the judge fills outputs before the call. Elements that the kernel
/// does not write keep this value.
double unwritten_number(spec::DType dtype);

/// Finds what the failing elements of one tensor have in common: their indices, and how they differ
/// from the expected values.
class FailurePattern {
 public:
  /// `all_rows`: all rows of the tensor are judged, not only some. Keeps a reference to the
  /// extents.
  explicit FailurePattern(const spec::Extents& extents, bool all_rows = true)
      : extents_(&extents),
        all_rows_(all_rows),
        places_{IndexSet(extents.batch), IndexSet(extents.heads), IndexSet(extents.seq),
                IndexSet(extents.dim)} {}

  /// Adds a failing element, with its indices, `actual` and `expected`.
  void add(const Finding& failing);
  /// Adds the failing elements of another pattern.
  void append(const FailurePattern& others);
  std::int64_t count() const { return count_; }

  /// Returns what the failing elements have in common. `judged` is the number of judged elements.
  Pattern pattern(std::int64_t judged) const;

 private:
  std::vector<AxisPlace> places() const;
  Deviation deviation() const;
  /// Returns the ratio output / expected value if it is about equal in all failing elements and not
  /// 0. Otherwise returns nothing.
  std::optional<double> factor() const;

  const spec::Extents* extents_;
  std::int64_t count_ = 0;
  bool all_rows_, last_rows_ = true;                               ///< last: last row of a sequence
  std::array<IndexSet, 4> places_;                                 ///< indices b, n, s and d
  double least_factor_ = std::numeric_limits<double>::infinity();  ///< output / expected value
  double most_factor_ = -std::numeric_limits<double>::infinity();
  bool unwritten_ = true, not_a_number_ = true, zero_ = true, comparable_ = true;
};

}  // namespace assay::conformance
