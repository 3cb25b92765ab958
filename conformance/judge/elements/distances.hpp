#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "judge/elements/grade.hpp"

namespace assay::conformance {

/// How far off the elements are, and which is the worst.
class Distances {
 public:
  Distances(const Expectation& whole, const Arithmetic& arithmetic, TensorReport& report)
      : arithmetic_(arithmetic), report_(report) {
    ratios_.reserve(static_cast<std::size_t>(whole.row_count() * whole.dim()));
  }
  void add(const JudgedRow& row);
  void finish();

 private:
  void describe_worst(const Expectation& e, std::size_t worst, double actual);

  const Arithmetic& arithmetic_;
  TensorReport& report_;
  std::vector<double> ratios_;  ///< tau/|ref|: their median needs them all
  std::array<std::int64_t, 11> bins_{};
};

/// Rules of other stacks, emitted beside the verdict, which none of them decides.
class Yardsticks {
 public:
  void add(const JudgedRow& row);
  void finish(const Arithmetic& arithmetic, TensorReport& report) const;

 private:
  double count_ = 0, worst_ = 0, sum_ = 0, squares_ = 0, beyond_plugin_ = 0, beyond_bench_ = 0;
};

}  // namespace assay::conformance
