#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "assay/engine/expression/graph.hpp"
#include "assay/engine/lanes.hpp"

/// Evaluates an expression graph with any number type V: double, Lanes (several doubles) or numbers
/// of many digits. Conditions evaluate to 1 or 0.
namespace assay::engine::expression {

template <class V>
inline constexpr bool is_double = std::is_same_v<V, double> || std::is_same_v<V, Lanes>;

/// tanh x in double, with an error of at most 2^-47 |tanh x|.
template <class V>
[[gnu::always_inline]] inline V tangent(const V& x) {
  const V size = magnitude_of(x), y = size > 20.0 ? filled<V>(20.0) : size;
  const V far = 1.0 - 2.0 / (engine::exponential(V(2.0 * y)) + 1.0);
  // e^z - 1 for z up to 1/2, as a power series. The formula 1 - 2 / (e^z + 1) would lose accuracy
  // by cancellation.
  const V z = 2.0 * (y > 0.25 ? filled<V>(0.25) : y);
  V series = filled<V>(1.0);
  for (double k = 15; k > 1; --k) series = 1.0 + series * z / k;
  const V less_one = series * z, near = less_one / (less_one + 2.0);
  const V result = y > 0.25 ? far : near;
  return x < 0.0 ? -result : result;
}

template <class V>
[[gnu::always_inline]] inline V logarithm(const V& x) {
  if constexpr (std::is_same_v<V, Lanes>) {
    Lanes result{};
    for (int k = 0; k < lanes_of<Lanes>; ++k) result[k] = std::log(x[k]);
    return result;
  } else {
    using std::log;
    return V(log(x));
  }
}

/// The function `ranges_of` has already checked the array indices of all pairs. Only unused lanes
/// after the last pair can contain a wrong index.
template <class V>
[[gnu::always_inline]] inline V element_at(const std::vector<double>& array, const V& index) {
  if constexpr (std::is_same_v<V, Lanes>) {
    const auto count = static_cast<double>(array.size());
    Lanes result{};
    for (int k = 0; k < lanes_of<Lanes>; ++k)
      if (index[k] >= 0 && index[k] < count)
        result[k] = array.data()[static_cast<std::size_t>(index[k])];
    return result;
  } else {
    return V(array[static_cast<std::size_t>(index)]);
  }
}

template <class V>
[[gnu::always_inline]] inline V chosen(const V& condition, const V& yes, const V& no) {
  return condition != 0.0 ? yes : no;
}

/// Returns the result of the node's operation for the operands a, b and c.
template <class V>
[[gnu::always_inline]] inline V applied(const Graph& graph, const Node& node, const V& a,
                                        const V& b, const V& c) {
  const V one = filled<V>(1.0), zero = filled<V>(0.0);
  switch (node.operation) {
    case Operation::number:
      return filled<V>(node.number);
    case Operation::variable:
      return zero;  // the caller has its value
    case Operation::element:
      return element_at(graph.array(node.which), a);
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return a / b;
    case Operation::negate:
      return -a;
    case Operation::magnitude:
      return magnitude_of(a);
    case Operation::smaller:
      return smaller_of(a, b);
    case Operation::larger:
      return larger_of(a, b);
    case Operation::exponential:
      if constexpr (is_double<V>) {
        return engine::exponential(a);
      } else {
        return V(exp(a));
      }
    case Operation::logarithm:
      return logarithm(a);
    case Operation::hyperbolic_tangent:
      if constexpr (is_double<V>) {
        return tangent(a);
      } else {
        return V(tanh(a));
      }
    case Operation::less:
      return a < b ? one : zero;
    case Operation::at_most:
      return a <= b ? one : zero;
    case Operation::equal:
      return a == b ? one : zero;
    case Operation::both:
      return a * b;
    case Operation::either:
      return larger_of(a, b);
    case Operation::negation:
      return one - a;
    case Operation::choice:
      return chosen(a, b, c);
  }
  return zero;
}

/// The values of an expression's variables, in the order of the enumeration `Variable`.
template <class V>
using Variables = std::array<V, variables>;

/// The values of all nodes of an expression graph.
template <class V>
class Values {
 public:
  [[gnu::always_inline]] inline void evaluate(const Graph& graph, const Variables<V>& at) {
    std::size_t next = 0;
    value_[0] = V{};  // operations without operands read it
    for (const Node& node : graph.nodes()) {
      if (node.operation == Operation::variable) {
        value_[next++] = at[node.which];
        continue;
      }
      const auto& [a, b, c] = node.of;
      value_[next] = applied<V>(graph, node, (*this)[a], (*this)[b], (*this)[c]);
      ++next;
    }
  }
  [[gnu::always_inline]] inline const V& operator[](int node) const {
    return value_[static_cast<std::size_t>(node)];
  }

 private:
  std::array<V, most_nodes> value_;  // not cleared: it is large, and evaluated often
};

}  // namespace assay::engine::expression
