#include "flash_attention_score_grad/families.hpp"
#include "misread.hpp"

namespace assay::mutants {
namespace {

using Input = spec::Tensor Op::Inputs::*;

template <Input input, Input other>
using StridesOf = ReadsWithStridesOf<Op, Kernel, input, other>;

/// Fault: checks only the strides of query. Copies every input if query is not contiguous;
/// otherwise reads all inputs as if they were contiguous.
struct QueryAloneIsAsked : Kernel {
  void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    if (inputs.query.offset != 0 ||
        inputs.query.strides != spec::contiguous_strides(inputs.query.shape))
      return Kernel::run(p, inputs, outputs);
    Op::Inputs changed = inputs;
    for (const Input input :
         {&Op::Inputs::key, &Op::Inputs::value, &Op::Inputs::dy, &Op::Inputs::attention_in}) {
      spec::Tensor& tensor = changed.*input;
      tensor.offset = 0;
      tensor = read_with_strides(tensor, spec::contiguous_strides(tensor.shape));
    }
    Kernel::run(p, changed, outputs);
  }
};

template <Input input>
using BytesIn32Bits = CountsBytesIn32Bits<Op, Kernel, input>;

/// Fault: computes the byte offset of an element of dq in 32 bits when it writes the element.
struct DqBytesIn32Bits : Kernel {
  void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    spec::Tensor view = std::move(outputs.dq);
    outputs.dq = spec::contiguous_tensor(view.dtype, view.shape);
    Kernel::run(p, inputs, outputs);
    write_in_32_bits(outputs.dq, view);
    outputs.dq = std::move(view);
  }
};

/// Fault: the last sequence attends to all tokens from its start on, including tokens that belong
/// to no sequence.
struct LastSequenceEndsWithTokens : Kernel {
  void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    if (p.padding_kv == 0 || p.drop_mask != spec::DropMask::absent ||
        p.pse_shift != spec::PseShape::absent || p.atten_mask != spec::MaskShape::absent)
      return Kernel::run(p, inputs, outputs);
    Op::Problem longer = p;
    if (longer.lengths_kv.empty())
      longer.lengths_kv.assign(static_cast<std::size_t>(p.batch), p.seq_kv);
    longer.lengths_kv.back() += p.padding_kv;
    longer.padding_kv = 0;
    Kernel::run(longer, inputs, outputs);
  }
};

/// Fault: does not write the tokens after the last sequence.
struct PaddingUnwritten : Kernel {
  bool writes_padding() const override { return false; }
};

/// Fault: writes the gradients of the first token to the tokens after the last sequence.
struct PaddingOfFirstToken : Kernel {
  void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    Kernel::run(p, inputs, outputs);
    const spec::Tensor& dk = outputs.dk;
    for (std::int64_t token = dk.shape[0] - p.padding_kv; token < dk.shape[0]; ++token)
      for (std::int64_t d = 0; d < p.head_dim; ++d)
        outputs.dk.store(dk.offset + token * dk.strides[0] + d * dk.strides[2],
                         dk.load(dk.offset + d * dk.strides[2]));
  }
};

}  // namespace

std::vector<Mutant> stride_mutants() {
  using I = Op::Inputs;
  return {
      injected<StridesOf<&I::dy, &I::attention_in>>("dy_strides_of_attention_in",
                                                    "dy is read with the strides of attention_in"),
      injected<StridesOf<&I::value, &I::key>>("value_strides_of_key",
                                              "value is read with the strides of key", ascend_like),
      injected<StridesOf<&I::key, &I::query>>("key_strides_of_query",
                                              "key is read with the strides of query"),
      injected<StridesOf<&I::attention_in, &I::query>>(
          "attention_in_strides_of_query", "attention_in is read with the strides of query"),
      injected<StridesOf<&I::softmax_sum, &I::softmax_max>>(
          "softmax_sum_strides_of_max", "softmax_sum is read with the strides of softmax_max"),
      injected<WritesWithStridesOf<Op, Kernel, &Op::Outputs::dv, &Op::Outputs::dk>>(
          "dv_strides_of_dk", "dv is written with the strides of dk"),
      injected<QueryAloneIsAsked>("query_alone_is_asked",
                                  "all inputs are read as contiguous if query is contiguous"),
      injected<BytesIn32Bits<&I::query>>("query_bytes_in_32_bits",
                                         "byte offsets in query are computed in 32 bits"),
      injected<BytesIn32Bits<&I::dy>>("dy_bytes_in_32_bits",
                                      "byte offsets in dy are computed in 32 bits", ascend_like),
      injected<DqBytesIn32Bits>("dq_bytes_in_32_bits",
                                "byte offsets in dq are computed in 32 bits"),
      injected<LastSequenceEndsWithTokens>(
          "last_sequence_ends_with_tokens",
          "the last sequence also attends to the unused keys after "
          "it"),
      injected<PaddingUnwritten>("padding_unwritten",
                                 "gradients of tokens after the last sequence are not written"),
      injected<PaddingOfFirstToken>(
          "padding_of_first_token",
          "tokens after the last sequence get gradients of the first tokens"),
  };
}

}  // namespace assay::mutants
