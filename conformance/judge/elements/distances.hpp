#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/elements/error_map.hpp"
#include "judge/elements/grade.hpp"

namespace assay::conformance {

/// Returns the error |x - expected value| of element k, divided by its limit.
double relative_to_tau(const Expectation& e, std::size_t k, double x, const Arithmetic& arithmetic);

/// Statistics of the differences between elements and expected values, and the element with the
/// largest error.
class Distances {
 public:
  /// `whole` contains the expected values of the complete tensor. Its rows are added one after the
  /// other.
  explicit Distances(const Expectation& whole);
  /// Adds a row. `ratios`: the result of `relative_to_tau` for each element of the row.
  void add(const JudgedRow& row, const std::vector<double>& ratios);
  /// Adds the statistics of the rows that follow.
  void append(const Distances& later);
  void finish(TensorReport& report);

 private:
  /// Stores the elements near the element with the largest error. `worst`: the index of this
  /// element in the row; empty if an earlier row contains it.
  void keep_near(const JudgedRow& row, const spec::RowPosition& at,
                 std::optional<std::size_t> worst);
  void describe_worst(const Expectation& e, std::size_t worst, double actual);

  std::int64_t rows_of_ratio_;  ///< ratios_ contains one row of this number
  double worst_ = 0;
  Finding worst_at_;
  std::vector<std::pair<std::string, double>> terms_;  ///< error terms / tau of the worst one
  std::int64_t elements_ = 0, exempt_ = 0;
  std::vector<double> ratios_;  ///< tau/|ref| of the selected rows, stored to compute the median
  std::array<std::int64_t, 11> bins_{};
  ErrorGrid grid_;
  Neighbourhood near_;
  Neighbourhood::Row row_;  ///< buffer for one row
};

/// Results with the tolerances of other software, such as PyTorch. The report shows them for
/// comparison; they do not change the verdict.
class Yardsticks {
 public:
  void add(const JudgedRow& row, spec::DType io);
  /// Adds the results of the rows that follow.
  void append(const Yardsticks& later);
  void finish(const Arithmetic& arithmetic, TensorReport& report) const;

 private:
  double count_ = 0, worst_ = 0, sum_ = 0, squares_ = 0, largest_ = 0;
  double beyond_plugin_ = 0, beyond_bench_ = 0, beyond_torch_ = 0;
};

}  // namespace assay::conformance
