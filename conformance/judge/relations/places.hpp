#pragma once

#include <stdexcept>
#include <string>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/judge/places.hpp"
#include "judge/decide.hpp"
#include "judge/relations/trial.hpp"

namespace assay::conformance {

/// Calls visit(output, its extents) for every output that relations compare. Does nothing if the
/// operator has no RelationParts.
template <class Op, class Visitor>
void visit_outputs_if_any(const typename Op::Problem& problem, Visitor&& visit) {
  if constexpr (HasRelationParts<Op>) visit_outputs<Op>(problem, visit);
}

template <class Op>
std::vector<std::int64_t> places_of(const Case<Op>& c, const Expected& expected) {
  Case<Op> dense = c;
  dense.outputs = spec::Striding::contiguous;
  const auto outputs = make_outputs(dense);
  std::vector<std::int64_t> places;
  visit_outputs_if_any<Op>(c.problem, [&](const auto& output, const spec::Extents& extents) {
    const spec::Tensor* tensor = find_tensor(outputs, output.name);
    if (tensor == nullptr || output.name != expected.name) return;
    const ElementIndex index = output.index(c.problem, *tensor, extents);
    for (const std::int64_t row : expected.rows) {
      const auto [b, n, s] = extents.position(row);
      for (std::int64_t d = 0; d < extents.dim; ++d) places.push_back(index(b, n, s, d));
    }
  });
  if (places.size() != expected.value.size())
    throw std::invalid_argument("'" + expected.name + "' is not an output with " +
                                std::to_string(expected.value.size()) + " judged elements");
  return places;
}

template <class Op>
void compare_with_exact(const std::vector<ExactTensor>& exact, const typename Op::Problem& problem,
                        const typename Op::Outputs& outputs, const spec::Numerics& numerics,
                        CaseReport& report) {
  // Upper bound of the contribution of masked keys to an output. The weight of a masked key is at
  // most numerics.floor (the largest weight that a kernel may use instead of 0), and the sum of all
  // |value| of a row is far below 2^40. In an exact case, a wrong output differs by much more than
  // this bound.
  const double residue = Op::has_softmax ? numerics.floor * 0x1p40 : 0;
  std::vector<ExactOutput> compared;
  for (const ExactTensor& tensor : exact) {
    if constexpr (HasRelationParts<Op>)
      if (!RelationParts<Op>::has_exact_bits(tensor.name, numerics)) continue;
    visit_outputs_if_any<Op>(problem, [&](const auto& output, const spec::Extents& extents) {
      if (output.name != tensor.name) return;
      const spec::Tensor* actual = find_tensor(outputs, output.name);
      if (actual == nullptr)
        throw std::invalid_argument("the outputs have no " + std::string(output.name));
      const ElementIndex index = output.index(problem, *actual, extents);
      compared.push_back(
          {.tensor = tensor,
           .output = actual,
           .extents = extents,
           .element = [index](const spec::RowPosition& row,
                              std::int64_t d) { return index(row.b, row.n, row.s, d); },
           .floor = [residue](const spec::RowPosition&, std::int64_t) { return residue; }});
    });
  }
  judge_exact(compared, numerics, report);
}

template <class Op>
std::optional<spec::Extents> extents_of_input([[maybe_unused]] const typename Op::Problem& problem,
                                              [[maybe_unused]] std::string_view name) {
  if constexpr (HasRelationParts<Op>)
    for (const Operand<Op>& operand : RelationParts<Op>::operands())
      if (operand.name == name) return operand.extents(problem);
  return std::nullopt;
}

}  // namespace assay::conformance
