#include <algorithm>

#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "operators/described.hpp"

namespace assay::spec {
namespace {

using Op = NsaCompressGrad;

}  // namespace

std::int64_t window_count(std::int64_t length, std::int64_t compress_block_size,
                          std::int64_t compress_stride) {
  if (compress_block_size <= 0 || compress_stride <= 0 || length < compress_block_size) return 0;
  return (length - compress_block_size) / compress_stride + 1;
}

Extents input_extents(const Op::Problem& p) {
  return {p.batch, p.heads, p.seq, p.head_dim, detail::running_sums(p.lengths)};
}

Extents output_extents(const Op::Problem& p) {
  const auto windows = [&](std::int64_t length) {
    return window_count(length, p.compress_block_size, p.compress_stride);
  };
  std::vector<std::int64_t> lengths = p.lengths;
  std::ranges::transform(lengths, lengths.begin(), windows);
  return {p.batch, p.heads, windows(p.seq), p.head_dim, detail::running_sums(lengths)};
}

Shape weight_shape(const Op::Problem& p) { return {p.compress_block_size, p.heads}; }

Call<Op> call_of(const Op::Problem& p, CompressEntryPoint entry_point, Product product,
                 const Strides& inputs, const Strides& outputs) {
  const auto tensor = [&](const Shape& shape) { return detail::described(p.dtype, shape); };
  Call<Op> call{.entry_point = entry_point, .product = product, .parameters = {}, .attributes = {}};
  Op::Parameters& t = call.parameters;
  t.output_grad = tensor(shape_of(Layout::tnd, output_extents(p)));
  t.input = tensor(shape_of(Layout::tnd, input_extents(p)));
  t.weight = tensor(weight_shape(p));
  t.input_grad = tensor(shape_of(Layout::tnd, input_extents(p)));
  t.weight_grad = tensor(weight_shape(p));
  detail::apply_strides<Op::Outputs>(t, inputs, outputs);
  t.act_seq_len = detail::ends_of(input_extents(p));
  call.attributes = {.compress_block_size = p.compress_block_size,
                     .compress_stride = p.compress_stride,
                     .layout = std::string(to_string(Layout::tnd))};
  return call;
}

}  // namespace assay::spec
