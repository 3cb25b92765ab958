#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device_numbers.hpp"

namespace assay::bench {

/// What a row of the validation table is used for.
enum class Kind {
  calibration,  ///< a constant of the device was chosen with it
  hold_out,     ///< predicted, and nothing was chosen with it
  bound,        ///< of a slower kernel: its time must not be below the prediction
  context,      ///< says nothing that the model could predict
};

/// A published figure beside the prediction (device facts, section 5).
struct ValidationRow {
  std::string row;
  Kind kind;
  double published;
  std::optional<double> predicted;
  std::string unit;
  std::string note = {};

  /// Predicted over published, less one.
  std::optional<double> error() const {
    if (!predicted) return std::nullopt;
    return *predicted / published - 1;
  }
};

/// Every row of the table, in its order.
std::vector<ValidationRow> validation_rows(const Adjust& adjust);

std::vector<ValidationRow> gemm_rows(const Adjust& adjust);
std::vector<ValidationRow> memory_rows(const Adjust& adjust);
std::vector<ValidationRow> forward_rows(const Adjust& adjust);
std::vector<ValidationRow> gradient_rows(const Adjust& adjust);

/// Median of the magnitude of errors of hold-out rows, and the largest one.
struct HoldOut {
  double median, worst;
};
HoldOut hold_out_errors(const std::vector<ValidationRow>& rows);

/// Statements that the table is read for, each with whether it holds.
struct Conclusion {
  std::string statement;
  double value;
  bool holds;
};
std::vector<Conclusion> conclusions(const std::vector<ValidationRow>& rows, const Adjust& adjust);

}  // namespace assay::bench
