#include "assay/reference/toy_operator.hpp"
#include "operators/toy_operator/basis.hpp"

namespace assay::conformance {

using Op = spec::ToyOperator;

namespace bilinear {

/// Lists the products of every output row. The reference, the tolerances and the exact cases follow
/// from them. EDIT: if outputs are not such sums, docs/operators.md says how to write a bound
/// instead.
template <>
Form form_of<Op>(const Op::Problem& p) {
  enum Number : std::size_t { input, weight };
  const spec::Extents inputs = input_extents(p), weights = weight_extents(p);
  return {
      .operands = {{inputs, stream_named("input")}, {weights, stream_named("weight")}},
      .thinned = input,
      .sums = {{.name = "output",
                .extents = output_extents(p),
                .left = weight,
                .right = input,
                .contracts = false,
                .few = false,
                .products = p.window,
                .pairs = [=](const spec::RowPosition& row, std::vector<RowPair>& pairs) {
                  for (std::int64_t w = 0; w < p.window; ++w)
                    pairs.push_back({weights.row(0, row.n, w), inputs.row(0, row.n, row.s + w)});
                }}}};
}

/// Evaluates the operator's formula with high precision, head by head. The reference is compared
/// with the result to prove its error.
template <>
std::unique_ptr<Definition> definition_of<Op>(const Op::Problem& problem,
                                              const Operands& operands) {
  using Oracle = reference::ToyOperator<reference::Wide, float>;
  return std::make_unique<DefinitionByHeads<Oracle>>(
      operands.form(),
      [problem, &operands](std::int64_t n) {
        return Oracle(problem, operands.head(0, n), operands.head(1, n));
      },
      [](const Oracle& oracle, std::size_t, const spec::RowPosition& row) {
        return oracle.output_row(0, row.s);
      });
}

}  // namespace bilinear

template struct BilinearSuite<Op>;

}  // namespace assay::conformance
