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

/// Returns the value (a NaN pattern) with which the judge fills outputs before the call. Elements
/// that the kernel does not write keep this value.
double unwritten_number(spec::DType dtype);

/// Finds what the failing elements of one tensor have in common: their indices, and how they differ
/// from the expected values.
class FailurePattern {
 public:
  /// `all_rows`: true if all rows of the tensor are judged. Keeps a reference to the extents.
  explicit FailurePattern(const spec::Extents& extents, bool all_rows = true)
      : extents_(&extents),
        all_rows_(all_rows),
        places_{IndexSet(extents.batch), IndexSet(extents.heads), IndexSet(extents.seq),
                IndexSet(extents.dim)} {}

  /// Adds a failing element. `failing` contains its indices, its value and its expected value.
  void add(const Finding& failing);
  /// Adds all failing elements of another pattern.
  void append(const FailurePattern& others);
  std::int64_t count() const { return count_; }

  /// Returns what the failing elements have in common. `judged`: the number of judged elements.
  Pattern pattern(std::int64_t judged) const;

 private:
  std::vector<AxisPlace> places() const;
  Deviation deviation() const;
  /// Returns the ratio of output to expected value if it is nearly equal in all failing elements
  /// and not 0; otherwise nothing.
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
