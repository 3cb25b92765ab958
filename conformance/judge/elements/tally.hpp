#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/conformance/result/decision.hpp"
#include "judge/elements/distances.hpp"
#include "judge/elements/failure_pattern.hpp"
#include "judge/elements/moments.hpp"

namespace assay::conformance {

/// What the values of the judged rows of one tensor amount to (`compare`); of parts that are
/// tallied apart, on any thread, and appended in their order.
class Tally {
 public:
  /// Of the tensor of this expectation, whether it has its entries or not; refers to both.
  Tally(const Expectation& whole, const Arithmetic& arithmetic);

  /// Rows behind those that were added before, with their entries.
  void add(const Expectation& part, const RowReader& actual);
  /// Those of rows behind these.
  void append(Tally&& later);
  Decision finish(TensorReport& report, std::vector<Finding>& findings);

 private:
  /// Fills in the distances of a row's elements, and adds what is wrong with them.
  void look_at(const JudgedRow& row);
  void add_row(const JudgedRow& row);

  const Expectation& whole_;
  const Arithmetic& arithmetic_;
  Grade worst_ = Grade::within;
  std::string gravest_;  ///< what the first element of that grade is
  std::int64_t uncertified_ = 0;
  FailurePattern failing_;
  std::vector<Finding> elements_;  ///< the first that fail
  Certainty certainty_;
  Distances distances_;
  Yardsticks yardsticks_;
  Moments moments_;
  std::vector<double> ratios_;  ///< of the elements of a row
};

}  // namespace assay::conformance
