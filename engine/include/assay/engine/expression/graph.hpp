#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Expressions that a user writes, such as cap*tanh(s/cap). An expression is parsed once into a
/// graph of operations; every evaluation is a loop over this graph. The evaluation does not
/// recurse, so no text can exhaust the stack. engine/expression/README.md describes the language.
namespace assay::engine::expression {

/// The variables of an expression: s is the score of a pair, i and j are the positions of query and
/// key in their sequence, b, n and kv are the numbers of the batch entry, the query head and the
/// key head.
enum class Variable : std::uint8_t { s, i, j, b, n, kv };
inline constexpr std::size_t variables = 6;
inline constexpr std::array<std::string_view, variables> variable_names = {"s", "i", "j",
                                                                           "b", "n", "kv"};

enum class Operation : std::uint8_t {
  number,
  variable,
  element,  ///< element `of[0]` of array `which`
  add,
  subtract,
  multiply,
  divide,
  negate,
  magnitude,
  smaller,
  larger,
  exponential,
  logarithm,
  hyperbolic_tangent,
  less,
  at_most,
  equal,
  both,
  either,
  negation,
  choice,  ///< of[0] ? of[1] : of[2]
};

/// Returns the number of operands of an operation.
constexpr std::size_t operands(Operation operation) {
  if (operation <= Operation::variable) return 0;
  if (operation == Operation::choice) return 3;
  const bool single =
      operation == Operation::element || operation == Operation::negation ||
      (operation >= Operation::negate && operation <= Operation::magnitude) ||
      (operation >= Operation::exponential && operation <= Operation::hyperbolic_tangent);
  return single ? 1 : 2;
}
constexpr bool is_condition(Operation operation) {
  return operation >= Operation::less && operation <= Operation::negation;
}

/// One operation of an expression graph. Its operands are nodes with smaller numbers.
struct Node {
  Operation operation = Operation::number;
  std::array<int, 3> of = {0, 0, 0};
  double number = 0;      ///< the value of a number
  std::size_t which = 0;  ///< the variable or the array
  std::size_t place = 0;  ///< where the operation is in the text
  bool integral = false;  ///< kernels compute it exactly, in integers
  bool of_score = false;  ///< depends on s
};

/// The names that an expression may use in addition to variables and functions. Parameters and
/// array elements are fp32 numbers.
struct Names {
  std::vector<std::pair<std::string, double>> parameters;
  std::vector<std::pair<std::string, std::vector<double>>> arrays;
  /// Names of one-element arrays that the text uses without an index. These are parameters with a
  /// gradient. Each needs its own node in the graph, even if its value equals another constant.
  std::vector<std::string> variables;
};

/// Describes an error in a user's expression and its position (the first character has number 1).
class ExpressionError : public std::invalid_argument {
 public:
  ExpressionError(std::size_t place, const std::string& what)
      : std::invalid_argument("character " + std::to_string(place + 1) + ": " + what) {}
};

inline constexpr std::size_t longest_text = 4096;  ///< characters
inline constexpr std::size_t most_nodes = 256;     ///< operations, derivative included
inline constexpr int deepest = 64;                 ///< nesting of parentheses and functions

/// The operations of an expression, in the order of their evaluation. Equal operations have one
/// node. Operations with the constants 0 and 1 are simplified; all other operations stay as
/// written, because a kernel rounds each of them.
class Graph {
 public:
  explicit Graph(std::vector<std::vector<double>> arrays = {}) : arrays_(std::move(arrays)) {}

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& operator[](int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  const std::vector<double>& array(std::size_t which) const { return arrays_[which]; }

  /// Each of these functions adds a node, unless an equal node exists, and returns the number of
  /// the node. Errors: ExpressionError if there are more than `most_nodes` nodes.
  int number(double value, std::size_t place = 0);
  int variable(Variable which, std::size_t place = 0);
  int element(std::size_t array, int index, std::size_t place = 0);
  int make(Operation operation, std::array<int, 3> of, std::size_t place = 0);

  /// Adds the derivative of `node` with respect to the score s. Returns the node of the derivative.
  int derivative(int node);
  /// Adds the derivative of `node` with respect to the node `by`. Returns the node of the
  /// derivative.
  int derivative(int node, int by);

  /// Removes the nodes that the nodes in `results` do not need. Gives the other nodes new numbers,
  /// also in `results`.
  void keep_only(std::span<int> results);

 private:
  int add(Node node);
  int simplified(Operation operation, const std::array<int, 3>& of, std::size_t place);
  bool is(int node, double value) const {
    return (*this)[node].operation == Operation::number && (*this)[node].number == value;
  }
  bool is_integral(const Node& node) const;
  int derived(int node, const std::vector<int>& by);

  std::vector<Node> nodes_;
  std::vector<std::vector<double>> arrays_;
};

enum class Kind : std::uint8_t { number, condition };

/// Parses a text and adds its operations to the graph, which must already have the arrays of
/// `names`. `with_score`: whether the text may use the score s. Returns the node of the result.
/// Errors: ExpressionError with position and reason.
int parse(std::string_view text, Kind kind, const Names& names, bool with_score, Graph& graph);

/// Throws std::invalid_argument for a name that an expression cannot use. A name has at most 32
/// letters, digits and underscores, and differs from all variables and functions.
void require_name(std::string_view name);

/// The closed range of numbers from `low` to `high`.
struct Range {
  double low = 0, high = 0;
  bool has(double x) const { return low <= x && x <= high; }
};
using Ranges = std::array<Range, variables>;

/// Returns for each node a range that contains all its possible values, if every variable is in its
/// own range. Errors: ExpressionError for a division by a range that contains 0, for the logarithm
/// of a range that is not positive, and for an array index that may be out of range.
std::vector<Range> ranges_of(const Graph& graph, const Ranges& of_variables);

}  // namespace assay::engine::expression
