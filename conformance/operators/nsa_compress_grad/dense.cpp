#include "operators/nsa_compress_grad/dense.hpp"

#include <algorithm>

#include "assay/parallel/loop.hpp"

namespace assay::conformance::compress {
namespace {

std::vector<double> dense(const spec::Tensor& tensor, const spec::Extents& e) {
  std::vector<double> rows(static_cast<std::size_t>(e.rows() * e.dim));
  const spec::HeadView view(tensor, spec::Layout::tnd, e);
  parallel::for_each(e.batch * e.heads, [&](std::int64_t head) {
    const std::int64_t b = head / e.heads, n = head % e.heads, length = e.length(b);
    for (std::int64_t s = 0; s < length; ++s)
      view.read_row(b, n, s,
                    {rows.data() + e.row(b, n, s) * e.dim, static_cast<std::size_t>(e.dim)});
  });
  return rows;
}

}  // namespace

WindowRange covering_windows(const Op::Problem& p, std::int64_t b, std::int64_t token) {
  const std::int64_t size = p.compress_block_size, stride = p.compress_stride;
  const std::int64_t windows = spec::window_count(p.length(b), size, stride);
  const std::int64_t first = token < size ? 0 : (token - size) / stride + 1;
  return {first, std::max(first, std::min(windows, token / stride + 1))};
}

std::int64_t all_windows(const Op::Problem& p) { return output_extents(p).tokens(); }

spec::Extents weight_extents(const Op::Problem& p) {
  return {.batch = 1, .heads = p.heads, .seq = p.compress_block_size, .dim = 1};
}

spec::HeadIndex weight_index(const Op::Problem& p, const spec::Tensor& tensor) {
  spec::Tensor view{.dtype = tensor.dtype,
                    .shape = tensor.shape,
                    .strides = tensor.strides,
                    .offset = tensor.offset,
                    .bytes = {}};
  view.shape.push_back(1);
  view.strides.push_back(1);
  return {view, spec::Layout::tnd, weight_extents(p)};
}

Dense::Dense(const Op::Problem& p, const Op::Inputs& tensors)
    : problem(p),
      inputs(input_extents(p)),
      outputs(output_extents(p)),
      weights(weight_extents(p)),
      output_grad_(dense(tensors.output_grad, outputs)),
      input_(dense(tensors.input, inputs)) {
  const spec::HeadIndex at = weight_index(p, tensors.weight);
  for (std::int64_t n = 0; n < p.heads; ++n)
    for (std::int64_t w = 0; w < p.compress_block_size; ++w)
      weight_.push_back(tensors.weight.load(at(0, n, w, 0)));
}

}  // namespace assay::conformance::compress
