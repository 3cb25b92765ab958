#include "operators/nsa_compress_grad/basis.hpp"

#include "judge/decide.hpp"
#include "operators/nsa_compress_grad/definition.hpp"
#include "operators/nsa_compress_grad/structure.hpp"
#include "operators/nsa_compress_grad/tiles.hpp"

namespace assay::conformance::compress {

using Op = spec::NsaCompressGrad;

Basis::Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic)
    : case_(c),
      inputs_(inputs),
      arithmetic_(arithmetic),
      dense_(c.problem, inputs),
      judged_{judged_of(input_extents(c.problem), c.rows, c.seed),
              judged_of(compress::weight_extents(c.problem), c.rows, c.seed + 1)} {}

std::vector<Finding> Basis::check_structure(const Op::Outputs& outputs) const {
  return compress::check_structure(dense_, arithmetic_, outputs);
}

std::vector<Expectation> Basis::expectations() const {
  return compress::expectations_in_parts(dense_, arithmetic_, judged_);
}

std::unique_ptr<Definition> Basis::definition() const { return definition_of(dense_); }

std::vector<TileSums> Basis::tile_sums(bool) {
  return tiles::tile_sums(dense_, arithmetic_, judged_, case_.seed);
}

std::vector<double> Basis::values(const RowsOf& rows, const Op::Outputs& outputs) const {
  if (rows.tensor == "input_grad") return row_values(rows, outputs.input_grad, spec::Layout::tnd);
  const spec::HeadIndex at = compress::weight_index(case_.problem, outputs.weight_grad);
  std::vector<double> values;
  for (const std::int64_t number : rows.rows) {
    const auto [b, n, w] = rows.extents.position(number);
    values.push_back(outputs.weight_grad.load(at(b, n, w, 0)));
  }
  return values;
}

}  // namespace assay::conformance::compress
