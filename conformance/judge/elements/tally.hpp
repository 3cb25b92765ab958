#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/conformance/result/decision.hpp"
#include "judge/elements/distances.hpp"
#include "judge/elements/failure_pattern.hpp"
#include "judge/elements/moments.hpp"

namespace assay::conformance {

/// The results of comparing the judged rows of one tensor with the expected values. Each part of
/// the tensor may be compared on any thread; the results are appended in the order of the parts.
class Tally {
 public:
  /// `whole` describes the complete tensor; it may lack expected values. Keeps references to both
  /// arguments.
  Tally(const Expectation& whole, const Arithmetic& arithmetic);

  /// Compares the next rows of the tensor and adds the results. `part` contains their expected
  /// values.
  void add(const Expectation& part, const RowReader& actual);
  /// Adds the results of the rows that follow.
  void append(Tally&& later);
  Decision finish(TensorReport& report, std::vector<Finding>& findings);

 private:
  /// Examines the elements of a row one by one: computes the distances from the expected values and
  /// records failing elements.
  void look_at(const JudgedRow& row);
  void add_row(const JudgedRow& row);

  const Expectation& whole_;
  const Arithmetic& arithmetic_;
  Grade worst_ = Grade::within;
  Fact gravest_;  ///< description of the first element of that grade
  std::int64_t uncertified_ = 0;
  FailurePattern failing_;
  std::vector<Finding> elements_;  ///< the first elements that fail
  Certainty certainty_;
  Distances distances_;
  Yardsticks yardsticks_;
  Moments moments_;
  std::vector<double> ratios_;  ///< error / (tau + radius) of the elements of a row
};

}  // namespace assay::conformance
