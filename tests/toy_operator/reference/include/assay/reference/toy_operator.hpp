#pragma once

#include <cstdint>
#include <vector>

#include "assay/reference/real.hpp"
#include "assay/spec/operators/toy_operator.hpp"

namespace assay::reference {

/// The operator's formula, computed in arithmetic of type Real from operands of type Stored. EDIT:
/// the formula, from the documents alone.
///
///     output(n, i) = sum over w of weight(n, w) * input(n, i + w)
///
/// Operands: the rows of both inputs in the order of `spec::Extents::row`.
template <class Real, class Stored = Real>
struct ToyOperator {
  spec::ToyOperator::Problem problem;
  std::vector<Stored> input, weight;

  std::vector<Real> output_row(std::int64_t n, std::int64_t i) const;
};

}  // namespace assay::reference
