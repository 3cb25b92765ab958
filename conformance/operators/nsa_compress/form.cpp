#include "assay/reference/nsa_compress.hpp"
#include "compression/problem.hpp"
#include "operators/nsa_compress/basis.hpp"

namespace assay::conformance {

using Op = spec::NsaCompress;

namespace bilinear {

template <>
Form form_of<Op>(const Op::Problem& p) {
  enum Number : std::size_t { input, weight };
  const spec::Extents inputs = input_extents(p), windows = output_extents(p),
                      weights = compression::weight_extents(p);
  return {.operands = {{inputs, Stream::input}, {weights, Stream::weight}},
          .thinned = input,
          .sums = {{.name = "output",
                    .extents = windows,
                    .left = weight,
                    .right = input,
                    .contracts = false,
                    .few = false,
                    .products = p.compress_block_size,
                    .pairs = [=](const spec::RowPosition& row, std::vector<RowPair>& pairs) {
                      for (std::int64_t w = 0; w < p.compress_block_size; ++w)
                        pairs.push_back({weights.row(0, row.n, w),
                                         inputs.row(row.b, row.n, row.s * p.compress_stride + w)});
                    }}}};
}

template <>
std::unique_ptr<Definition> definition_of<Op>(const Op::Problem& problem,
                                              const Operands& operands) {
  using Oracle = reference::NsaCompress<reference::Wide, float>;
  return std::make_unique<DefinitionByHeads<Oracle>>(
      operands.form(),
      [one = problem, &operands](std::int64_t n) mutable {
        one.heads = 1;
        return Oracle(one, {.input = operands.head(0, n), .weight = operands.head(1, n)});
      },
      [](const Oracle& oracle, std::size_t, const spec::RowPosition& row) {
        return oracle.output_row(row.b, row.n, row.s);
      });
}

}  // namespace bilinear

template struct BilinearSuite<Op>;

}  // namespace assay::conformance
