#include <algorithm>
#include <stdexcept>

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

/// Reads the elements of a tensor as if its memory had the layout `layout` with the extents
/// `extents`.
DenseRows read_as(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents) {
  const std::vector<std::int64_t> elements = viewed_elements(tensor);
  spec::Tensor positions = {.shape = shape_of(layout, extents)};
  positions.strides = spec::contiguous_strides(positions.shape);
  const spec::HeadIndex index(positions, layout, extents);
  DenseRows dense = filled(extents, 0);
  std::size_t next = 0;
  for (std::int64_t b = 0; b < extents.batch; ++b)
    for (std::int64_t n = 0; n < extents.heads; ++n)
      for (std::int64_t s = 0; s < extents.seq; ++s)
        for (std::int64_t d = 0; d < extents.dim; ++d) {
          const auto position = static_cast<std::size_t>(index(b, n, s, d));
          dense.values[next++] = static_cast<float>(tensor.load(elements[position]));
        }
  return dense;
}

struct BsndReadAsBnsd : Kernel {
  DenseRows read(const spec::Tensor& tensor, spec::Layout layout,
                 const spec::Extents& extents) const override {
    if (layout != spec::Layout::bsnd) return Kernel::read(tensor, layout, extents);
    return read_as(tensor, spec::Layout::bnsd, extents);
  }
};

struct SbhReadAsBsh : Kernel {
  DenseRows read(const spec::Tensor& tensor, spec::Layout layout,
                 const spec::Extents& extents) const override {
    if (layout != spec::Layout::sbh) return Kernel::read(tensor, layout, extents);
    return read_as(tensor, spec::Layout::bsh, extents);
  }
};

/// Returns the tensor without its strides and offset. The storage always has at least as many
/// elements as the view, so no read goes beyond its end.
spec::Tensor without_view(const spec::Tensor& tensor) {
  spec::Tensor plain = tensor;
  plain.strides = spec::contiguous_strides(plain.shape);
  plain.offset = 0;
  return plain;
}

struct KeyStridesIgnored : Kernel {
  AttentionWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    AttentionWork w = Kernel::load(p, inputs);
    w.key = read(without_view(inputs.key), p.input_layout, key_extents(p));
    return w;
  }
};

struct DyOffsetIgnored : Kernel {
  AttentionWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    AttentionWork w = Kernel::load(p, inputs);
    spec::Tensor dy = inputs.dy;
    dy.offset = 0;
    w.dy = read(dy, p.input_layout, dy_extents(p));
    return w;
  }
};

struct MaskStridesIgnored : Kernel {
  void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    Op::Inputs changed = inputs;
    if (changed.atten_mask) changed.atten_mask = without_view(*changed.atten_mask);
    Kernel::run(p, changed, outputs);
  }
};

/// Fault: reads the rows of `dense` with the row stride `distance` instead of their own.
DenseRows with_row_distance(const DenseRows& dense, std::int64_t distance) {
  DenseRows moved = dense;
  const std::size_t count = dense.values.size();
  const auto dim = static_cast<std::size_t>(dense.extents.dim);
  for (std::size_t k = 0; k < count; ++k)
    moved.values[k] =
        dense.values[(k / dim * static_cast<std::size_t>(distance) + k % dim) % count];
  return moved;
}

struct ValueRowsAtHeadDim : Kernel {
  AttentionWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    AttentionWork w = Kernel::load(p, inputs);
    w.value = with_row_distance(w.value, p.head_dim);
    return w;
  }
};

struct DvTailChannelsMissing : Kernel {
  void adjust(AttentionWork& w) const override {
    const spec::Extents& e = w.dv.extents;
    const std::int64_t whole = e.dim / 8 * 8;
    for (std::size_t k = 0; k < w.dv.values.size(); ++k)
      if (static_cast<std::int64_t>(k) % e.dim >= whole) w.dv.values[k] = 0;
  }
};

struct ScoreTailChannelsMissing : Kernel {
  float product(const AttentionWork& w, Query q, std::int64_t j) const override {
    const auto whole = static_cast<std::size_t>(w.problem.head_dim / 8 * 8);
    return dot(w.query.row(q.b, q.n, q.i).first(whole),
               w.key.row(q.b, kv_head(w, q.n), j).first(whole));
  }
};

struct ModifiesInput : Kernel {
  void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    Kernel::run(p, inputs, outputs);
    if (inputs.attention_in.bytes.empty()) return;
    // Fault: the kernel writes to an input. Nothing prevents the write, because the kernel has the
    // device address of the input.
    std::byte& first = const_cast<std::byte&>(inputs.attention_in.bytes.front());
    first ^= std::byte{1};
  }
};

/// Fault: writes whole rows of the storage, including the padding.
struct WritesPadding : Kernel {
  void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    Kernel::run(p, inputs, outputs);
    const std::vector<std::int64_t> viewed = viewed_elements(outputs.dq);
    if (viewed.empty()) return;
    const std::int64_t after = viewed.back() + 1;
    const auto count =
        static_cast<std::int64_t>(outputs.dq.bytes.size()) / size_of(outputs.dq.dtype);
    if (after < count) outputs.dq.store(after, 0);
    if (outputs.dq.offset > 0) outputs.dq.store(outputs.dq.offset - 1, 0);
  }
};

struct OutputStridesIgnored : Kernel {
  void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    const spec::Tensor view = outputs.dk;
    outputs.dk = without_view(outputs.dk);
    Kernel::run(p, inputs, outputs);
    outputs.dk.strides = view.strides;
    outputs.dk.offset = view.offset;
  }
};

}  // namespace

std::vector<Mutant> tensor_mutants() {
  return {
      injected<BsndReadAsBnsd>("bsnd_read_as_bnsd", "BSND tensors are read as BNSD", ascend_like),
      injected<SbhReadAsBsh>("sbh_read_as_bsh", "SBH tensors are read as BSH"),
      injected<KeyStridesIgnored>("key_strides_ignored", "key is read as if it were contiguous"),
      injected<DyOffsetIgnored>("dy_offset_ignored", "dy is read from the start of its storage"),
      injected<MaskStridesIgnored>("mask_strides_ignored",
                                   "the mask is read as if it were contiguous"),
      injected<ValueRowsAtHeadDim>("value_rows_at_head_dim",
                                   "rows of value are read with stride head_dim", ascend_like),
      injected<DvTailChannelsMissing>("dv_tail_channels_missing",
                                      "channels of dv after the last multiple of 8 are 0"),
      injected<ScoreTailChannelsMissing>(
          "score_tail_channels_missing",
          "channels of query and key after the last multiple of 8 are ignored"),
      injected<ModifiesInput>("modifies_input", "flips a bit of attention_in"),
      injected<WritesPadding>("writes_padding", "writes outside the view of dq", ascend_like),
      injected<OutputStridesIgnored>("output_strides_ignored",
                                     "dk is written as if it were contiguous"),
  };
}

}  // namespace assay::mutants
