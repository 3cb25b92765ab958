#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/engine/expression/graph.hpp"

namespace assay::engine::expression {
namespace {

/// fp32 represents every integer up to 2^24 exactly.
constexpr double largest_integer = 0x1p24;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns the smallest range that contains these numbers. A NaN, for example from 0 * infinity,
/// makes the range unbounded.
Range around(std::initializer_list<double> numbers) {
  Range range = {infinity, -infinity};
  for (const double x : numbers) {
    if (std::isnan(x)) return {-infinity, infinity};
    range.low = std::min(range.low, x), range.high = std::max(range.high, x);
  }
  return range;
}
template <class Binary>
Range corners(const Range& a, const Range& b, Binary&& of) {
  return around({of(a.low, b.low), of(a.low, b.high), of(a.high, b.low), of(a.high, b.high)});
}
template <class Unary>
Range monotone(const Range& a, Unary&& of) {
  return around({of(a.low), of(a.high)});
}

Range magnitude(const Range& a) {
  const double largest = std::max(std::abs(a.low), std::abs(a.high));
  return {a.has(0) ? 0 : std::min(std::abs(a.low), std::abs(a.high)), largest};
}

class Bounds {
 public:
  Bounds(const Graph& graph, const Ranges& of_variables)
      : graph_(graph), of_variables_(of_variables) {}

  std::vector<Range> all() {
    for (const Node& node : graph_.nodes()) {
      ranges_.push_back(of(node));
      if (node.integral && magnitude(ranges_.back()).high > largest_integer)
        throw ExpressionError(node.place, "an integer may be larger than 2^24");
    }
    return std::move(ranges_);
  }

 private:
  const Range& at(int node) const { return ranges_[static_cast<std::size_t>(node)]; }

  Range of(const Node& node) const {
    const auto& [a, b, c] = node.of;
    switch (node.operation) {
      case Operation::number:
        return {node.number, node.number};
      case Operation::variable:
        return of_variables_[node.which];
      case Operation::element:
        return element(node);
      case Operation::add:
        return corners(at(a), at(b), [](double x, double y) { return x + y; });
      case Operation::subtract:
        if (a == b) return {0, 0};
        return corners(at(a), at(b), [](double x, double y) { return x - y; });
      case Operation::multiply: {
        if (a != b) return corners(at(a), at(b), [](double x, double y) { return x * y; });
        const Range size = magnitude(at(a));
        return {size.low * size.low, size.high * size.high};
      }
      case Operation::divide:
        if (at(b).has(0))
          throw ExpressionError(node.place, "the divisor may be 0; bound it, as in max(x, 1)");
        return corners(at(a), at(b), [](double x, double y) { return x / y; });
      case Operation::negate:
        return {-at(a).high, -at(a).low};
      case Operation::magnitude:
        return magnitude(at(a));
      case Operation::smaller:
        return {std::min(at(a).low, at(b).low), std::min(at(a).high, at(b).high)};
      case Operation::larger:
        return {std::max(at(a).low, at(b).low), std::max(at(a).high, at(b).high)};
      case Operation::exponential:
        return monotone(at(a), [](double x) { return std::exp(x); });
      case Operation::logarithm:
        if (!(at(a).low > 0))
          throw ExpressionError(node.place,
                                "the logarithm of a number that may not be positive; bound it, "
                                "as in log(max(x, 1))");
        return monotone(at(a), [](double x) { return std::log(x); });
      case Operation::hyperbolic_tangent:
        return monotone(at(a), [](double x) { return std::tanh(x); });
      case Operation::choice:
        return around({at(b).low, at(b).high, at(c).low, at(c).high});
      default:
        return {0, 1};
    }
  }

  Range element(const Node& node) const {
    const std::vector<double>& array = graph_.array(node.which);
    const Range index = at(node.of[0]);
    const auto count = static_cast<double>(array.size());
    if (!(index.low >= 0 && index.high < count))
      throw ExpressionError(
          node.place, "the index may be " + std::to_string(static_cast<long>(index.low)) + " to " +
                          std::to_string(static_cast<long>(index.high)) + ", but the array has " +
                          std::to_string(array.size()) + " elements");
    const auto first = array.begin() + static_cast<std::ptrdiff_t>(index.low);
    const auto last = array.begin() + static_cast<std::ptrdiff_t>(index.high);
    const auto [low, high] = std::minmax_element(first, last + 1);
    return {*low, *high};
  }

  const Graph& graph_;
  const Ranges& of_variables_;
  std::vector<Range> ranges_;
};

}  // namespace

std::vector<Range> ranges_of(const Graph& graph, const Ranges& of_variables) {
  return Bounds(graph, of_variables).all();
}

}  // namespace assay::engine::expression
