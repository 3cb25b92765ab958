#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "assay/spec/attention_problem.hpp"
#include "assay/spec/call.hpp"
#include "assay/spec/requirement.hpp"
#include "assay/spec/stage.hpp"
#include "assay/spec/striding.hpp"

namespace assay::spec {

/// The entry points (API functions) of the forward operator. f1: aclnnFlashAttentionScore. f2:
/// ...V2 (adds start indices and pseType). l1: aclnnFlashAttentionVarLenScore (TND). l2: ...V2
/// (adds the same as f2). l3: ...V3 (l2 with separate rope tensors). f3: aclnnFlashAttentionScoreV3
/// (f2 with a sink). l5: aclnnFlashAttentionVarLenScoreV5 (l2 with softmaxOutLayout, a sink, and
/// with rope tensors if the caller passes them).
enum class FlashForwardEntryPoint : std::uint8_t { f1, f2, l1, l2, l3, f3, l5 };

template <>
inline constexpr auto spellings_of<FlashForwardEntryPoint> = Spellings<FlashForwardEntryPoint, 7>{{{
    {FlashForwardEntryPoint::f1, "f1"},
    {FlashForwardEntryPoint::f2, "f2"},
    {FlashForwardEntryPoint::l1, "l1"},
    {FlashForwardEntryPoint::l2, "l2"},
    {FlashForwardEntryPoint::l3, "l3"},
    {FlashForwardEntryPoint::f3, "f3"},
    {FlashForwardEntryPoint::l5, "l5"},
}}};

/// The following functions return whether an entry point has a certain parameter or feature.
constexpr bool is_unpadding(FlashForwardEntryPoint s) {
  return (s >= FlashForwardEntryPoint::l1 && s <= FlashForwardEntryPoint::l3) ||
         s == FlashForwardEntryPoint::l5;
}
constexpr bool has_pse_type(FlashForwardEntryPoint s) {
  return s != FlashForwardEntryPoint::f1 && s != FlashForwardEntryPoint::l1;
}
constexpr bool has_rope(FlashForwardEntryPoint s) {
  return s == FlashForwardEntryPoint::l3 || s == FlashForwardEntryPoint::l5;
}
/// Returns whether the entry point requires rope tensors.
constexpr bool requires_rope(FlashForwardEntryPoint s) { return s == FlashForwardEntryPoint::l3; }
/// Returns whether the entry point has the attribute softmaxOutLayout.
constexpr bool has_softmax_in_layout(FlashForwardEntryPoint s) {
  return s == FlashForwardEntryPoint::l5;
}
constexpr bool has_sink(FlashForwardEntryPoint s) {
  return s == FlashForwardEntryPoint::f3 || s == FlashForwardEntryPoint::l5;
}
constexpr bool takes_fp32(FlashForwardEntryPoint) { return true; }

/// Returns whether the documentation page of the entry point lists the product (a2 or a3) as
/// supported. Expected values do not depend on the product.
bool supports(FlashForwardEntryPoint entry_point, Product product);
/// Returns the id of the requirement (FAS-P*, SNKF-P*) that lists the products with this entry
/// point.
std::string_view product_requirement(FlashForwardEntryPoint entry_point, Product product);

/// The value of innerPrecise that defines the results of fully masked rows.
inline constexpr std::int64_t invalid_row_handling = 2;

namespace detail {
inline constexpr auto attention_out_alone = std::to_array<std::string_view>({"attention_out"});
inline constexpr auto of_forward_scores =
    std::to_array<std::string_view>({"softmax_max", "softmax_sum", "attention_out"});
inline constexpr auto forward_stages = std::to_array<Stage>({
    {"the P after dropout, or the sum over keys that gives attention_out", attention_out_alone},
    {"the scores, their mask or the softmax statistics", of_forward_scores},
});
}  // namespace detail

/// The forward operator of softmax attention, which also computes the statistics for its gradient.
/// Members have the names that the documentation of the gradient uses. Only pse_shift has another
/// name in the documentation of the forward: "realShift".
struct FlashAttentionScore {
  static constexpr std::string_view name = "flash_attention_score";
  static constexpr bool has_softmax = true;

  using EntryPoint = FlashForwardEntryPoint;
  using Problem = AttentionProblem;

  /// The inputs. Inputs with the same names in the gradient have the same shapes and meanings.
  struct Inputs {
    Tensor query, key, value;
    std::optional<Tensor> atten_mask = {}, pse_shift = {}, drop_mask = {};
    std::optional<Tensor> query_rope = {}, key_rope = {};
    std::optional<Tensor> sink = {};  ///< (heads_q), fp32
  };

  /// Outputs. attention_out has the layout of query, with head_dim_v channels. The statistics have
  /// the shape `statistics_shape`: eight equal copies of each number, in the problem's
  /// statistics_order.
  struct Outputs {
    Tensor softmax_max, softmax_sum, attention_out;
  };

  /// The tensors, and the arrays in host memory, that phase 1 (the argument check) receives.
  /// softmax_out is reserved: no kernel writes it.
  struct Parameters {
    Parameter query, query_rope, key, key_rope, value, pse_shift, drop_mask, padding_mask,
        atten_mask, sink, softmax_max, softmax_sum, softmax_out, attention_out;
    std::optional<std::vector<std::int64_t>> prefix, actual_seq_qlen, actual_seq_kvlen, q_start_idx,
        kv_start_idx;                             ///< actual_seq_*: inclusive sums of the lengths
    bool workspace_size = true, executor = true;  ///< false: null pointers
  };

  /// The attributes of a call: the numbers and strings that phase 1 (the argument check) receives.
  struct Attributes {
    double scale_value = 1.0, keep_prob = 1.0;
    std::int64_t pre_tokens = unbounded_tokens, next_tokens = unbounded_tokens, head_num = 1;
    std::optional<std::string> input_layout;  ///< nullopt: a null pointer
    std::int64_t inner_precise = 0, sparse_mode = 0, pse_type = 1;
    std::optional<std::string>
        softmax_out_layout;  ///< l5: "" or "same_as_input"; nullopt: a null pointer
  };

  /// Returns the requirements on the entry points of this operator. Their ids begin with FAS-C,
  /// FAS-P and SNKF-.
  static std::span<const Requirement<FlashAttentionScore>> requirements();
  static constexpr std::span<const Stage> stages() { return detail::forward_stages; }
};

/// Calls visit(name, member) for every input, output, parameter and attribute.
template <class Inputs, class Visitor>
requires std::same_as<std::remove_const_t<Inputs>, FlashAttentionScore::Inputs>
void visit_fields(Inputs& inputs, Visitor&& visit) {
  visit("query", inputs.query);
  visit("query_rope", inputs.query_rope);
  visit("key", inputs.key);
  visit("key_rope", inputs.key_rope);
  visit("value", inputs.value);
  visit("pse_shift", inputs.pse_shift);
  visit("drop_mask", inputs.drop_mask);
  visit("atten_mask", inputs.atten_mask);
  visit("sink", inputs.sink);
}

template <class Outputs, class Visitor>
requires std::same_as<std::remove_const_t<Outputs>, FlashAttentionScore::Outputs>
void visit_fields(Outputs& outputs, Visitor&& visit) {
  visit("softmax_max", outputs.softmax_max);
  visit("softmax_sum", outputs.softmax_sum);
  visit("attention_out", outputs.attention_out);
}

template <class Parameters, class Visitor>
requires std::same_as<std::remove_const_t<Parameters>, FlashAttentionScore::Parameters>
void visit_fields(Parameters& parameters, Visitor&& visit) {
  visit("query", parameters.query);
  visit("query_rope", parameters.query_rope);
  visit("key", parameters.key);
  visit("key_rope", parameters.key_rope);
  visit("value", parameters.value);
  visit("pse_shift", parameters.pse_shift);
  visit("drop_mask", parameters.drop_mask);
  visit("padding_mask", parameters.padding_mask);
  visit("atten_mask", parameters.atten_mask);
  visit("sink", parameters.sink);
  visit("softmax_max", parameters.softmax_max);
  visit("softmax_sum", parameters.softmax_sum);
  visit("softmax_out", parameters.softmax_out);
  visit("attention_out", parameters.attention_out);
  visit("prefix", parameters.prefix);
  visit("actual_seq_qlen", parameters.actual_seq_qlen);
  visit("actual_seq_kvlen", parameters.actual_seq_kvlen);
  visit("q_start_idx", parameters.q_start_idx);
  visit("kv_start_idx", parameters.kv_start_idx);
  visit("workspace_size", parameters.workspace_size);
  visit("executor", parameters.executor);
}

template <class Attributes, class Visitor>
requires std::same_as<std::remove_const_t<Attributes>, FlashAttentionScore::Attributes>
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
  visit("softmax_out_layout", attributes.softmax_out_layout);
}

/// Returns the memory order of the statistics that a kernel declares in `numerics`, for this entry
/// point and value of softmaxOutLayout. Returns nothing if the kernel declares none.
inline std::optional<StatisticsOrder> declared_order(const Numerics& numerics,
                                                     FlashForwardEntryPoint entry_point,
                                                     SoftmaxInLayout layout) {
  return declared_order(numerics, has_softmax_in_layout(entry_point), layout);
}

/// Builds a call that computes `problem`. It omits fields for which the entry point has no
/// parameter. A call with a mask passes `invalid_row_handling`, because with other values the
/// results of fully masked rows are undefined.
Call<FlashAttentionScore> call_of(const AttentionProblem& problem,
                                  FlashForwardEntryPoint entry_point, Product product,
                                  const Strides& inputs, const Strides& outputs);

}  // namespace assay::spec
