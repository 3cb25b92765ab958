#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "judge/definition.hpp"
#include "judge/tile_sums.hpp"

namespace assay::conformance {

/// A list of rows of one output tensor.
struct RowsOf {
  const std::string& tensor;
  const spec::Extents& extents;
  std::span<const std::int64_t> rows;
};

}  // namespace assay::conformance
