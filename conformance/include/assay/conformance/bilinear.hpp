#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/conformance/suite.hpp"

namespace assay::conformance {
namespace bilinear {

/// The exact values of an output's judged rows, before the final cast; shape (rows, dim).
struct ExactSums {
  std::string_view name;
  std::vector<Dyadic> values;
  std::vector<std::int64_t> rows;  ///< judged rows, ascending numbers of Extents::row
  std::int64_t dim;
};

/// A case whose inputs make every correct kernel compute the same outputs, bit by bit, in any order
/// of summation.
template <class Op>
struct ExactCase {
  typename Op::Inputs inputs;
  std::vector<ExactSums> outputs;
};

template <class Op>
class Basis;

}  // namespace bilinear

/// The suite members that all bilinear operators (outputs are sums of products of two inputs)
/// share. The `Suite` of such an operator derives from this struct.
template <class Op>
struct BilinearSuite : SuiteDefaults<Op> {
  using Basis = bilinear::Basis<Op>;
  using Exact = bilinear::ExactCase<Op>;

  static Exact exact(const Case<Op>& c, const spec::Numerics& numerics,
                     ExactPart part = ExactPart::all);
  static std::vector<ExactTensor> exact_tensors(const Exact& exact_case,
                                                const typename Op::Problem& problem);
};

}  // namespace assay::conformance
