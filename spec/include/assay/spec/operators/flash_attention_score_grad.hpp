#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "assay/spec/attention.hpp"
#include "assay/spec/attention_problem.hpp"
#include "assay/spec/call.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/requirement.hpp"
#include "assay/spec/stage.hpp"
#include "assay/spec/striding.hpp"
#include "assay/spec/tensor.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// The entry points (API functions) of the gradient. g1: aclnnFlashAttentionScoreGrad. g2: ...V2
/// (adds start indices and pseType). u1: aclnnFlashAttentionUnpaddingScoreGrad (TND). u2: ...V2
/// (adds the same as g2). u3: ...V3 (u2 with separate rope tensors). u4: ...V4 (u1 with
/// softmaxInLayout). g3: aclnnFlashAttentionScoreGradV3 (g2 with a sink and its gradient). u5:
/// aclnnFlashAttentionUnpaddingScoreGradV5 (u2 with softmaxInLayout, a sink and its gradient, and
/// with rope tensors if the caller passes them).
enum class FlashEntryPoint : std::uint8_t { g1, g2, u1, u2, u3, u4, g3, u5 };

template <>
inline constexpr auto spellings_of<FlashEntryPoint> = Spellings<FlashEntryPoint, 8>{{{
    {FlashEntryPoint::g1, "g1"},
    {FlashEntryPoint::g2, "g2"},
    {FlashEntryPoint::u1, "u1"},
    {FlashEntryPoint::u2, "u2"},
    {FlashEntryPoint::u3, "u3"},
    {FlashEntryPoint::u4, "u4"},
    {FlashEntryPoint::g3, "g3"},
    {FlashEntryPoint::u5, "u5"},
}}};

/// The following functions return whether an entry point has a certain parameter or feature.
constexpr bool is_unpadding(FlashEntryPoint s) {
  return (s >= FlashEntryPoint::u1 && s <= FlashEntryPoint::u4) || s == FlashEntryPoint::u5;
}
constexpr bool has_sink(FlashEntryPoint s) {
  return s == FlashEntryPoint::g3 || s == FlashEntryPoint::u5;
}
constexpr bool has_pse_type(FlashEntryPoint s) {
  return s == FlashEntryPoint::g2 || s == FlashEntryPoint::u2 || s == FlashEntryPoint::u3 ||
         has_sink(s);
}
constexpr bool has_rope(FlashEntryPoint s) {
  return s == FlashEntryPoint::u3 || s == FlashEntryPoint::u5;
}
/// Returns whether the entry point requires rope tensors.
constexpr bool requires_rope(FlashEntryPoint s) { return s == FlashEntryPoint::u3; }
constexpr bool has_softmax_in_layout(FlashEntryPoint s) {
  return s == FlashEntryPoint::u4 || s == FlashEntryPoint::u5;
}
/// Returns whether query may be FLOAT32.
constexpr bool takes_fp32(FlashEntryPoint s) { return !has_sink(s); }

/// Returns whether the documentation page of the entry point lists the product (a2 or a3) as
/// supported. Expected values do not depend on the product.
bool supports(FlashEntryPoint entry_point, Product product);
/// Returns the id of the requirement (FAG-P*, SNK-P*) that lists the products with this entry
/// point.
std::string_view product_requirement(FlashEntryPoint entry_point, Product product);

/// The gradient of softmax attention. Members have the documented names in snake_case, without the
/// endings Optional, In and Out.
struct FlashAttentionScoreGrad {
  static constexpr std::string_view name = "flash_attention_score_grad";
  /// True if kernels of this operator compute a softmax. Kernels without a softmax have no P and no
  /// dS, so a declared rounding of P or dS does not apply to them.
  static constexpr bool has_softmax = true;

  using EntryPoint = FlashEntryPoint;

  using Problem = AttentionProblem;

  /// Inputs. query, dy and attention_in have the problem's layout with heads_q heads; key and value
  /// have it with heads_kv heads. softmax_max and softmax_sum are (batch, heads_q, seq_q, 8) in
  /// every padded layout and (T1, heads_q, 8) in TND, where statistics_order gives their memory
  /// order. For pse_shift and drop_mask see `pse_shape` and `drop_mask_shape`. sink is (heads_q),
  /// fp32; the statistics include it.
  struct Inputs {
    Tensor query, key, value, dy, softmax_max, softmax_sum, attention_in;
    std::optional<Tensor> atten_mask = {};  ///< 1 excludes
    std::optional<Tensor> pse_shift = {};
    std::optional<Tensor> drop_mask =
        {};  ///< bit e mod 8 of byte e / 8 belongs to score e: 1 keeps
    std::optional<Tensor> query_rope = {}, key_rope = {};
    std::optional<Tensor> sink = {};
  };

  /// The tensors that phase 2 (the kernel run) fills.
  struct Outputs {
    Tensor dq, dk, dv;
    std::optional<Tensor> dq_rope = {}, dk_rope = {};
    std::optional<Tensor> dsink = {};  ///< (heads_q), fp32
    /// An extension that is not documented: the gradients of the arrays and parameters of a user's
    /// formula, one after the other, in one fp32 axis.
    std::optional<Tensor> dformula = {};
  };

  /// The tensors, and the arrays in host memory, that phase 1 (the argument check) receives, by
  /// their documented names.
  struct Parameters {
    Parameter query, query_rope, key, key_rope, value, dy, pse_shift, drop_mask, padding_mask,
        atten_mask, softmax_max, softmax_sum, softmax_in, attention_in, sink, dq, dq_rope, dk,
        dk_rope, dv, dpse, dsink;
    std::optional<std::vector<std::int64_t>> prefix, actual_seq_qlen, actual_seq_kvlen, q_start_idx,
        kv_start_idx;                             ///< actual_seq_*: inclusive sums of the lengths
    bool workspace_size = true, executor = true;  ///< false: null pointers
  };

  /// The attributes of a call: the numbers and strings that phase 1 (the argument check) receives,
  /// by their documented names.
  struct Attributes {
    double scale_value = 1.0, keep_prob = 1.0;
    std::int64_t pre_tokens = unbounded_tokens, next_tokens = unbounded_tokens, head_num = 1;
    std::optional<std::string> input_layout;  ///< nullopt: a null pointer
    std::int64_t inner_precise = 0, sparse_mode = 0, pse_type = 1;
    std::optional<std::string>
        softmax_in_layout;  ///< u4, u5: "" or "same_as_input"; nullopt: a null pointer
  };

  /// Returns the requirements on the entry points of this operator. Their ids begin with FAG-C,
  /// FAG-P, TND-, API- and SNK-.
  static std::span<const Requirement<FlashAttentionScoreGrad>> requirements();
  static constexpr std::span<const Stage> stages() { return attention_stages; }
};

/// Calls visit(name, member) for every input, by its documented name. A member is a Tensor or an
/// optional Tensor.
template <class Inputs, class Visitor>
requires std::same_as<std::remove_const_t<Inputs>, FlashAttentionScoreGrad::Inputs>
void visit_fields(Inputs& inputs, Visitor&& visit) {
  visit("query", inputs.query);
  visit("query_rope", inputs.query_rope);
  visit("key", inputs.key);
  visit("key_rope", inputs.key_rope);
  visit("value", inputs.value);
  visit("dy", inputs.dy);
  visit("softmax_max", inputs.softmax_max);
  visit("softmax_sum", inputs.softmax_sum);
  visit("attention_in", inputs.attention_in);
  visit("pse_shift", inputs.pse_shift);
  visit("drop_mask", inputs.drop_mask);
  visit("atten_mask", inputs.atten_mask);
  visit("sink", inputs.sink);
}

/// Calls visit(name, member) for every output.
template <class Outputs, class Visitor>
requires std::same_as<std::remove_const_t<Outputs>, FlashAttentionScoreGrad::Outputs>
void visit_fields(Outputs& outputs, Visitor&& visit) {
  visit("dq", outputs.dq);
  visit("dq_rope", outputs.dq_rope);
  visit("dk", outputs.dk);
  visit("dk_rope", outputs.dk_rope);
  visit("dv", outputs.dv);
  visit("dsink", outputs.dsink);
  visit("dformula", outputs.dformula);
}

/// Calls visit(name, member) for every argument of a call that is a tensor (type Parameter), an
/// array in host memory (optional) or a pointer that may be null (bool).
template <class Parameters, class Visitor>
requires std::same_as<std::remove_const_t<Parameters>, FlashAttentionScoreGrad::Parameters>
void visit_fields(Parameters& parameters, Visitor&& visit) {
  visit("query", parameters.query);
  visit("query_rope", parameters.query_rope);
  visit("key", parameters.key);
  visit("key_rope", parameters.key_rope);
  visit("value", parameters.value);
  visit("dy", parameters.dy);
  visit("pse_shift", parameters.pse_shift);
  visit("drop_mask", parameters.drop_mask);
  visit("padding_mask", parameters.padding_mask);
  visit("atten_mask", parameters.atten_mask);
  visit("softmax_max", parameters.softmax_max);
  visit("softmax_sum", parameters.softmax_sum);
  visit("softmax_in", parameters.softmax_in);
  visit("attention_in", parameters.attention_in);
  visit("dq", parameters.dq);
  visit("dq_rope", parameters.dq_rope);
  visit("dk", parameters.dk);
  visit("dk_rope", parameters.dk_rope);
  visit("dv", parameters.dv);
  visit("dpse", parameters.dpse);
  visit("sink", parameters.sink);
  visit("dsink", parameters.dsink);
  visit("prefix", parameters.prefix);
  visit("actual_seq_qlen", parameters.actual_seq_qlen);
  visit("actual_seq_kvlen", parameters.actual_seq_kvlen);
  visit("q_start_idx", parameters.q_start_idx);
  visit("kv_start_idx", parameters.kv_start_idx);
  visit("workspace_size", parameters.workspace_size);
  visit("executor", parameters.executor);
}

/// Calls visit(name, member) for every attribute of a call.
template <class Attributes, class Visitor>
requires std::same_as<std::remove_const_t<Attributes>, FlashAttentionScoreGrad::Attributes>
void visit_fields(Attributes& attributes, Visitor&& visit) {
  visit("scale_value", attributes.scale_value);
  visit("keep_prob", attributes.keep_prob);
  visit("pre_tokens", attributes.pre_tokens);
  visit("next_tokens", attributes.next_tokens);
  visit("head_num", attributes.head_num);
  visit("input_layout", attributes.input_layout);
  visit("inner_precise", attributes.inner_precise);
  visit("sparse_mode", attributes.sparse_mode);
  visit("pse_type", attributes.pse_type);
  visit("softmax_in_layout", attributes.softmax_in_layout);
}

/// Returns the memory order of the statistics that a kernel declares in `numerics`, for this entry
/// point and value of softmaxInLayout. Returns nothing if the kernel declares none.
inline std::optional<StatisticsOrder> declared_order(const Numerics& numerics,
                                                     FlashEntryPoint entry_point,
                                                     SoftmaxInLayout layout) {
  return declared_order(numerics, has_softmax_in_layout(entry_point), layout);
}

/// Builds a call that computes `problem`. `inputs` and `outputs` give the strides of the tensors;
/// statistics, mask and position bias get the strides of the inputs. Sets no field for which the
/// entry point has no parameter.
Call<FlashAttentionScoreGrad> call_of(const FlashAttentionScoreGrad::Problem& problem,
                                      FlashEntryPoint entry_point, Product product,
                                      const Strides& inputs, const Strides& outputs);

}  // namespace assay::spec
