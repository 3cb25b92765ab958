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

/// The number that an element is read as which the kernel has not written: the judge filled it.
double unwritten_number(spec::DType dtype);

/// What the failing elements of one tensor have in common: where they lie, and how they relate to
/// what is due.
class FailurePattern {
 public:
  /// Of a tensor whose rows are all judged, or some. It refers to the extents.
  explicit FailurePattern(const spec::Extents& extents, bool all_rows = true)
      : extents_(&extents),
        all_rows_(all_rows),
        places_{IndexSet(extents.batch), IndexSet(extents.heads), IndexSet(extents.seq),
                IndexSet(extents.dim)} {}

  /// One more, with its place, `actual` and `expected`.
  void add(const Finding& failing);
  /// Those of others.
  void append(const FailurePattern& others);
  std::int64_t count() const { return count_; }

  /// What they have in common, of `judged` elements.
  Pattern pattern(std::int64_t judged) const;

 private:
  std::vector<AxisPlace> places() const;
  Deviation deviation() const;
  /// The output over the expected value, where it is about the same in all failing elements and not
  /// 0; else nothing.
  std::optional<double> factor() const;

  const spec::Extents* extents_;
  std::int64_t count_ = 0;
  bool all_rows_, last_rows_ = true;                               ///< last: of their sequences
  std::array<IndexSet, 4> places_;                                 ///< of b, n, s and d
  double least_factor_ = std::numeric_limits<double>::infinity();  ///< of actual over expected
  double most_factor_ = -std::numeric_limits<double>::infinity();
  bool unwritten_ = true, not_a_number_ = true, zero_ = true, comparable_ = true;
};

}  // namespace assay::conformance
