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

/// |error| of one element as a part of what it is compared with.
double relative_to_tau(const Expectation& e, std::size_t k, double x, const Arithmetic& arithmetic);

/// How far off the elements are, and which is the worst.
class Distances {
 public:
  /// Of the rows of this tensor.
  explicit Distances(const Expectation& whole);
  /// `ratios`: `relative_to_tau` of its elements.
  void add(const JudgedRow& row, const std::vector<double>& ratios);
  /// Those of rows behind these.
  void append(const Distances& later);
  void finish(TensorReport& report);

 private:
  /// `worst`: the entry of the row that is the worst so far.
  void keep_near(const JudgedRow& row, const spec::RowPosition& at,
                 std::optional<std::size_t> worst);
  void describe_worst(const Expectation& e, std::size_t worst, double actual);

  std::int64_t rows_of_ratio_;  ///< one row of so many gives ratios
  double worst_ = 0;
  Finding worst_at_;
  std::vector<std::pair<std::string, double>> terms_;  ///< of the worst one's tolerance
  std::int64_t elements_ = 0, exempt_ = 0;
  std::vector<double> ratios_;  ///< tau/|ref|: their median needs them all
  std::array<std::int64_t, 11> bins_{};
  ErrorGrid grid_;
  Neighbourhood near_;
  Neighbourhood::Row row_;  ///< where a row is put before it is added
};

/// Rules of other stacks, emitted beside the verdict, which none of them decides.
class Yardsticks {
 public:
  void add(const JudgedRow& row, spec::DType io);
  /// Those of other rows.
  void append(const Yardsticks& later);
  void finish(const Arithmetic& arithmetic, TensorReport& report) const;

 private:
  double count_ = 0, worst_ = 0, sum_ = 0, squares_ = 0, largest_ = 0;
  double beyond_plugin_ = 0, beyond_bench_ = 0, beyond_torch_ = 0;
};

}  // namespace assay::conformance
