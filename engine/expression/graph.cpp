#include "assay/engine/expression/graph.hpp"

#include <algorithm>
#include <cmath>

namespace assay::engine::expression {
namespace {

constexpr double largest_integer = 0x1p24;  // of fp32

bool is_same(const Node& a, const Node& b) {
  return a.operation == b.operation && a.of == b.of && a.which == b.which &&
         (a.number == b.number && std::signbit(a.number) == std::signbit(b.number));
}

bool is_whole(double x) { return std::abs(x) <= largest_integer && x == std::trunc(x); }

}  // namespace

bool Graph::is_integral(const Node& node) const {
  const auto operands_are = [&] {
    for (std::size_t k = 0; k < operands(node.operation); ++k)
      if (!(*this)[node.of[k]].integral) return false;
    return true;
  };
  switch (node.operation) {
    case Operation::number:
      return is_whole(node.number);
    case Operation::variable:
      return node.which != static_cast<std::size_t>(Variable::s);
    case Operation::element:
      return std::ranges::all_of(arrays_[node.which], is_whole);
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::negate:
    case Operation::magnitude:
    case Operation::smaller:
    case Operation::larger:
      return operands_are();
    case Operation::choice:
      return (*this)[node.of[1]].integral && (*this)[node.of[2]].integral;
    default:
      return is_condition(node.operation);
  }
}

int Graph::add(Node node) {
  const auto equal =
      std::ranges::find_if(nodes_, [&](const Node& other) { return is_same(node, other); });
  if (equal != nodes_.end()) return static_cast<int>(equal - nodes_.begin());
  if (nodes_.size() == most_nodes)
    throw ExpressionError(node.place, "the expression and its derivative have more than " +
                                          std::to_string(most_nodes) + " operations");
  node.integral = is_integral(node);
  node.of_score =
      node.operation == Operation::variable && node.which == static_cast<std::size_t>(Variable::s);
  for (std::size_t k = 0; k < operands(node.operation); ++k)
    node.of_score |= (*this)[node.of[k]].of_score;
  nodes_.push_back(node);
  return static_cast<int>(nodes_.size()) - 1;
}

int Graph::number(double value, std::size_t place) {
  return add({.operation = Operation::number, .number = value, .place = place});
}
int Graph::variable(Variable which, std::size_t place) {
  return add(
      {.operation = Operation::variable, .which = static_cast<std::size_t>(which), .place = place});
}
int Graph::element(std::size_t array, int index, std::size_t place) {
  return add(
      {.operation = Operation::element, .of = {index, 0, 0}, .which = array, .place = place});
}

/// Looks for a node that has exactly the value of the operation: an equal existing node, or a
/// simpler one, such as the node a for the operation a + 0. Returns -1 if there is none.
int Graph::simplified(Operation operation, const std::array<int, 3>& of, std::size_t place) {
  const auto [a, b, c] = of;
  switch (operation) {
    case Operation::add:
      return is(a, 0) ? b : is(b, 0) ? a : -1;
    case Operation::subtract:
      return is(b, 0) ? a : is(a, 0) ? make(Operation::negate, {b}, place) : -1;
    case Operation::multiply:
      if (is(a, 0) || is(b, 0)) return number(0, place);
      if (is(a, 1)) return b;
      if (is(b, 1)) return a;
      if (is(a, -1)) return make(Operation::negate, {b}, place);
      return is(b, -1) ? make(Operation::negate, {a}, place) : -1;
    case Operation::divide:
      return is(b, 1) ? a : -1;
    case Operation::negate:
      if ((*this)[a].operation == Operation::negate) return (*this)[a].of[0];
      return (*this)[a].operation == Operation::number ? number(0 - (*this)[a].number, place) : -1;
    case Operation::choice:
      return b == c ? b : -1;
    default:
      return -1;
  }
}

int Graph::make(Operation operation, std::array<int, 3> of, std::size_t place) {
  const int simple = simplified(operation, of, place);
  if (simple >= 0) return simple;
  return add({.operation = operation, .of = of, .place = place});
}

/// Returns the derivative of a node. `by` contains the derivatives of all nodes before this node.
int Graph::derived(int node, const std::vector<int>& by) {
  const Node of = (*this)[node];  // a copy: adding nodes moves them
  const auto [a, b, c] = of.of;
  const auto d = [&](int operand) { return by[static_cast<std::size_t>(operand)]; };
  const auto is_less = [&](int x, int y) { return make(Operation::less, {x, y}, of.place); };
  const auto chosen = [&](int condition, int yes, int no) {
    return make(Operation::choice, {condition, yes, no}, of.place);
  };
  const auto times = [&](int x, int y) { return make(Operation::multiply, {x, y}, of.place); };
  switch (of.operation) {
    case Operation::add:
    case Operation::subtract:
      return make(of.operation, {d(a), d(b)}, of.place);
    case Operation::multiply:
      return make(Operation::add, {times(d(a), b), times(a, d(b))}, of.place);
    case Operation::divide: {
      // Derivative of a / b: (a' - (a / b) b') / b, which reuses the quotient a / b.
      const int rest = make(Operation::subtract, {d(a), times(node, d(b))}, of.place);
      return is(rest, 0) ? rest : make(Operation::divide, {rest, b}, of.place);
    }
    case Operation::negate:
      return make(Operation::negate, {d(a)}, of.place);
    case Operation::magnitude:
      return chosen(is_less(a, number(0, of.place)), make(Operation::negate, {d(a)}, of.place),
                    d(a));
    case Operation::smaller:
      return chosen(is_less(b, a), d(b), d(a));
    case Operation::larger:
      return chosen(is_less(a, b), d(b), d(a));
    case Operation::exponential:
      return times(node, d(a));
    case Operation::logarithm:
      return is(d(a), 0) ? d(a) : make(Operation::divide, {d(a), a}, of.place);
    case Operation::hyperbolic_tangent:
      return times(make(Operation::subtract, {number(1, of.place), times(node, node)}, of.place),
                   d(a));
    case Operation::choice:
      return chosen(a, d(b), d(c));
    default:  // numbers, variables, elements and conditions do not change
      return number(0, of.place);
  }
}

int Graph::derivative(int node) { return derivative(node, variable(Variable::s)); }

int Graph::derivative(int node, int by) {
  std::vector<int> derivatives;
  std::vector<bool> depends;
  const int zero = number(0), one = number(1), count = node + 1;
  for (int k = 0; k < count; ++k) {
    const Node of = (*this)[k];
    bool is_changed = k == by;
    for (std::size_t o = 0; o < operands(of.operation); ++o)
      is_changed = is_changed || depends[static_cast<std::size_t>(of.of[o])];
    depends.push_back(is_changed);
    derivatives.push_back(k == by                                     ? one
                          : is_changed && !is_condition(of.operation) ? derived(k, derivatives)
                                                                      : zero);
  }
  return derivatives.back();
}

void Graph::keep_only(std::span<int> results) {
  std::vector<int> place(nodes_.size(), -1);
  for (const int result : results) place[static_cast<std::size_t>(result)] = 0;
  for (std::size_t k = nodes_.size(); k-- > 0;)
    if (place[k] == 0)
      for (std::size_t o = 0; o < operands(nodes_[k].operation); ++o)
        place[static_cast<std::size_t>(nodes_[k].of[o])] = 0;
  std::vector<Node> kept;
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    if (place[k] != 0) continue;
    place[k] = static_cast<int>(kept.size());
    kept.push_back(nodes_[k]);
    for (std::size_t o = 0; o < operands(nodes_[k].operation); ++o)
      kept.back().of[o] = place[static_cast<std::size_t>(nodes_[k].of[o])];
  }
  nodes_ = std::move(kept);
  for (int& result : results) result = place[static_cast<std::size_t>(result)];
}

}  // namespace assay::engine::expression
