#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "assay/conformance/expectation.hpp"
#include "operators/flash_attention_score_grad_bound.hpp"

namespace assay::conformance::flash {

/// Rows that were computed from the definition in 113 bits: all rows of a small case, else a query row and a key of the
/// first head of every batch entry, of 16 entries at most. They agree with the double engine within its proven radius.
struct Certificate {
  struct Row {
    std::int64_t number;  ///< in Extents::row
    std::vector<double> value;
  };
  std::map<std::string, std::vector<Row>> rows;  ///< by tensor

  /// Replaces value and radius of the certified rows.
  void apply(std::vector<Expectation>& expectations) const;
};

/// Errors: std::logic_error naming the element if the double engine is off by more than its radius.
Certificate certify(const Dense& dense, const Op::Inputs& inputs, const JudgedRows& judged);

}  // namespace assay::conformance::flash
