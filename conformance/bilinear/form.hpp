#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "assay/conformance/inputs/random.hpp"
#include "assay/spec/layout.hpp"

/// Operators with outputs that are sums of products of two input elements. Each operator describes
/// these sums once, in its struct Form. References, tolerances, exact cases and the check of all
/// elements are derived from the form. The definition (the reference in high precision) does not
/// use the form, because it checks these references.
namespace assay::conformance::bilinear {

/// An input tensor. Extents::row gives the order of its rows. A row of a tensor without channels
/// has one element.
struct Operand {
  spec::Extents extents;
  Stream stream;  ///< the random numbers from which exact cases draw the input
};

/// Two row numbers, one of each input. The products of these rows are added to one row of an
/// output.
struct RowPair {
  std::int64_t left, right;
};

/// An output.
struct Sum {
  std::string_view name;
  spec::Extents extents;
  std::size_t left, right;  ///< numbers of its two operands
  /// True: an output row has one element, the sum of left[c] * right[c] over all channels c and all
  /// row pairs. False: channel c of an output row is the sum of left * right[c] over the row pairs,
  /// and rows of the left input have one element.
  bool contracts;
  /// True if few products are added to an element. The error bound then uses that the first
  /// addition to a zero accumulator is exact. It also does not assume that rounding errors average
  /// out.
  bool few;
  std::int64_t products;  ///< of an element, at most
  /// Writes the row pairs of an output row into `pairs`. A row without pairs is zero.
  std::function<void(const spec::RowPosition& row, std::vector<RowPair>& pairs)> pairs;
};

/// Describes all inputs and outputs of an operator for one problem.
struct Form {
  std::vector<Operand> operands;  ///< in the order of the inputs
  std::size_t thinned;            ///< the operand of every output that exact cases thin out
  std::vector<Sum> sums;          ///< in the order of the outputs
};

/// Returns the form (inputs and sums of products) of the operator: `Suite<Op>::form`.
template <class Op>
Form form_of(const typename Op::Problem& problem);

}  // namespace assay::conformance::bilinear
