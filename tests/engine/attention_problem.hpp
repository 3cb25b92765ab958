#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "assay/engine/algebra/bound.hpp"
#include "assay/engine/algebra/injection.hpp"
#include "assay/engine/algebra/plain.hpp"
#include "formulas/head.hpp"

/// One head of attention, and what its formula gives when it is read pair by pair.
namespace assay::engine::attention {

using Bound = engine::Bound<double>;

/// The bound of one of so many elements of a gradient with that factor; `output` says the rest.
Bound written(const Element& element, Output output, double factor, std::size_t elements);

/// What a random head is drawn from.
struct Draw {
  std::int64_t queries = 5, keys = 7, dim = 6, dim_v = 4;
  double scale = 0.5, size = 1;  ///< of operands, which are uniform in (-size, size)
  double keep_prob = 1, attended = 1;
  std::uint64_t seed = 1;
};

/// Operands that bfloat16 holds, with statistics and attention_in of their own forward; rows that
/// attend to nothing have the statistics 0 and 1.
Head random_head(const Draw& draw);

/// Statistics and attention_in of the head's forward.
void give_forward(Head& head);

/// The three gradients, row by row.
template <class T>
struct Gradients {
  std::vector<T> dq, dk, dv;
};

/// T is double or Naive.
template <class T>
Gradients<T> plain_gradients(const Head& head);

/// What of the formula's declarations a reading leaves out or makes smaller: the roundings whose
/// number in the text of a pair is `rounding`, or the error of its dot product `dot`.
struct Planted {
  int rounding = -1, dot = -1;
  double factor = 1;  ///< of the declared size
  bool exponential = false, residue = false, store = false;
};

/// How outputs are summed, but for factor and lambda, which are the head's own.
Gradients<Bound> bounds(const Head& head, const Output& output, const Planted& planted = {});

/// The gradients of a kernel that commits every rounding of the formula's text, as `shares` says;
/// summed exactly.
Gradients<double> injected_gradients(const Head& head, const Shares& shares);

/// Gradients of a kernel that is written step by step, without the formula's text: every operation
/// rounds by itself, at its own size. Sums, casts and the factor round where `sums` says so.
Gradients<double> stepwise_gradients(const Head& head, const Shares& shares,
                                     const Output* sums = nullptr);

/// One element of one gradient.
struct Place {
  std::vector<double> Gradients<double>::*gradient;
  std::size_t index;
};

/// Runs a kernel with every source at its full size, each with the sign that moves the element
/// up, and returns how far it moves.
double conspiracy(const std::function<Gradients<double>(const Shares&)>& kernel, Place place);

/// Shares of 1 and -1, a pure function of seed and source.
Shares random_signs(std::uint64_t seed);

}  // namespace assay::engine::attention
