#pragma once

#include <cstdint>
#include <utility>
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
class ToyOperator {
 public:
  using Problem = spec::ToyOperatorProblem;

  ToyOperator(const Problem& problem, std::vector<Stored> input, std::vector<Stored> weight)
      : problem_(problem), input_(std::move(input)), weight_(std::move(weight)) {}

  std::vector<Real> output_row(std::int64_t n, std::int64_t i) const;

 private:
  Problem problem_;
  std::vector<Stored> input_, weight_;
};

}  // namespace assay::reference
