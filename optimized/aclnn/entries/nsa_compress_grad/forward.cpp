#include "aclnn/entries/nsa_compress_grad/forward.hpp"

#include <algorithm>

#include "aclnn/objects/operands.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "assay/spec/status.hpp"
#include "checks/refusals.hpp"
#include "operands/rows.hpp"
#include "tile/dispatch.hpp"

namespace assay::aclnn {
namespace {

using optimized::NamedParameter;
using optimized::Refusal;
using optimized::unless;
using optimized::within;

constexpr std::int64_t granule = 16, widest_window = 128, most_heads = 128, widest_head = 256;

Refusal presence(const CompressCall& c) {
  return optimized::first_missing({{"input", c.input.present},
                                   {"weight", c.weight.present},
                                   {"actSeqLenOptional", c.act_seq_len.has_value()},
                                   {"output", c.output.present},
                                   {"workspaceSize", c.workspace_size},
                                   {"executor", c.executor}});
}

Refusal types(const CompressCall& c) {
  const NamedParameter input = {"input", &c.input};
  if (const Refusal outside =
          optimized::first_outside({input}, {spec::DType::fp16, spec::DType::bf16}))
    return outside;
  if (const Refusal unlike =
          optimized::first_unlike(input, {{"weight", &c.weight}, {"output", &c.output}}))
    return unlike;
  const NamedParameter tensors[] = {input, {"weight", &c.weight}, {"output", &c.output}};
  return optimized::first_private(tensors);
}

Refusal layout(const CompressCall& c) {
  return unless(!c.layout || *c.layout == "TND",
                "layout is \"" + c.layout.value_or("") + "\"; it must be \"TND\"");
}

Refusal input_shape(const CompressCall& c) {
  const spec::Shape& shape = c.input.shape;
  if (shape.size() != 3)
    return "rank of input is " + std::to_string(shape.size()) + "; it must be 3";
  if (const Refusal refusal = within("number of heads", shape[1], 1, most_heads)) return refusal;
  const Refusal size = within("head size", shape[2], granule, widest_head);
  if (size) return size;
  return unless(shape[2] % granule == 0,
                "head size is " + std::to_string(shape[2]) + "; it must be a multiple of 16");
}

Refusal windows(const CompressCall& c) {
  for (const auto& [name, value] : {std::pair{"compressBlockSize", c.compress_block_size},
                                    {"compressStride", c.compress_stride}}) {
    if (const Refusal refusal = within(name, value, granule, widest_window)) return refusal;
    if (value % granule != 0)
      return std::string(name) + " is " + std::to_string(value) + "; it must be a multiple of 16";
  }
  return unless(c.compress_stride <= c.compress_block_size,
                "compressStride is " + std::to_string(c.compress_stride) +
                    "; it must be at most compressBlockSize, which is " +
                    std::to_string(c.compress_block_size));
}

Refusal lengths(const CompressCall& c) {
  if (c.act_seq_len_type != 0)
    return "actSeqLenType is " + std::to_string(c.act_seq_len_type) +
           "; it must be 0 (cumulative lengths)";
  if (c.act_seq_len->empty()) return "actSeqLenOptional has 0 entries; it needs at least 1";
  std::int64_t before = 0;
  for (const std::int64_t sum : *c.act_seq_len) {
    if (sum < before)
      return "an entry of actSeqLenOptional is " + std::to_string(sum) +
             "; it must be at least the previous sum, which is " + std::to_string(before);
    before = sum;
  }
  return unless(before == c.input.shape[0], "last entry of actSeqLenOptional is " +
                                                std::to_string(before) +
                                                "; it must be the number of tokens, which is " +
                                                std::to_string(c.input.shape[0]));
}

Refusal other_shapes(const CompressCall& c) {
  if (const Refusal refusal =
          optimized::shape_is({"weight", &c.weight}, {c.compress_block_size, c.input.shape[1]}))
    return refusal;
  std::int64_t rows = 0;
  for (const std::int64_t length : lengths_of(*c.act_seq_len).all)
    rows += spec::window_count(length, c.compress_block_size, c.compress_stride);
  return optimized::shape_is({"output", &c.output}, {rows, c.input.shape[1], c.input.shape[2]});
}

/// The windows of one head.
class Head {
 public:
  Head(const Compression& compression, const spec::Tensor& input, const spec::Tensor& weight,
       std::int64_t n)
      : input_(input),
        storage_(optimized::storage_of(input.dtype)),
        n_(n),
        weights_(static_cast<std::size_t>(compression.compress_block_size)),
        row_(static_cast<std::size_t>(input.shape[2])),
        sums_(row_.size()) {
    for (std::size_t t = 0; t < weights_.size(); ++t)
      weights_[t] =
          static_cast<float>(weight.load(static_cast<std::int64_t>(t) * weight.shape[1] + n));
  }

  /// Writes the window that starts at `token` to row `window` of the output.
  void compress(std::int64_t token, std::int64_t window, spec::Tensor& output) {
    std::ranges::fill(sums_, 0.0F);
    for (const float weight : weights_) {
      kernels_.widen(input_.bytes.data() + byte(input_, token++), storage_, dim(), row_.data());
      for (std::size_t c = 0; c < row_.size(); ++c) sums_[c] += weight * row_[c];
    }
    kernels_.narrow(sums_.data(), 1, dim(), storage_, output.bytes.data() + byte(output, window));
  }

 private:
  std::int64_t dim() const { return static_cast<std::int64_t>(row_.size()); }
  /// Byte offset of the first channel of the head in a row.
  std::int64_t byte(const spec::Tensor& tensor, std::int64_t row) const {
    return (row * tensor.shape[1] + n_) * dim() * spec::size_of(tensor.dtype);
  }

  const spec::Tensor& input_;
  optimized::tile::Storage storage_;
  std::int64_t n_;
  std::vector<float> weights_, row_, sums_;
  const optimized::tile::Kernels& kernels_ =
      optimized::tile::kernels(optimized::Instructions::fastest);
};

}  // namespace

void refuse_unless_legal(const CompressCall& call) {
  if (const Refusal refusal = presence(call))
    throw spec::Rejected(spec::Status::param_nullptr, "NsaCompress: " + *refusal);
  for (const auto check : {types, layout, input_shape, windows, lengths, other_shapes})
    if (const Refusal refusal = check(call))
      throw spec::Rejected(spec::Status::param_invalid, "NsaCompress: " + *refusal);
}

void compress(const Compression& compression, const spec::Tensor& input, const spec::Tensor& weight,
              spec::Tensor& output) {
  for (std::int64_t n = 0; n < input.shape[1]; ++n) {
    Head head(compression, input, weight, n);
    std::int64_t first = 0, window = 0;
    for (const std::int64_t length : compression.lengths) {
      const std::int64_t count =
          spec::window_count(length, compression.compress_block_size, compression.compress_stride);
      for (std::int64_t i = 0; i < count; ++i)
        head.compress(first + i * compression.compress_stride, window++, output);
      first += length;
    }
  }
}

}  // namespace assay::aclnn
