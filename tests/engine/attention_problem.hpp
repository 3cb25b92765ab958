#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "assay/engine/algebra/bound.hpp"
#include "assay/engine/algebra/injection.hpp"
#include "assay/engine/algebra/plain.hpp"
#include "formulas/head.hpp"

/// Test problems for the engine: one head of attention, with the results of the formula for each
/// pair of query and key.
namespace assay::engine::attention {

using Bound = engine::Bound<double>;

/// Returns the error bound of one gradient element. `elements` is the number of elements of the
/// gradient, and `factor` the number that multiplies the sum. `output` contains the other
/// parameters.
Bound written(const Element& element, Output output, double factor, std::size_t elements);

/// The parameters for a random head of attention.
struct Draw {
  std::int64_t queries = 5, keys = 7, dim = 6, dim_v = 4;
  double scale = 0.5, size = 1;  ///< the operands are uniform in (-size, size)
  double keep_prob = 1, attended = 1;
  std::uint64_t seed = 1;
};

/// Returns random operands that bfloat16 can represent, with the statistics and the output of a
/// forward pass on them. Rows that attend to no key have the statistics 0 and 1.
Head random_head(const Draw& draw);

/// Computes a forward pass, and stores its statistics and output in the head.
void give_forward(Head& head);

/// The three gradients, each stored row by row.
template <class T>
struct Gradients {
  std::vector<T> dq, dk, dv;
};

/// Computes the gradients of the head with number type T, which is double or Naive (high
/// precision).
template <class T>
Gradients<T> plain_gradients(const Head& head);

/// An error that a faulty tolerance omits or makes smaller: the rounding error with number
/// `rounding` in the attention formula, or the error of the dot product with number `dot`.
struct Injected {
  int rounding = -1, dot = -1;
  double factor = 1;  ///< the share of the declared size that remains
  bool exponential = false, residue = false, store = false;
};

/// Returns the error bounds of the gradients. `output` describes how the sums are rounded. `head`
/// contains the scale that multiplies the sums, and lambda, the quantile for the probable errors.
Gradients<Bound> bounds(const Head& head, const Output& output, const Injected& injected = {});

/// Returns the gradients of a kernel in which every operation of the formula has a rounding error.
/// `shares` returns the size of each error as a fraction of its maximum. The sums over queries or
/// keys are exact.
Gradients<double> injected_gradients(const Head& head, const Shares& shares);

/// Returns the gradients of a second kernel, which is written step by step, independently of the
/// formula. Every operation has its own rounding error. If `sums` is given, this is also true for
/// the sums over queries or keys, their multiplication by the scale, and the final cast.
Gradients<double> stepwise_gradients(const Head& head, const Shares& shares,
                                     const Output* sums = nullptr);

/// The position of one element in one of the gradients.
struct Place {
  std::vector<double> Gradients<double>::*gradient;
  std::size_t index;
};

/// Runs a kernel with the worst possible rounding errors: each has its maximum size, and the sign
/// that increases the element. Returns the change of the element.
double conspiracy(const std::function<Gradients<double>(const Shares&)>& kernel, Place place);

/// Returns a function that chooses the relative size 1 or -1 for every rounding error. The choice
/// depends only on the seed and on the source of the error.
Shares random_signs(std::uint64_t seed);

}  // namespace assay::engine::attention
