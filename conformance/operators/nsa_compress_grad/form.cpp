#include "assay/reference/nsa_compress_grad.hpp"
#include "compression/problem.hpp"
#include "operators/nsa_compress_grad/basis.hpp"

namespace assay::conformance {

using Op = spec::NsaCompressGrad;

namespace bilinear {

template <>
Form form_of<Op>(const Op::Problem& p) {
  using namespace compression;
  enum Number : std::size_t { output_grad, input, weight };
  const spec::Extents inputs = input_extents(p), windows = output_extents(p),
                      weights = weight_extents(p);
  return {.operands = {{windows, Stream::dy}, {inputs, Stream::input}, {weights, Stream::weight}},
          .thinned = output_grad,
          .sums = {{.name = "input_grad",
                    .extents = inputs,
                    .left = weight,
                    .right = output_grad,
                    .contracts = false,
                    .few = true,
                    .products = most_covering_windows(p),
                    .pairs =
                        [=](const spec::RowPosition& row, std::vector<RowPair>& pairs) {
                          const WindowRange covering = covering_windows(p, row.b, row.s);
                          for (std::int64_t i = covering.first; i < covering.last; ++i)
                            pairs.push_back({weights.row(0, row.n, row.s - i * p.compress_stride),
                                             windows.row(row.b, row.n, i)});
                        }},
                   {.name = "weight_grad",
                    .extents = weights,
                    .left = output_grad,
                    .right = input,
                    .contracts = true,
                    .few = false,
                    .products = all_windows(p) * p.head_dim,
                    .pairs = [=](const spec::RowPosition& row, std::vector<RowPair>& pairs) {
                      for (std::int64_t b = 0; b < p.batch; ++b)
                        for (std::int64_t i = 0; i < windows.length(b); ++i)
                          pairs.push_back({windows.row(b, row.n, i),
                                           inputs.row(b, row.n, i * p.compress_stride + row.s)});
                    }}}};
}

template <>
std::unique_ptr<Definition> definition_of<Op>(const Op::Problem& problem,
                                              const Operands& operands) {
  using Oracle = reference::NsaCompressGrad<reference::Wide, float>;
  return std::make_unique<DefinitionByHeads<Oracle>>(
      operands.form(),
      [one = problem, &operands](std::int64_t n) mutable {
        one.heads = 1;
        return Oracle(one, {.output_grad = operands.head(0, n),
                            .input = operands.head(1, n),
                            .weight = operands.head(2, n)});
      },
      [](const Oracle& oracle, std::size_t sum, const spec::RowPosition& row) {
        return sum == 0 ? oracle.input_grad_row(row.b, row.n, row.s)
                        : std::vector<reference::Wide>{oracle.weight_grad(row.s, row.n)};
      });
}

}  // namespace bilinear

template struct BilinearSuite<Op>;

}  // namespace assay::conformance
