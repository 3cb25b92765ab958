#include "attention/variant/variant.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "case/user_formula.hpp"

namespace assay::conformance::attention {
namespace {

namespace expression = engine::expression;

constexpr std::size_t longest_array = 1 << 20;
/// The largest number of gradient elements of a user's formula. Every query head has a sum for each
/// of them, and these sums are in memory together.
constexpr std::int64_t most_gradients = 1 << 16;
constexpr std::string_view names_of_outputs[] = {"dq",      "dk",    "dv",   "dq_rope",
                                                 "dk_rope", "dsink", "dpse", "dformula"};
/// A formula must be defined for all scores up to this magnitude.
constexpr double largest_usual_score = 0x1p16;

[[noreturn]] void fail(std::string_view item, const std::string& what) {
  throw std::invalid_argument("--variant=formula: " + std::string(item) + ": " + what);
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != text.npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

/// Parses a finite number and rounds it to fp32, the type in which a kernel gets it.
bool parse_number(std::string_view text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  number = static_cast<double>(static_cast<float>(number));
  return whole && std::isfinite(number);
}

std::vector<double> numbers_of(std::string_view name, std::string_view text) {
  std::vector<double> numbers;
  for (const std::string_view item : parts_of(text, ',')) {
    const std::size_t times = item.find('x');
    double number = 0;
    std::size_t count = 1;
    bool good = true;
    if (times != item.npos) {
      const auto [end, error] = std::from_chars(item.data(), item.data() + times, count);
      good = error == std::errc() && end == item.data() + times && count > 0;
    }
    good = good && parse_number(times == item.npos ? item : item.substr(times + 1), number) &&
           count <= longest_array - numbers.size();
    if (!good)
      fail(name, "'" + std::string(item.substr(0, 32)) +
                     "': accepted: numbers or COUNTxNUMBER between commas, at most 2^20");
    numbers.insert(numbers.end(), count, number);
  }
  return numbers;
}

constexpr auto named_first = [](const auto& x) -> std::string_view { return x.first; };

/// The item names with a special meaning. All other names are parameters or arrays.
constexpr std::string_view own_items[] = {"score", "keep", "dlse", "gradients"};

/// The items of a formula's text: the expressions, and the names that they use.
struct Items {
  std::string_view score, keep, dlse, gradients;
  expression::Names names;

  explicit Items(std::string_view text) {
    if (text.find_first_of(" \t\n") != text.npos)
      fail("formula", "contains a blank; leave blanks out, and write & | ! for and, or, not");
    std::vector<std::string_view> seen;
    for (const std::string_view item : parts_of(text, ';')) {
      const std::size_t equals = item.find('=');
      const std::string_view name = item.substr(0, equals);
      if (equals == item.npos || equals == 0)
        fail(item.empty() ? "formula" : item.substr(0, 32), "accepted: NAME=VALUE between ';'");
      if (std::ranges::find(seen, name) != seen.end()) fail(name, "is given twice");
      seen.push_back(name);
      add(name, item.substr(equals + 1));
    }
    if (score.empty() && keep.empty() && dlse.empty())
      fail("score", "is missing: give score=..., keep=..., or both");
    if (!gradients.empty()) separate_parameters();
  }

  std::vector<std::string_view> wanted() const {
    return gradients.empty() ? std::vector<std::string_view>() : parts_of(gradients, ',');
  }

  std::vector<std::vector<double>> arrays() const {
    std::vector<std::vector<double>> all;
    for (const auto& array : names.arrays) all.push_back(array.second);
    return all;
  }

 private:
  void add(std::string_view name, std::string_view value) {
    if (const auto own = std::ranges::find(own_items, name); own != std::end(own_items)) {
      if (value.empty()) fail(name, "is empty: give a value, or leave it out");
      std::string_view* const of[] = {&score, &keep, &dlse, &gradients};
      *of[own - std::begin(own_items)] = value;
      return;
    }
    try {
      expression::require_name(name);
    } catch (const std::invalid_argument& error) {
      fail("names", error.what());
    }
    double number = 0;
    if (value.find(',') != value.npos || value.find('x') != value.npos)
      names.arrays.emplace_back(name, numbers_of(name, value));
    else if (parse_number(value, number))
      names.parameters.emplace_back(name, number);
    else
      fail(name, "'" + std::string(value.substr(0, 32)) + "' is not a number of fp32");
  }
  /// Turns each parameter whose gradient is requested into an array of one element. Otherwise the
  /// expression graph would merge it with other constants of the same value.
  void separate_parameters() {
    for (const std::string_view name : wanted()) {
      const auto of = std::ranges::find(names.parameters, name, named_first);
      if (of == names.parameters.end()) continue;
      names.variables.push_back(of->first);
      names.arrays.emplace_back(of->first, std::vector{of->second});
      names.parameters.erase(of);
    }
  }
};

template <class Use>
void with_item(std::string_view item, const Use& use) {
  try {
    use();
  } catch (const expression::ExpressionError& error) {
    fail(item, error.what());
  }
}

}  // namespace

Variant::Variant(std::string_view text, const spec::AttentionProblem& problem)
    : group_(problem.group()),
      batch_(problem.batch),
      heads_(problem.heads_q),
      seq_q_(problem.seq_q),
      seq_kv_(problem.seq_kv) {
  const Items items(text);
  score_ = Graph(items.arrays());
  keep_ = Graph(items.arrays());
  dlse_graph_ = Graph(items.arrays());
  has_score_ = !items.score.empty(), has_keep_ = !items.keep.empty();
  has_dlse_ = !items.dlse.empty();
  const auto all = ranges(largest_usual_score);
  if (has_score_)
    with_item("score", [&] {
      results_[0] = parse(items.score, expression::Kind::number, items.names, true, score_);
      results_[1] = score_.derivative(results_[0]);
      score_.keep_only(results_);
      ranges_of(score_, all);
      add_gradients(items.wanted(), items.names);
      ranges_of(partials_graph_, all);
    });
  else if (!items.gradients.empty())
    fail("gradients", "needs a score, but the formula has no score=...");
  if (has_keep_)
    with_item("keep", [&] {
      kept_ = parse(items.keep, expression::Kind::condition, items.names, false, keep_);
      keep_.keep_only({&kept_, 1});
      ranges_of(keep_, all);
    });
  if (has_dlse_)
    with_item("dlse", [&] {
      dlse_ = parse(items.dlse, expression::Kind::number, items.names, false, dlse_graph_);
      dlse_graph_.keep_only({&dlse_, 1});
      ranges_of(dlse_graph_, all);
      for (const expression::Node& node : dlse_graph_.nodes())
        if (node.operation == expression::Operation::variable &&
            node.which == static_cast<std::size_t>(expression::Variable::j))
          throw expression::ExpressionError(node.place, "dlse belongs to a query: it cannot use j");
    });
}

Variant::Variant(const GradientPart& part, const spec::AttentionProblem& problem)
    : group_(problem.group()),
      batch_(problem.batch),
      heads_(problem.heads_q),
      seq_q_(problem.seq_q),
      seq_kv_(problem.seq_kv),
      part_(part) {}

void Variant::add_gradients(const std::vector<std::string_view>& wanted,
                            const expression::Names& names) {
  if (wanted.empty()) return;
  partials_graph_ = score_;
  std::vector<int> kept;
  for (const std::string_view name : wanted) {
    const auto array = std::ranges::find(names.arrays, name, named_first);
    if (array == names.arrays.end())
      fail("gradients", "'" + std::string(name.substr(0, 32)) +
                            "' is neither an array nor a parameter of the formula");
    const std::string output = "d" + array->first;
    if (std::ranges::find(names_of_outputs, output) != std::end(names_of_outputs))
      fail("gradients",
           "'" + output + "' is another output: choose another name for '" + array->first + "'");
    if (gradient(output) != nullptr) fail("gradients", "'" + array->first + "' is given twice");
    const auto which = static_cast<std::size_t>(array - names.arrays.begin());
    const std::int64_t first = gradient_size(), count = std::ssize(array->second);
    const auto so_far = std::ssize(kept);
    const auto nodes = static_cast<int>(score_.nodes().size());
    for (int node = 0; node < nodes; ++node) {
      const expression::Node of = score_[node];
      if (of.operation != expression::Operation::element || of.which != which) continue;
      const int by = partials_graph_.derivative(results_[0], node);
      const expression::Node& derivative = partials_graph_[by];
      if (derivative.operation == expression::Operation::number && derivative.number == 0) continue;
      partials_.push_back({.index = of.of[0], .derivative = by, .first = first});
      kept.insert(kept.end(), {of.of[0], by});
    }
    if (std::ssize(kept) == so_far)
      fail("gradients", "the derivative of the score by '" + array->first +
                            "' is 0 everywhere; leave it out of gradients=...");
    gradients_.push_back({.output = output, .first = first, .count = count});
  }
  if (gradient_size() > most_gradients)
    fail("gradients", "have " + std::to_string(gradient_size()) + " elements; at most " +
                          std::to_string(most_gradients) + " are judged");
  partials_graph_.keep_only(kept);
  for (std::size_t k = 0; k < partials_.size(); ++k)
    partials_[k].index = kept[2 * k], partials_[k].derivative = kept[2 * k + 1];
}

const Variant::Gradient* Variant::gradient(std::string_view output) const {
  const auto found = std::ranges::find(gradients_, output, &Gradient::output);
  return found == gradients_.end() ? nullptr : &*found;
}

expression::Ranges Variant::ranges(double largest_score) const {
  const auto numbers = [](std::int64_t count) {
    return expression::Range{0, static_cast<double>(std::max<std::int64_t>(count, 1) - 1)};
  };
  return {{{-largest_score, largest_score},
           numbers(seq_q_),
           numbers(seq_kv_),
           numbers(batch_),
           numbers(heads_),
           numbers(heads_ / group_)}};
}

double Variant::largest_slope(double largest_score) const {
  if (!has_score_) return 1;
  const double s = std::min(largest_score, largest_usual_score);
  const expression::Range range = ranges_of(score_, ranges(s))[static_cast<std::size_t>(slope())];
  return std::max(std::abs(range.low), std::abs(range.high));
}

bool Variant::keeps(const reference::ScorePosition& at) const {
  if (part_ && !(part_->has_query(at.i) && part_->has_key(at.j))) return false;
  if (!has_keep_) return true;
  expression::Values<double> values;
  values.evaluate(keep_, places(0.0, at));
  return values[kept_] != 0;
}

double Variant::score_of(double s, const reference::ScorePosition& at) const {
  if (!has_score_) return s;
  expression::Values<double> values;
  values.evaluate(score_, places(s, at));
  return values[score()];
}

std::shared_ptr<const Variant> variant_of(std::string_view field,
                                          const spec::AttentionProblem& problem,
                                          std::string_view part_text) {
  const std::optional<GradientPart> part = part_of(part_text);
  if (is_formula(field)) {
    const Variant formula(field.substr(formula_mark.size()), problem);
    return std::make_shared<const Variant>(formula.restricted_to(part));
  }
  return part ? std::make_shared<const Variant>(*part, problem) : nullptr;
}

}  // namespace assay::conformance::attention
