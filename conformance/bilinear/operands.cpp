#include "bilinear/operands.hpp"

#include <utility>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/parallel/loop.hpp"
#include "assay/spec/at.hpp"

namespace assay::conformance::bilinear {
namespace {

std::vector<double> dense(const spec::Tensor& tensor, const spec::Extents& e) {
  std::vector<double> values(spec::at(e.rows() * e.dim));
  const spec::HeadIndex index = index_of(tensor, e);
  parallel::for_each(e.batch * e.heads, [&](std::int64_t head) {
    const std::int64_t b = head / e.heads, n = head % e.heads, length = e.length(b);
    for (std::int64_t s = 0; s < length; ++s)
      spec::load_row(tensor, index(b, n, s, 0), index.step(),
                     {values.data() + e.row(b, n, s) * e.dim, spec::at(e.dim)});
  });
  return values;
}

}  // namespace

spec::HeadIndex index_of(const spec::Tensor& tensor, const spec::Extents& extents) {
  spec::Tensor view{.dtype = tensor.dtype,
                    .shape = tensor.shape,
                    .strides = tensor.strides,
                    .offset = tensor.offset,
                    .bytes = {}};
  if (view.shape.size() == 2) {
    view.shape.push_back(1);
    view.strides.push_back(1);
  }
  return {view, spec::Layout::tnd, extents};
}

std::vector<double> rows_of(const spec::Tensor& tensor, const spec::Extents& extents,
                            std::span<const std::int64_t> rows) {
  const spec::HeadIndex index = index_of(tensor, extents);
  std::vector<double> values(rows.size() * spec::at(extents.dim));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto [b, n, s] = extents.position(rows[r]);
    spec::load_row(tensor, index(b, n, s, 0), index.step(),
                   {values.data() + r * spec::at(extents.dim), spec::at(extents.dim)});
  }
  return values;
}

spec::Tensor tensor_of(const spec::Parameter& parameter, const spec::Extents& e,
                       std::span<const double> values) {
  spec::Tensor tensor = guarded_tensor(parameter);
  const spec::HeadIndex index = index_of(tensor, e);
  for (std::int64_t row = 0; row < e.rows(); ++row) {
    const auto [b, n, s] = e.position(row);
    spec::store_row(tensor, index(b, n, s, 0), index.step(),
                    values.subspan(spec::at(row * e.dim), spec::at(e.dim)));
  }
  return tensor;
}

spec::Tensor filled_rows(const spec::Parameter& parameter, const spec::Extents& extents,
                         const Filling& filling) {
  spec::Parameter rows = parameter;
  if (rows.shape.size() == 2) rows.shape.push_back(1), rows.strides.push_back(1);
  spec::Tensor tensor = filled_tensor(rows, spec::Layout::tnd, extents, filling);
  tensor.shape = parameter.shape;
  tensor.strides = parameter.strides;
  return tensor;
}

Operands::Operands(Form form, const std::vector<const spec::Tensor*>& tensors)
    : form_(std::move(form)) {
  for (std::size_t k = 0; k < form_.operands.size(); ++k)
    values_.push_back(dense(*tensors[k], form_.operands[k].extents));
}

std::vector<float> Operands::head(std::size_t operand, std::int64_t n) const {
  const spec::Extents& e = form_.operands[operand].extents;
  std::vector<float> values;
  for (std::int64_t b = 0; b < e.batch; ++b) {
    const double* first = row(operand, e.row(b, n, 0));
    values.insert(values.end(), first, first + e.length(b) * e.dim);
  }
  return values;
}

}  // namespace assay::conformance::bilinear
