#include <stdexcept>

#include "assay/engine/expression/deviation.hpp"
#include "assay/engine/expression/evaluate.hpp"
#include "assay/engine/expression/graph.hpp"
#include "fuzz.hpp"

namespace {

using namespace assay::engine::expression;

/// Returns whether two numbers are equal or both are NaN.
bool is_same(double a, double b) { return a == b || (a != a && b != b); }

/// Parses a text. If the text is not a valid formula, the parser must throw std::invalid_argument.
/// Otherwise evaluates the formula twice. Both evaluations must agree, and each result must be
/// within its computed range.
void use(const std::string& text, Kind kind) {
  const Names names = {.parameters = {{"cap", 30}, {"w", 2}}, .arrays = {{"doc", {0, 0, 1, 1}}}};
  try {
    Graph graph({names.arrays[0].second});
    int results[] = {parse(text, kind, names, kind == Kind::number, graph), 0};
    results[1] = graph.derivative(results[0]);
    graph.keep_only(results);
    const auto ranges = ranges_of(graph, {{{-64, 64}, {0, 3}, {0, 3}, {0, 1}, {0, 1}, {0, 1}}});
    Values<double> values;
    Deviations<double> deviations{Rounding()};
    const Variables<double> at = {1.5, 3, 2, 1, 0, 1};
    values.evaluate(graph, at);
    deviations.evaluate(graph, at, 0x1p-20);
    for (int node = 0; node < static_cast<int>(graph.nodes().size()); ++node) {
      const Range range = ranges[static_cast<std::size_t>(node)];
      const double value = values[node], slack = 1e-9 * (1 + std::abs(value));
      assay::fuzz::require(is_same(value, deviations[node].value));
      assay::fuzz::require(value != value || std::isinf(value) ||
                           (range.low - slack <= value && value <= range.high + slack));
    }
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  use(text, Kind::number);
  use(text, Kind::condition);
  return 0;
}
