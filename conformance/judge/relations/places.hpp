#pragma once

#include <stdexcept>
#include <string>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/judge/places.hpp"
#include "assay/fixtures/named.hpp"
#include "judge/relations/trial.hpp"

namespace assay::conformance {

template <class Op>
std::vector<std::int64_t> places_of(const Case<Op>& c, const Expected& expected) {
  Case<Op> dense = c;
  dense.outputs = spec::Striding::contiguous;
  const auto outputs = fixtures::named_tensors(make_outputs(dense));
  std::vector<std::int64_t> places;
  visit_outputs<Op>(c.problem, [&](const ComparedOutput<Op>& output, const spec::Extents& extents) {
    for (const auto& [name, tensor] : outputs) {
      if (name != expected.name || name != output.name) continue;
      const spec::HeadIndex index = output.index(c.problem, tensor, extents);
      for (const std::int64_t row : expected.rows) {
        const auto [b, n, s] = extents.position(row);
        for (std::int64_t d = 0; d < extents.dim; ++d) places.push_back(index(b, n, s, d));
      }
    }
  });
  if (places.size() != expected.value.size())
    throw std::invalid_argument("'" + expected.name + "' is not an output with " +
                                std::to_string(expected.value.size()) + " judged elements");
  return places;
}

template <class Op>
std::optional<spec::Extents> extents_of_input(const typename Op::Problem& problem,
                                              std::string_view name) {
  for (const Operand<Op>& operand : RelationParts<Op>::operands())
    if (operand.name == name) return operand.extents(problem);
  return std::nullopt;
}

}  // namespace assay::conformance
