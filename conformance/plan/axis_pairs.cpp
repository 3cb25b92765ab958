#include "plan/axis_pairs.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "plan/triples.hpp"

namespace assay::conformance {
namespace {

/// An axis is a property for which coverage is counted. Calls visit(f, v, g, w) for every pair of
/// values: value v of axis f and value w of axis g. The order is always the same.
template <class Visitor>
void visit_pairs(const std::vector<Axis>& axes, Visitor&& visit) {
  for (std::size_t f = 0; f < axes.size(); ++f)
    for (std::size_t g = f + 1; g < axes.size(); ++g)
      for (std::size_t v = 0; v < axes[f].values.size(); ++v)
        for (std::size_t w = 0; w < axes[g].values.size(); ++w) visit(f, v, g, w);
}

/// Stores why no case contains this pair of values: the requirements that together forbid it, or
/// another reason.
void explain(PairCoverage::Cell& cell, const std::vector<Reason>& reasons) {
  for (const Why why : {Why::fruitless, Why::costly, Why::forbidden, Why::senseless})
    for (const Reason& reason : reasons) {
      if (reason.why != why || !cell.left_out.empty()) continue;
      if (why == Why::forbidden)
        cell.forbidden_by.emplace_back(reason.text);
      else if (cell.forbidden_by.empty())
        cell.left_out = std::string(spec::to_string(why)) + ": " + std::string(reason.text);
    }
}

}  // namespace

PairCoverage blank_coverage(const Axes& axes) {
  const auto text = [&](std::size_t axis, std::size_t value) {
    return std::string(axes.all[axis].name) + "=" + std::string(axes.all[axis].values[value]);
  };
  PairCoverage coverage;
  visit_pairs(axes.all, [&](std::size_t f, std::size_t v, std::size_t g, std::size_t w) {
    Choice pair = axes.space.open_choice();
    pair[f] = v;
    pair[g] = w;
    PairCoverage::Cell cell{.operator_name = std::string(axes.operator_name),
                            .first = text(f, v),
                            .second = text(g, w)};
    explain(cell, axes.space.blamed(pair));
    coverage.cells.push_back(std::move(cell));
  });
  std::vector<bool> open = admissible_triples(axes.space, axes.all.size());
  const std::int64_t admissible = std::ranges::count(open, true);
  coverage.triples.push_back({std::string(axes.operator_name), admissible, std::move(open)});
  return coverage;
}

void cover(PairCoverage& coverage, const Axes& axes, const Choice& values) {
  std::size_t index = first_cell(coverage, axes.operator_name);
  if (index == coverage.cells.size()) return;
  visit_pairs(axes.all, [&](std::size_t f, std::size_t v, std::size_t g, std::size_t w) {
    if (values[f] == v && values[g] == w) ++coverage.cells.at(index).cases;
    ++index;
  });
  const auto of_operator = std::ranges::find(coverage.triples, axes.operator_name,
                                             &PairCoverage::Triples::operator_name);
  if (of_operator == coverage.triples.end()) return;
  const Triples triples(axes.space.sizes().first(axes.all.size()));
  triples.visit_held(values, [&](std::size_t number) { of_operator->open[number] = false; });
}

}  // namespace assay::conformance
