#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "assay/engine/algebra/bound.hpp"
#include "assay/engine/algebra/injection.hpp"
#include "assay/engine/algebra/plain.hpp"
#include "formulas/head.hpp"

/// One head of attention, and the results of its formula, evaluated pair by pair.
namespace assay::engine::attention {

using Bound = engine::Bound<double>;

/// The bound of an element of a gradient that has this factor and this number of elements; `output`
/// has the other parameters.
Bound written(const Element& element, Output output, double factor, std::size_t elements);

/// The parameters of a random head of attention.
struct Draw {
  std::int64_t queries = 5, keys = 7, dim = 6, dim_v = 4;
  double scale = 0.5, size = 1;  ///< the operands are uniform in (-size, size)
  double keep_prob = 1, attended = 1;
  std::uint64_t seed = 1;
};

/// Returns operands that bfloat16 can represent, with the statistics and attention_in that their
/// own forward gives. Rows that attend to nothing have the statistics 0 and 1.
Head random_head(const Draw& draw);

/// Sets the statistics and attention_in of the head to those of its forward.
void give_forward(Head& head);

/// The three gradients; each is stored row by row.
template <class T>
struct Gradients {
  std::vector<T> dq, dk, dv;
};

/// Computes the gradients of the head in numbers of type T, which is double or Naive.
template <class T>
Gradients<T> plain_gradients(const Head& head);

/// An error term that a tolerance omits or reduces: rounding number `rounding` in the formula of a
/// pair, or the error of dot product number `dot`.
struct Injected {
  int rounding = -1, dot = -1;
  double factor = 1;  ///< the share of the declared size that remains
  bool exponential = false, residue = false, store = false;
};

/// Returns the error bounds of the gradients. `output` describes the sums; `head` has the factor
/// and lambda of the sums.
Gradients<Bound> bounds(const Head& head, const Output& output, const Injected& injected = {});

/// Returns the gradients of a kernel with every rounding of the formula. `shares` gives the size of
/// each rounding error relative to its maximum. The sums are exact.
Gradients<double> injected_gradients(const Head& head, const Shares& shares);

/// Returns the gradients of a kernel that is written step by step, independently of the formula.
/// Every operation rounds separately, with an error of its own size. Sums, casts and the factor
/// round if `sums` is given.
Gradients<double> stepwise_gradients(const Head& head, const Shares& shares,
                                     const Output* sums = nullptr);

/// The index of one element of one gradient.
struct Place {
  std::vector<double> Gradients<double>::*gradient;
  std::size_t index;
};

/// Runs a kernel in which every rounding error has its maximum size and the sign that increases the
/// element. Returns the change of the element.
double conspiracy(const std::function<Gradients<double>(const Shares&)>& kernel, Place place);

/// Returns a function that gives every rounding error the relative size 1 or -1, which depends only
/// on seed and source.
Shares random_signs(std::uint64_t seed);

}  // namespace assay::engine::attention
