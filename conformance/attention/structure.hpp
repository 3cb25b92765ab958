#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "attention/bound/bound.hpp"

namespace assay::conformance::attention {

/// Where exact zeros are due, decided from the mask and the statistics.
struct DueZeros {
  std::vector<std::uint8_t> query_row;  ///< (b, n, i): dead
  std::vector<std::uint8_t> key_row;    ///< (b, kv, j): no live query attends to it
};
DueZeros due_zeros(const Dense& dense);

/// What every element of every output is checked for, judged or not: storage outside the view
/// untouched, viewed elements written, finite where no overflow is possible, zero (up to the floor)
/// where zero is due. Returns the findings, at most a
/// few per rule and tensor, each rule with its count.
std::vector<Finding> check_structure(const Dense& dense, const Arithmetic& arithmetic,
                                     const GradientTensors& outputs);

}  // namespace assay::conformance::attention
