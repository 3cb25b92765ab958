#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "assay/conformance/report/report.hpp"
#include "assay/spec/layout.hpp"

namespace assay::conformance {

/// What the failing elements of one tensor have in common: where they lie, and how they relate to
/// what is due.
class FailurePattern {
 public:
  /// It refers to the extents.
  explicit FailurePattern(const spec::Extents& extents) : extents_(&extents) {}

  /// One more, with its place, `actual` and `expected`.
  void add(const Finding& failing);
  /// Those of others.
  void append(const FailurePattern& others);
  std::int64_t count() const { return count_; }

  /// ", all at s = 64, where the output is 0"; empty if nothing is alike.
  std::string text() const;

 private:
  struct Range {
    std::int64_t least = 0, most = 0;
  };

  std::string place() const;
  std::string relation() const;

  const spec::Extents* extents_;
  std::int64_t count_ = 0;
  std::array<Range, 4> ranges_;                                    ///< of b, n, s and d
  double least_factor_ = std::numeric_limits<double>::infinity();  ///< of actual over expected
  double most_factor_ = -std::numeric_limits<double>::infinity();
  bool not_a_number_ = true, zero_ = true, comparable_ = true;
};

}  // namespace assay::conformance
