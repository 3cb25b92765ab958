#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "assay/conformance/inputs/random.hpp"
#include "assay/spec/layout.hpp"

/// Operators whose outputs are sums of products of two input elements. An operator describes these
/// sums once, in its struct Form; references, tolerances, exact cases and the check of all elements
/// are derived from them. The definition, which certifies references, does not use them.
namespace assay::conformance::bilinear {

/// An input. Extents::row numbers its rows. If a tensor has no channels, each row has one
/// channel.
struct Operand {
  spec::Extents extents;
  Stream stream;  ///< the random numbers from which exact cases draw the input
};

/// Row numbers of two operands. The products of these rows are added to one row of an output.
struct RowPair {
  std::int64_t left, right;
};

/// An output.
struct Sum {
  std::string_view name;
  spec::Extents extents;
  std::size_t left, right;  ///< numbers of its two operands
  /// True: a row of the output has only one channel, the sum of left[c] * right[c] over all c and
  /// all pairs of the row. False: channel c of a row is the sum of left * right[c] over the pairs
  /// of the row, and rows of left have one channel.
  bool contracts;
  /// True if an element has few products. In this case it counts that the first product is added to
  /// an empty accumulator, and rounding errors do not average out.
  bool few;
  std::int64_t products;  ///< of an element, at most
  /// Sets the pairs of a row of the output. A row without pairs is zero.
  std::function<void(const spec::RowPosition& row, std::vector<RowPair>& pairs)> pairs;
};

/// All tensors of an operator for one problem.
struct Form {
  std::vector<Operand> operands;  ///< in the order of the inputs
  std::size_t thinned;            ///< the operand of every output that exact cases thin out
  std::vector<Sum> sums;          ///< in the order of the outputs
};

/// Returns the form of the operator. Every operator of this kind specialises it.
template <class Op>
Form form_of(const typename Op::Problem& problem);

}  // namespace assay::conformance::bilinear
