#include "bilinear/basis.hpp"
#include "compression/problem.hpp"
#include "operators/nsa_compress/traits.hpp"

namespace assay::conformance {

using Op = spec::NsaCompress;

bilinear::Form compression::Traits<Op>::form(const Op::Problem& p) {
  enum Number : std::size_t { input, weight };
  const spec::Extents inputs = input_extents(p), windows = output_extents(p),
                      weights = compression::weight_extents(p);
  return {
      .operands = {{inputs, Stream::input}, {weights, Stream::weight}},
      .thinned = input,
      .sums = {{.name = "output",
                .extents = windows,
                .left = weight,
                .right = input,
                .contracts = false,
                .few = false,
                .products = p.compress_block_size,
                .pairs = [=](const spec::RowPosition& row, std::vector<bilinear::RowPair>& pairs) {
                  for (std::int64_t w = 0; w < p.compress_block_size; ++w)
                    pairs.push_back({weights.row(0, row.n, w),
                                     inputs.row(row.b, row.n, row.s * p.compress_stride + w)});
                }}}};
}

std::vector<reference::Wide> compression::Traits<Op>::row(const Oracle& oracle, std::size_t,
                                                          const spec::RowPosition& row) {
  return oracle.output_row(row.b, row.n, row.s);
}

template struct BilinearSuite<Op>;

}  // namespace assay::conformance
