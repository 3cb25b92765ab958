#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device_numbers.hpp"

namespace assay::bench {

/// The use of a published time, for example to fit the device model or to test it.
enum class Kind {
  calibration,  ///< a constant of the device was fitted to it
  hold_out,     ///< predicted; no constant was fitted to it
  bound,        ///< time of a slower kernel: it must not be below the prediction
  context,      ///< the model cannot predict it
};

/// One row of the validation table: a published number and its prediction by the device model.
struct ValidationRow {
  std::string row;
  Kind kind;
  double published;
  std::optional<double> predicted;
  std::string unit;
  std::string note = {};

  /// Returns the relative error of the prediction: predicted / published - 1.
  std::optional<double> error() const {
    if (!predicted) return std::nullopt;
    return *predicted / published - 1;
  }
};

/// Returns all rows of the validation table in their order. `adjust` changes each device before the
/// prediction.
std::vector<ValidationRow> validation_rows(const Adjust& adjust);

std::vector<ValidationRow> gemm_rows(const Adjust& adjust);
std::vector<ValidationRow> memory_rows(const Adjust& adjust);
std::vector<ValidationRow> forward_rows(const Adjust& adjust);
std::vector<ValidationRow> gradient_rows(const Adjust& adjust);

/// Returns the median and the maximum of |error| over the rows that were not used to fit the model.
struct HoldOut {
  double median, worst;
};
HoldOut hold_out_errors(const std::vector<ValidationRow>& rows);

/// A statement that follows from the validation table. `holds`: whether the statement is true.
struct Conclusion {
  std::string statement;
  double value;
  bool holds;
};
std::vector<Conclusion> conclusions(const std::vector<ValidationRow>& rows, const Adjust& adjust);

}  // namespace assay::bench
