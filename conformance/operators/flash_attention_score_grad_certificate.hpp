#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "assay/conformance/expectation.hpp"
#include "operators/flash_attention_score_grad_bound.hpp"

namespace assay::conformance::flash {

/// Rows that were computed from the definition in 113 bits: all rows of a small case, else a query row and a key of
/// every batch entry's first head. They agree with the double engine within its proven radius.
struct Certificate {
  struct Row {
    std::int64_t flat;  ///< (b, n, row)
    std::vector<double> value;
  };
  std::array<std::vector<Row>, 3> rows;  ///< dq, dk, dv

  /// Replaces value and radius of the certified rows.
  void apply(std::array<Expectation, 3>& expectations) const;
};

/// Errors: std::logic_error naming the element if the double engine is off by more than its radius.
Certificate certify(const Dense& dense, const Op::Inputs& inputs, const JudgedRows& judged);

}  // namespace assay::conformance::flash
