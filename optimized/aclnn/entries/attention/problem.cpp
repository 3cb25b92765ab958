#include "aclnn/entries/attention/problem.hpp"

#include "aclnn/objects/operands.hpp"
#include "attention/checks/sink.hpp"

namespace assay::aclnn {
namespace {

using Problem = spec::AttentionProblem;
using spec::MaskShape;
using spec::PseShape;

template <class Op>
void set_extents(const spec::Call<Op>& call, Problem& p) {
  const optimized::attention::CallExtents e = optimized::attention::extents_of(call);
  p.input_layout = *optimized::attention::layout_of(call);
  p.batch = e.batch, p.heads_q = e.heads_q, p.heads_kv = e.heads_kv;
  p.seq_q = e.seq_q, p.seq_kv = e.seq_kv;
  p.head_dim = e.head_dim, p.head_dim_v = e.head_dim_v;
  if (is_packed(p.input_layout)) p.lengths_q = e.lengths_q, p.lengths_kv = e.lengths_kv;
  if (optimized::attention::takes_ropes(call))
    p.head_dim_rope = call.parameters.query_rope.shape.back();
}

/// Returns the first of the documented mask forms that has this shape. Forms with equal shapes have
/// equal elements.
MaskShape mask_of(const Problem& unmasked, const spec::Shape& shape) {
  using enum MaskShape;
  static constexpr MaskShape written[] = {ss, one_one_ss, b_one_ss};
  static constexpr MaskShape fixed[] = {compressed, compressed_one_one_ss, compressed_b_one_ss};
  const bool is_fixed = unmasked.sparse_mode >= 2 && unmasked.sparse_mode != 5;
  Problem p = unmasked;
  for (const MaskShape candidate : is_fixed ? fixed : written) {
    p.atten_mask = candidate;
    if (spec::mask_shape(p) == shape) return candidate;
  }
  return is_fixed ? compressed_bnss : bnss;
}

PseShape pse_of(const Problem& unbiased, const spec::Shape& shape) {
  if (unbiased.pse_type >= 2) return shape.size() == 1 ? PseShape::slopes_n : PseShape::slopes_bn;
  Problem p = unbiased;
  if (shape.size() == 1) {
    const bool keys_only = shape[0] == p.heads_q * key_extents(p).tokens();
    return !keys_only && shape[0] == spec::score_count(p) ? PseShape::packed_bnss
                                                          : PseShape::packed_bn1s;
  }
  for (const PseShape candidate :
       {PseShape::bnss, PseShape::bn1s, PseShape::one_nss, PseShape::bnhs}) {
    p.pse_shift = candidate;
    if (spec::pse_shape(p) == shape) return candidate;
  }
  return PseShape::one_nhs;
}

template <class Op>
void set_mask(const spec::Call<Op>& call, Problem& p) {
  const auto& a = call.attributes;
  const spec::Parameter& mask = call.parameters.atten_mask;
  p.sparse_mode = a.sparse_mode;
  p.pre_tokens = a.pre_tokens, p.next_tokens = a.next_tokens;
  if (!is_given(mask)) return;
  p.atten_mask = mask_of(p, mask.shape);
  p.mask_dtype = mask.dtype;
  p.prefix = call.parameters.prefix.value_or(spec::Shape());
}

template <class Op>
void set_position_bias(const spec::Call<Op>& call, Problem& p) {
  if (has_pse_type(call.entry_point)) {
    p.pse_type = call.attributes.pse_type;
    p.q_start_idx = call.parameters.q_start_idx.value_or(spec::Shape());
    p.kv_start_idx = call.parameters.kv_start_idx.value_or(spec::Shape());
  }
  const spec::Parameter& pse = call.parameters.pse_shift;
  if (!is_given(pse)) return;
  p.pse_shift = pse_of(p, pse.shape);
  if (p.pse_type >= 2) p.slope_dtype = pse.dtype;
}

template <class Op>
void set_dropout(const spec::Call<Op>& call, Problem& p) {
  p.keep_prob = call.attributes.keep_prob;
  // A mask that is larger than necessary starts with the same bits as a mask of exact size, so the
  // function treats both in the same way.
  if (p.has_dropout()) p.drop_mask = spec::DropMask::exact;
}

/// A sink of shape [0] counts as absent, as in the vendor's code.
template <class Op>
void set_sink(const spec::Call<Op>& call, Problem& p) {
  if (optimized::attention::has_elements(call.parameters.sink)) p.sink = spec::SinkShape::per_head;
}

/// Returns softmaxInLayout of a gradient or softmaxOutLayout of a forward.
template <class Attributes>
const std::optional<std::string>& statistics_layout_of(const Attributes& attributes) {
  if constexpr (requires { attributes.softmax_in_layout; })
    return attributes.softmax_in_layout;
  else
    return attributes.softmax_out_layout;
}

}  // namespace

template <class Op>
Problem problem_of(const spec::Call<Op>& call, const spec::Numerics& orders) {
  Problem p = {.dtype = call.parameters.query.dtype, .scale_value = call.attributes.scale_value};
  set_extents(call, p);
  set_mask(call, p);
  set_position_bias(call, p);
  set_dropout(call, p);
  set_sink(call, p);
  if (statistics_layout_of(call.attributes) == "same_as_input")
    p.softmax_in_layout = spec::SoftmaxInLayout::same_as_input;
  p.statistics_order = declared_order(orders, call.entry_point, p.softmax_in_layout)
                           .value_or(upstream_order(p.softmax_in_layout));
  return p;
}

template Problem problem_of(const spec::Call<spec::FlashAttentionScore>&, const spec::Numerics&);
template Problem problem_of(const spec::Call<spec::FlashAttentionScoreGrad>&,
                            const spec::Numerics&);

}  // namespace assay::aclnn
