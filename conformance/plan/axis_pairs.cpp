#include "plan/axis_pairs.hpp"

#include <string>

namespace assay::conformance {
namespace {

/// Calls visit(f, v, g, w) for the pairs of values of two axes, always in the same order.
template <class Visitor>
void visit_pairs(const Axes& axes, Visitor&& visit) {
  const auto sizes = axes.space.sizes();
  for (std::size_t f = 0; f < axes.count; ++f)
    for (std::size_t g = f + 1; g < axes.count; ++g)
      for (std::size_t v = 0; v < sizes[f]; ++v)
        for (std::size_t w = 0; w < sizes[g]; ++w) visit(f, v, g, w);
}

}  // namespace

PairCoverage blank_coverage(const Axes& axes) {
  const auto text = [&](std::size_t axis, std::size_t value) {
    return std::string(axes.name(axis)) + "=" + std::string(axes.value(axis, value));
  };
  PairCoverage coverage;
  visit_pairs(axes, [&](std::size_t f, std::size_t v, std::size_t g, std::size_t w) {
    Choice pair = axes.space.open_choice();
    pair[f] = v;
    pair[g] = w;
    PairCoverage::Cell cell{.operator_name = std::string(axes.operator_name),
                            .first = text(f, v),
                            .second = text(g, w),
                            .forbidden_by = {}};
    for (const std::string_view id : axes.space.blamed(pair)) cell.forbidden_by.emplace_back(id);
    coverage.cells.push_back(std::move(cell));
  });
  return coverage;
}

void cover(PairCoverage& coverage, const Axes& axes, const Choice& values) {
  std::size_t index = first_cell(coverage, axes.operator_name);
  if (index == coverage.cells.size()) return;
  visit_pairs(axes, [&](std::size_t f, std::size_t v, std::size_t g, std::size_t w) {
    if (values[f] == v && values[g] == w) ++coverage.cells.at(index).cases;
    ++index;
  });
}

}  // namespace assay::conformance
