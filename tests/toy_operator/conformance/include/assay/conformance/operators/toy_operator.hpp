#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/conformance/bilinear.hpp"
#include "assay/spec/operators/toy_operator.hpp"

namespace assay::conformance {

/// The cases of the operator, and the judge for them. The outputs of the operator are sums of
/// products, which BilinearSuite judges.
template <>
struct Suite<spec::ToyOperator> : BilinearSuite<spec::ToyOperator> {
  using Op = spec::ToyOperator;
  struct RelationParts;

  static std::span<const InputProfile> profiles();
  static Op::Inputs draw(const Case<Op>& c);
  static std::span<const FieldRange> field_ranges();
  static void require_possible(const Case<Op>& c);
  static double multiply_adds(const Op::Problem& p);
  static const Axes* axes();
  static std::vector<std::size_t> choice_of(const Case<Op>& c);
  static void collect(const SamplingPlan& plan, CaseCollector<Op>& cases);
};

}  // namespace assay::conformance
