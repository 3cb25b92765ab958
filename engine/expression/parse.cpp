#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "assay/engine/expression/graph.hpp"

namespace assay::engine::expression {
namespace {

struct Function {
  std::string_view name;
  Operation operation;
  std::size_t arguments;
};
constexpr Function functions[] = {
    {"abs", Operation::magnitude, 1}, {"min", Operation::smaller, 2},
    {"max", Operation::larger, 2},    {"exp", Operation::exponential, 1},
    {"log", Operation::logarithm, 1}, {"tanh", Operation::hyperbolic_tangent, 1},
    {"where", Operation::choice, 3},
};
constexpr std::string_view words[] = {"and", "or", "not"};

constexpr std::size_t longest_name = 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_first_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_of_name(char c) { return is_first_of_name(c) || is_digit(c); }

template <class List, class Projection>
std::string joined(const List& list, Projection name) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ", ") + std::string(name(item));
  return text;
}

std::string kind_name(Kind kind) { return kind == Kind::number ? "a number" : "a condition"; }

/// Quotes a text for an error message: at most 32 characters; control characters become '?'.
std::string shown(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, longest_name)) result += c >= ' ' && c <= '~' ? c : '?';
  return "'" + result + (text.size() > longest_name ? "...'" : "'");
}

struct Value {
  int node;
  Kind kind;
};

/// A recursive-descent parser with one function per level of operator precedence. A limit on the
/// nesting prevents a text from exhausting the stack.
class Parser {
 public:
  Parser(std::string_view text, const Names& names, bool with_score, Graph& graph)
      : text_(text), names_(names), with_score_(with_score), graph_(graph) {}

  Value whole() {
    const Value value = disjunction();
    skip_blanks();
    if (at_ != text_.size()) fail_at_next(" after the expression");
    return value;
  }

 private:
  /// Returns advice if the text is syntax of another language, for example how to write `^` in this
  /// language. Otherwise returns an empty text.
  static std::string_view advice(std::string_view text) {
    if (text.starts_with('^') || text.starts_with('*')) return "; for a square write x * x";
    if (text.starts_with('=')) return "; to compare, write ==";
    if (text.starts_with('<') || text.starts_with('>'))
      return "; compare two numbers at a time, as in a < b and b < c";
    if (text.starts_with('[')) return "; an array is a list: NAME=1x5 or NAME=5,6";
    if (text.starts_with('%'))
      return "; expressions have no remainder operator: list the values in an array, as in "
             "even=1,0,1,0 and even[n] == 1; the operators are + - * / < <= > >= == != and or not";
    return "";
  }

  [[noreturn]] static void fail(std::size_t place, const std::string& what) {
    throw ExpressionError(place, what);
  }

  /// Throws an error that reports the next character as unexpected. `where` is appended to the
  /// message.
  [[noreturn]] void fail_at_next(const std::string& where) const {
    fail(at_, "unexpected " + shown(text_.substr(at_, 1)) + where +
                  std::string(advice(text_.substr(at_))));
  }

  /// Counts the nesting depth. A Level object exists while the parser reads one nested expression.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.level_ > deepest)
        fail(parser_.at_, "nested deeper than " + std::to_string(deepest) + " levels");
    }
    ~Level() { --parser_.level_; }
    Level(const Level&) = delete;

   private:
    Parser& parser_;
  };

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
  }
  /// Consumes the operator `sign` if it comes next, unless the character after it is `other`.
  bool take(std::string_view sign, char other = '\0') {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    if (other != '\0' && text_.substr(at_ + sign.size()).starts_with(other)) return false;
    at_ += sign.size();
    return true;
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(word) || (rest.size() > word.size() && is_of_name(rest[word.size()])))
      return false;
    at_ += word.size();
    return true;
  }
  void expect(std::string_view sign) {
    if (take(sign)) return;
    const std::string expected = "expected '" + std::string(sign) + "'";
    if (at_ == text_.size()) fail(at_, expected);
    fail_at_next("; " + expected);
  }
  void require(const Value& value, Kind kind, std::size_t place) const {
    if (value.kind != kind)
      fail(place, "expected " + kind_name(kind) + ", found " + kind_name(value.kind));
  }

  Value combined(Operation operation, const Value& a, const Value& b, Kind of, std::size_t place) {
    require(a, of, place);
    require(b, of, place);
    return {graph_.make(operation, {a.node, b.node}, place),
            is_condition(operation) ? Kind::condition : Kind::number};
  }

  Value disjunction() {
    Value value = conjunction();
    for (;;) {
      skip_blanks();
      const std::size_t place = at_;
      if (!take_word("or") && !take("||") && !take("|")) return value;
      value = combined(Operation::either, value, conjunction(), Kind::condition, place);
    }
  }
  Value conjunction() {
    Value value = inversion();
    for (;;) {
      skip_blanks();
      const std::size_t place = at_;
      if (!take_word("and") && !take("&&") && !take("&")) return value;
      value = combined(Operation::both, value, inversion(), Kind::condition, place);
    }
  }
  Value inversion() {
    skip_blanks();
    const std::size_t place = at_;
    if (!take_word("not") && !take("!", '=')) return comparison();
    const Level level(*this);
    const Value value = inversion();
    require(value, Kind::condition, place);
    return {graph_.make(Operation::negation, {value.node}, place), Kind::condition};
  }
  Value comparison() {
    const Value a = sum();
    skip_blanks();
    const std::size_t place = at_;
    const auto compared = [&](Operation operation, bool swapped) {
      const Value b = sum();
      return swapped ? combined(operation, b, a, Kind::number, place)
                     : combined(operation, a, b, Kind::number, place);
    };
    if (take("<=")) return compared(Operation::at_most, false);
    if (take(">=")) return compared(Operation::at_most, true);
    if (take("<")) return compared(Operation::less, false);
    if (take(">")) return compared(Operation::less, true);
    if (take("==")) return compared(Operation::equal, false);
    if (!take("!=")) return a;
    return {graph_.make(Operation::negation, {compared(Operation::equal, false).node}, place),
            Kind::condition};
  }
  Value sum() {
    Value value = product();
    for (;;) {
      skip_blanks();
      const std::size_t place = at_;
      if (take("+"))
        value = combined(Operation::add, value, product(), Kind::number, place);
      else if (take("-"))
        value = combined(Operation::subtract, value, product(), Kind::number, place);
      else
        return value;
    }
  }
  Value product() {
    Value value = signed_value();
    for (;;) {
      skip_blanks();
      const std::size_t place = at_;
      if (take("*"))
        value = combined(Operation::multiply, value, signed_value(), Kind::number, place);
      else if (take("/"))
        value = combined(Operation::divide, value, signed_value(), Kind::number, place);
      else
        return value;
    }
  }
  Value signed_value() {
    skip_blanks();
    const std::size_t place = at_;
    if (!take("-")) return primary();
    const Level level(*this);
    const Value value = signed_value();
    require(value, Kind::number, place);
    return {graph_.make(Operation::negate, {value.node}, place), Kind::number};
  }
  Value primary() {
    const Level level(*this);
    skip_blanks();
    const std::size_t place = at_;
    if (take("(")) {
      const Value value = disjunction();
      expect(")");
      return value;
    }
    if (at_ == text_.size()) fail(place, "the expression ends where a number is expected");
    if (is_digit(text_[at_]) || text_[at_] == '.') return literal();
    if (is_first_of_name(text_[at_])) return named();
    fail_at_next("");
  }
  Value literal() {
    const std::size_t place = at_;
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(static_cast<float>(value)))
      fail(place, "a number that fp32 cannot represent");
    at_ = static_cast<std::size_t>(end - text_.data());
    return {graph_.number(value, place), Kind::number};
  }
  Value named() {
    const std::size_t place = at_;
    while (at_ < text_.size() && is_of_name(text_[at_])) ++at_;
    const std::string_view name = text_.substr(place, at_ - place);
    const auto function = std::ranges::find(functions, name, &Function::name);
    if (function != std::end(functions)) return called(*function, place);
    const auto array = std::ranges::find(names_.arrays, name,
                                         [](const auto& x) -> std::string_view { return x.first; });
    if (array != names_.arrays.end())
      return element(static_cast<std::size_t>(array - names_.arrays.begin()), place);
    const auto parameter = std::ranges::find(
        names_.parameters, name, [](const auto& x) -> std::string_view { return x.first; });
    if (parameter != names_.parameters.end())
      return {graph_.number(parameter->second, place), Kind::number};
    const auto variable = std::ranges::find(variable_names, name);
    if (variable == variable_names.end())
      fail(place, "unknown name " + shown(name) + "; there are " +
                      joined(variable_names, [](auto x) { return x; }) + ", " +
                      joined(functions, [](const auto& x) { return x.name; }) +
                      (names_.parameters.empty() ? "" : ", ") +
                      joined(names_.parameters, [](const auto& x) { return x.first; }) +
                      (names_.arrays.empty() ? "" : ", ") +
                      joined(names_.arrays, [](const auto& x) { return x.first; }));
    const auto which = static_cast<Variable>(variable - variable_names.begin());
    if (which == Variable::s && !with_score_)
      fail(place, "the score s cannot be used here: only the formula of the score may use it");
    return {graph_.variable(which, place), Kind::number};
  }
  Value element(std::size_t array, std::size_t place) {
    if (std::ranges::find(names_.variables, names_.arrays[array].first) != names_.variables.end())
      return {graph_.element(array, graph_.number(0, place), place), Kind::number};
    if (!take("["))
      fail(place, shown(names_.arrays[array].first) + " is an array: give an index, as in " +
                      names_.arrays[array].first + "[j]");
    const Value index = disjunction();
    expect("]");
    require(index, Kind::number, place);
    const Node& of = graph_[index.node];
    if (!of.integral || of.of_score)
      fail(place, "the index of an array must be an integer that does not depend on s");
    return {graph_.element(array, index.node, place), Kind::number};
  }
  Value called(const Function& function, std::size_t place) {
    expect("(");
    std::array<int, 3> nodes = {0, 0, 0};
    for (std::size_t k = 0; k < function.arguments; ++k) {
      if (k > 0 && !take(","))
        fail(at_, std::string(function.name) + " takes " + std::to_string(function.arguments) +
                      " arguments; given: " + std::to_string(k));
      const Value value = disjunction();
      skip_blanks();
      if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ')')
        fail_at_next(" in argument " + std::to_string(k + 1) + " of " + std::string(function.name));
      const bool condition = function.operation == Operation::choice && k == 0;
      require(value, condition ? Kind::condition : Kind::number, place);
      nodes[k] = value.node;
    }
    const std::size_t end = at_;
    if (take(","))
      fail(end, std::string(function.name) + " takes " + std::to_string(function.arguments) +
                    (function.arguments == 1 ? " argument" : " arguments") + "; more are given");
    expect(")");
    return {graph_.make(function.operation, nodes, place), Kind::number};
  }

  std::string_view text_;
  const Names& names_;
  bool with_score_;
  Graph& graph_;
  std::size_t at_ = 0;
  int level_ = 0;
};

}  // namespace

int parse(std::string_view text, Kind kind, const Names& names, bool with_score, Graph& graph) {
  if (text.size() > longest_text)
    throw ExpressionError(longest_text, "the expression has " + std::to_string(text.size()) +
                                            " characters; at most " + std::to_string(longest_text) +
                                            " are accepted");
  const Value value = Parser(text, names, with_score, graph).whole();
  if (value.kind != kind)
    throw ExpressionError(
        0, "the expression is " + kind_name(value.kind) + "; expected " + kind_name(kind));
  return value.node;
}

void require_name(std::string_view name) {
  if (name.empty() || !is_first_of_name(name.front()) || !std::ranges::all_of(name, is_of_name) ||
      name.size() > longest_name)
    throw std::invalid_argument("name " + shown(name) +
                                ": accepted: a letter or _, then letters, " +
                                "digits and _, at most " + std::to_string(longest_name));
  const bool taken = std::ranges::find(variable_names, name) != variable_names.end() ||
                     std::ranges::find(functions, name, &Function::name) != std::end(functions) ||
                     std::ranges::find(words, name) != std::end(words);
  if (taken)
    throw std::invalid_argument(
        "name " + shown(name) +
        " is already the name of a variable or a function in expressions; choose another name");
}

}  // namespace assay::engine::expression
