#include <algorithm>

#include "assay/spec/operators/nsa_compress.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "operators/described.hpp"

namespace assay::spec {

std::int64_t window_count(std::int64_t length, std::int64_t compress_block_size,
                          std::int64_t compress_stride) {
  if (compress_block_size <= 0 || compress_stride <= 0 || length < compress_block_size) return 0;
  return (length - compress_block_size) / compress_stride + 1;
}

Extents input_extents(const CompressionProblem& p) {
  return {p.batch, p.heads, p.seq, p.head_dim, detail::running_sums(p.lengths)};
}

Extents output_extents(const CompressionProblem& p) {
  const auto windows = [&](std::int64_t length) {
    return window_count(length, p.compress_block_size, p.compress_stride);
  };
  std::vector<std::int64_t> lengths = p.lengths;
  std::ranges::transform(lengths, lengths.begin(), windows);
  return {p.batch, p.heads, windows(p.seq), p.head_dim, detail::running_sums(lengths)};
}

Shape input_shape(const CompressionProblem& p) { return shape_of(Layout::tnd, input_extents(p)); }
Shape output_shape(const CompressionProblem& p) { return shape_of(Layout::tnd, output_extents(p)); }
Shape weight_shape(const CompressionProblem& p) { return {p.compress_block_size, p.heads}; }

namespace {

template <class Op>
Call<Op> compression_call(const CompressionProblem& p, typename Op::EntryPoint entry_point,
                          Product product, const Strides& inputs, const Strides& outputs) {
  Call<Op> call = detail::call_with_tensors<Op>(p, entry_point, product, inputs, outputs);
  call.parameters.act_seq_len = detail::ends_of(input_extents(p));
  call.attributes = {.compress_block_size = p.compress_block_size,
                     .compress_stride = p.compress_stride,
                     .layout = std::string(to_string(Layout::tnd))};
  return call;
}

}  // namespace

Call<NsaCompress> call_of(const CompressionProblem& p, NsaCompressEntryPoint entry_point,
                          Product product, const Strides& inputs, const Strides& outputs) {
  return compression_call<NsaCompress>(p, entry_point, product, inputs, outputs);
}

Call<NsaCompressGrad> call_of(const CompressionProblem& p, CompressEntryPoint entry_point,
                              Product product, const Strides& inputs, const Strides& outputs) {
  return compression_call<NsaCompressGrad>(p, entry_point, product, inputs, outputs);
}

}  // namespace assay::spec
