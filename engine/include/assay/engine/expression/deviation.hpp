#pragma once

#include <array>
#include <cstddef>

#include "assay/engine/expression/evaluate.hpp"

/// Evaluates an expression graph and bounds the rounding error of a kernel in each node
/// (engine/expression/README.md, X1).
namespace assay::engine::expression {

/// How a kernel rounds the operations of an expression.
struct Rounding {
  double u = 0x1p-24;       ///< of every operation that is not an integer's
  double of_exp = 0x1p-22;  ///< relative error of exp
  double of_log = 0x1p-22;  ///< error of log, relative to the larger of |log| and 1
  double tangent_relative = 0x1p-21, tangent = 0x1p-22;  ///< errors of tanh: both are added
};

/// A number that a kernel computes: its value and bounds of its error. `error` bounds the whole
/// error, including the effect of the given error of the score s. `rounded` and `shared` describe
/// the first-order error for an exact s: `rounded` is the sum of the bounds of roundings with mean
/// 0, `shared` bounds the rest.
template <class V>
struct Deviating {
  V value, error, rounded, shared;
};

/// Values and error bounds of all nodes of an expression graph, for a kernel whose score s has an
/// error.
template <class V>
class Deviations {
 public:
  explicit Deviations(const Rounding& of) : of_(of) {}

  /// Evaluates all nodes. `score_error` is the bound of the error of the score s.
  [[gnu::always_inline]] inline void evaluate(const Graph& graph, const Variables<V>& at,
                                              const V& score_error) {
    ties_ = V{};
    node_[0] = Number{};  // operations without operands read it
    std::size_t next = 0;
    for (const Node& node : graph.nodes()) node_[next++] = of(graph, node, at, score_error);
  }
  [[gnu::always_inline]] inline const Deviating<V>& operator[](int node) const {
    return node_[static_cast<std::size_t>(node)];
  }
  /// Not 0 if the two sides of a comparison in the expression are so close that a kernel may get
  /// the other result.
  [[gnu::always_inline]] inline const V& ties() const { return ties_; }

 private:
  using Number = Deviating<V>;

  [[gnu::always_inline]] inline Number of(const Graph& graph, const Node& node,
                                          const Variables<V>& at, const V& score_error) {
    const Number &a = (*this)[node.of[0]], &b = (*this)[node.of[1]], &c = (*this)[node.of[2]];
    Number x{};
    if (node.operation == Operation::variable) {
      x.value = at[node.which];
      if (node.of_score) x.error = score_error;
      return x;
    }
    x.value = applied<V>(graph, node, a.value, b.value, c.value);
    switch (node.operation) {
      case Operation::number: {
        const auto nearest = static_cast<double>(static_cast<float>(node.number));
        if (nearest != node.number) add_shared(x, of_.u * magnitude_of(x.value));
        return x;
      }
      case Operation::add:
      case Operation::subtract:
        x.error = a.error + b.error, x.rounded = a.rounded + b.rounded;
        x.shared = a.shared + b.shared;
        return rounded(node, x, 1);
      case Operation::multiply: {
        const V p = magnitude_of(a.value), q = magnitude_of(b.value);
        x.error = p * b.error + q * a.error + a.error * b.error;
        x.rounded = p * b.rounded + q * a.rounded, x.shared = p * b.shared + q * a.shared;
        return rounded(node, x, 1);
      }
      case Operation::divide: {
        // A kernel may multiply by the reciprocal of the divisor, which is rounded, too.
        const V q = magnitude_of(x.value), divisor = magnitude_of(b.value);
        const V least = divisor - b.error;
        x.error = least > 0.0 ? (a.error + q * b.error) / least : filled<V>(HUGE_VAL);
        x.rounded = (a.rounded + q * b.rounded) / divisor;
        x.shared = (a.shared + q * b.shared) / divisor;
        return rounded(node, x, 2);
      }
      case Operation::negate:
      case Operation::magnitude:
        x.error = a.error, x.rounded = a.rounded, x.shared = a.shared;
        return x;
      case Operation::smaller:
      case Operation::larger: {
        x.error = larger_of(a.error, b.error), x.rounded = larger_of(a.rounded, b.rounded);
        x.shared = larger_of(a.shared, b.shared);
        return x;
      }
      case Operation::exponential:
        x.error = x.value * growth(V(a.error + of_.of_exp));
        x.rounded = x.value * a.rounded, x.shared = x.value * (a.shared + of_.of_exp);
        return x;
      case Operation::logarithm: {
        const V least = a.value - a.error, size = magnitude_of(x.value);
        const V own = of_.of_log * (size > 1.0 ? size : filled<V>(1.0));
        x.error = (least > 0.0 ? a.error / least : filled<V>(HUGE_VAL)) + own;
        x.rounded = a.rounded / a.value, x.shared = a.shared / a.value + own;
        return x;
      }
      case Operation::hyperbolic_tangent: {
        const V above = tangent(V(a.value + a.error)) - x.value,
                below = x.value - tangent(V(a.value - a.error)), slope = 1.0 - square(x.value);
        const V own = of_.tangent_relative * magnitude_of(x.value) + of_.tangent;
        x.error = larger_of(above, below) + own;
        x.rounded = slope * a.rounded, x.shared = slope * a.shared + own;
        return x;
      }
      case Operation::less:
      case Operation::at_most:
      case Operation::equal: {
        const V unsure = a.error + b.error, none{}, one = filled<V>(1.0);
        const V tie = magnitude_of(V(a.value - b.value)) <= unsure ? one : none;
        ties_ += unsure > 0.0 ? tie : none;
        return x;
      }
      case Operation::choice:
        x.error = chosen(a.value, b.error, c.error);
        x.rounded = chosen(a.value, b.rounded, c.rounded);
        x.shared = chosen(a.value, b.shared, c.shared);
        return x;
      default:
        return x;
    }
  }

  [[gnu::always_inline]] static inline void add_shared(Number& x, const V& error) {
    x.error += error;
    x.shared += error;
  }
  [[gnu::always_inline]] inline Number rounded(const Node& node, Number x, double times) const {
    if (node.integral) return x;
    const V size = magnitude_of(x.value);
    x.error += (times * of_.u) * (size + x.error);
    x.rounded += (times * of_.u) * size;
    return x;
  }

  Rounding of_;
  V ties_{};
  std::array<Number, most_nodes> node_;  // not cleared: it is large, and evaluated often
};

}  // namespace assay::engine::expression
