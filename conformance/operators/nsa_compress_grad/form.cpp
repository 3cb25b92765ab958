#include "bilinear/basis.hpp"
#include "compression/problem.hpp"
#include "operators/nsa_compress_grad/traits.hpp"

namespace assay::conformance {

using Op = spec::NsaCompressGrad;

bilinear::Form compression::Traits<Op>::form(const Op::Problem& p) {
  using namespace compression;
  enum Number : std::size_t { output_grad, input, weight };
  const spec::Extents inputs = input_extents(p), windows = output_extents(p),
                      weights = weight_extents(p);
  return {
      .operands = {{windows, Stream::dy}, {inputs, Stream::input}, {weights, Stream::weight}},
      .thinned = output_grad,
      .sums = {{.name = "input_grad",
                .extents = inputs,
                .left = weight,
                .right = output_grad,
                .contracts = false,
                .few = true,
                .products = most_covering_windows(p),
                .pairs =
                    [=](const spec::RowPosition& row, std::vector<bilinear::RowPair>& pairs) {
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
                .pairs = [=](const spec::RowPosition& row, std::vector<bilinear::RowPair>& pairs) {
                  for (std::int64_t b = 0; b < p.batch; ++b)
                    for (std::int64_t i = 0; i < windows.length(b); ++i)
                      pairs.push_back({windows.row(b, row.n, i),
                                       inputs.row(b, row.n, i * p.compress_stride + row.s)});
                }}}};
}

std::vector<reference::Wide> compression::Traits<Op>::row(const Oracle& oracle, std::size_t sum,
                                                          const spec::RowPosition& row) {
  if (sum == 0) return oracle.input_grad_row(row.b, row.n, row.s);
  return {oracle.weight_grad(row.s, row.n)};
}

template struct BilinearSuite<Op>;

}  // namespace assay::conformance
