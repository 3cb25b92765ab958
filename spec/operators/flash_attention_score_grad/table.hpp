#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

/// Functions with which the requirements of FlashAttentionScoreGrad read calls and make calls that
/// break them. Do not use them in an implementation: if it checked its arguments with them, it
/// would share their mistakes.
namespace assay::spec::detail {

using FlashOp = FlashAttentionScoreGrad;
using FlashCall = Call<FlashOp>;
using FlashParameters = FlashOp::Parameters;
using FlashProblem = FlashOp::Problem;
using FlashRequirement = Requirement<FlashOp>;
using FlashMember = Parameter FlashParameters::*;

/// The documents that the requirements cite: the seeds, and the pages and host code of the upstream
/// repository.
inline constexpr std::string_view operator_page = "FlashAttentionScoreGrad.md";
inline constexpr std::string_view unpadding_page = "aclnnFlashAttentionUnpaddingScoreGrad.md";
inline constexpr std::string_view rope_page = "aclnnFlashAttentionUnpaddingScoreGradV3.md";
inline constexpr std::string_view upstream_page =
    "ops-transformer: attention/flash_attention_score_grad/docs/aclnnFlashAttentionScoreGradV2.md";
inline constexpr std::string_view upstream_second_unpadding_page =
    "ops-transformer: attention/flash_attention_score_grad/docs/"
    "aclnnFlashAttentionUnpaddingScoreGradV2.md";
inline constexpr std::string_view upstream_fourth_unpadding_page =
    "ops-transformer: attention/flash_attention_score_grad/docs/"
    "aclnnFlashAttentionUnpaddingScoreGradV4.md";
inline constexpr std::string_view upstream_modes =
    "ops-transformer: docs/context/sparse_mode\u53c2\u6570\u8bf4\u660e.md";
inline constexpr std::string_view upstream_interface =
    "ops-transformer: docs/context/\u4e24\u6bb5\u5f0f\u63a5\u53e3.md";
inline constexpr std::string_view upstream_entry =
    "ops-transformer: attention/flash_attention_score_grad/op_host/op_api/"
    "aclnn_flash_attention_score_grad.cpp";
inline constexpr std::string_view upstream_types =
    "ops-transformer: attention/flash_attention_score_grad/op_host/"
    "flash_attention_score_grad_def.cpp";
inline constexpr std::string_view upstream_tiling =
    "ops-transformer: attention/flash_attention_score_grad/op_host/"
    "flash_attention_score_grad_tiling_common.cpp";
inline constexpr std::string_view upstream_general_tiling =
    "ops-transformer: attention/flash_attention_score_grad/op_host/"
    "flash_attention_score_grad_tiling_s1s2_bn2gs1s2.cpp";
inline constexpr std::string_view upstream_kernels =
    "ops-transformer: attention/flash_attention_score_grad/op_kernel";

/// The entry points that the seeds describe. FlashAttentionScoreGrad.md describes the operator that
/// g1 and g2 call, and names only the padded layouts. u1 and u3 have their own pages.
inline constexpr FlashEntryPoint g_pages[] = {FlashEntryPoint::g1, FlashEntryPoint::g2},
                                 g2_page[] = {FlashEntryPoint::g2},
                                 u1_page[] = {FlashEntryPoint::u1},
                                 u3_page[] = {FlashEntryPoint::u3},
                                 u_pages[] = {FlashEntryPoint::u1, FlashEntryPoint::u3},
                                 g_u1_pages[] = {FlashEntryPoint::g1, FlashEntryPoint::g2,
                                                 FlashEntryPoint::u1},
                                 all_pages[] = {FlashEntryPoint::g1, FlashEntryPoint::g2,
                                                FlashEntryPoint::u1, FlashEntryPoint::u3};

/// The seeds do not describe u2 and u4, so their public pages are used. If these repeat a point
/// that is disputed on the page of u1, it is disputed for them, too.
inline constexpr FlashEntryPoint u2_page[] = {FlashEntryPoint::u2},
                                 u4_page[] = {FlashEntryPoint::u4},
                                 public_pages[] = {FlashEntryPoint::u2, FlashEntryPoint::u4};

/// Every tensor of a call.
inline constexpr FlashMember every_tensor[] = {
    &FlashParameters::query,      &FlashParameters::query_rope,   &FlashParameters::key,
    &FlashParameters::key_rope,   &FlashParameters::value,        &FlashParameters::dy,
    &FlashParameters::pse_shift,  &FlashParameters::drop_mask,    &FlashParameters::padding_mask,
    &FlashParameters::atten_mask, &FlashParameters::softmax_max,  &FlashParameters::softmax_sum,
    &FlashParameters::softmax_in, &FlashParameters::attention_in, &FlashParameters::dq,
    &FlashParameters::dq_rope,    &FlashParameters::dk,           &FlashParameters::dk_rope,
    &FlashParameters::dv,         &FlashParameters::dpse};

/// The required tensors of an entry point whose shapes follow inputLayout.
std::span<const FlashMember> laid_out_tensors(FlashEntryPoint entry_point);

/// Conditions under which requirements apply: to every call, to the padded or the packed entry
/// points, to the entry points with a position bias and dropout.
inline bool always(const FlashCall&) { return true; }
inline bool is_padded(const FlashCall& call) { return !is_unpadding(call.entry_point); }
inline bool is_packed(const FlashCall& call) { return is_unpadding(call.entry_point); }
inline bool is_u1(const FlashCall& call) { return call.entry_point == FlashEntryPoint::u1; }
inline bool is_u2(const FlashCall& call) { return call.entry_point == FlashEntryPoint::u2; }
inline bool is_u3(const FlashCall& call) { return call.entry_point == FlashEntryPoint::u3; }
inline bool is_u4(const FlashCall& call) { return call.entry_point == FlashEntryPoint::u4; }
/// u1, u2 and u4: about their shapes and modes the page of u1 and upstream's code disagree.
inline bool is_packed_but_u3(const FlashCall& call) { return is_packed(call) && !is_u3(call); }
/// u2 and u4, whose only page is the public one.
inline bool is_of_public_page(const FlashCall& call) { return is_u2(call) || is_u4(call); }
inline bool takes_pse_and_dropout(const FlashCall& call) { return !is_u3(call); }
/// g2 and u2, where pseType may be 2 or 3.
inline bool takes_slopes(const FlashCall& call) {
  return has_pse_type(call.entry_point) && !is_u3(call);
}

/// Why no call breaks a requirement about elements.
inline constexpr std::string_view content_reason =
    "the requirement is about elements, which phase 1 does not read; all numerically judged cases "
    "satisfy it";

/// Returns whether the tensor is present: not a null pointer, and not of rank 0, which means absent
/// for an optional tensor.
bool given(const Parameter& parameter);

/// The layout that a call names, if the entry point accepts it.
std::optional<Layout> layout_of(const FlashCall& call);

/// Returns whether heads and channels share an axis, as in BSH and SBH.
bool merges_heads(Layout layout);

std::size_t rank_of(Layout layout);

enum class Axis : std::uint8_t { batch, heads, seq, dim };

/// The index of an axis in a layout. In TND the tokens of all sequences form the seq axis, and
/// there is not a batch axis.
std::optional<std::size_t> position_of(Layout layout, Axis axis);

/// Returns whether inputLayout is known and all tensors in this layout are given with its rank.
bool ranks_fit(const FlashCall& call);

/// The extents that follow from the shapes and the sums of the lengths. Nothing if they are
/// undefined because an earlier requirement is broken (layout, ranks, lengths, headNum, head
/// sizes). In BSH and SBH the number of query heads comes from headNum, the head size of key from
/// query, and the number of value heads from key. In TND `ends` is set.
std::optional<Extents> query_as_given(const FlashCall& call);
std::optional<Extents> key_as_given(const FlashCall& call);
std::optional<Extents> value_as_given(const FlashCall& call);

/// Changes `shape`, which is in the call's layout, to `heads` heads of size `dim`.
Shape with_head_size(const FlashCall& call, Shape shape, std::int64_t heads, std::int64_t dim);

/// Returns whether one of the sequences is empty.
bool has_empty_length(const Extents& extents);

/// The pseType that applies: 1 on entry points without this attribute.
std::int64_t pse_type_of(const FlashCall& call);

/// Returns whether a mask is given and sparseMode is `mode`.
bool masked_in_mode(const FlashCall& call, std::int64_t mode);

/// The number of bytes that a drop mask with one bit per score needs; nothing if the extents are
/// undefined.
std::optional<std::int64_t> drop_mask_bytes(const FlashCall& call);

/// The form in which pse, or the mask, is passed; nothing if its shape matches no form that the
/// requirements accept.
std::optional<PseShape> pse_form_of(const FlashCall& call);
std::optional<MaskShape> mask_form_of(const FlashCall& call);

/// The problem that a legal call describes; nothing for other calls.
std::optional<FlashProblem> problem_of(const FlashCall& call);

/// Gives `parameter` a shape and contiguous strides.
void reshape(Parameter& parameter, const Shape& shape);

/// Applies `change` to the problem of the call, then writes the call again in its plainest form:
/// contiguous, without padding, bias, dropout, prefix or window, and with a mask only if the entry
/// point requires one.
void rewrite(FlashCall& call, void (*change)(FlashProblem& problem));

/// Change a problem. make_uniform gives all sequences of a side one length, at least 1. make_square
/// gives queries and keys the same length. make_small keeps a single short head.
void make_uniform(FlashProblem& problem);
void make_square(FlashProblem& problem);
/// make_square in fp32, where the type of slopes is not disputed.
void make_square_fp32(FlashProblem& problem);
void make_small(FlashProblem& problem);

/// Adds 1 to the extent of `axis` of each listed tensor and leaves the others unchanged; does
/// nothing if the layout has no such axis.
void grow(FlashCall& call, std::initializer_list<FlashMember> members, Axis axis);

/// Add an optional input to a call and leave the rest unchanged: a mask with an unbounded window; a
/// pse of pseType 1; slopes of pseType 2 or 3; a prefix that lets all queries see every key. The
/// pse is full in padded layouts. For packed sequences it has 1024 rows and needs a causal mask:
/// this is the only form without dispute.
void put_mask(FlashCall& call, std::int64_t sparse_mode, const Shape& shape);
void put_compressed_mask(FlashCall& call, std::int64_t sparse_mode);
void put_pse(FlashCall& call);
void put_slopes(FlashCall& call, std::int64_t pse_type);
void put_prefix(FlashCall& call);

/// Add the same inputs, after writing the call again with sequences that are not empty, and with
/// the mask that a pse needs. They do nothing if the entry point does not have the input.
void attach_mask(FlashCall& call, std::int64_t sparse_mode, const Shape& shape);
void attach_pse(FlashCall& call);
void attach_slopes(FlashCall& call, std::int64_t pse_type);
void attach_drop_mask(FlashCall& call);
void attach_prefix(FlashCall& call);
/// Attaches a mask with an unbounded window if the call has no mask.
void attach_mask(FlashCall& call);

template <FlashMember member>
void remove(FlashCall& call) {
  call.parameters.*member = {};
}
template <FlashMember member>
void make_scalar(FlashCall& call) {
  reshape(call.parameters.*member, {});
}
template <FlashMember member, DType dtype>
void retype(FlashCall& call) {
  (call.parameters.*member).dtype = dtype;
}
/// Gives the tensor one of the types fp16, bf16 and fp32 that query does not have.
template <FlashMember member>
void retype_unlike_query(FlashCall& call) {
  const bool fp32 = call.parameters.query.dtype == DType::fp32;
  (call.parameters.*member).dtype = fp32 ? DType::bf16 : DType::fp32;
}
template <FlashMember member, Format format>
void reformat(FlashCall& call) {
  (call.parameters.*member).format = format;
}
template <FlashMember member>
void drop_axis(FlashCall& call) {
  Shape shape = (call.parameters.*member).shape;
  if (shape.empty()) return;
  shape.pop_back();
  reshape(call.parameters.*member, shape);
}
template <FlashMember member>
void add_axis(FlashCall& call) {
  Shape shape = (call.parameters.*member).shape;
  if (shape.empty()) return;
  shape.push_back(1);
  reshape(call.parameters.*member, shape);
}
/// Removes the last axis, or adds one of extent 1 if the rank is at most three.
template <FlashMember member>
void change_rank(FlashCall& call) {
  Shape shape = (call.parameters.*member).shape;
  if (shape.size() > 3) {
    shape.pop_back();
  } else {
    shape.push_back(1);
  }
  reshape(call.parameters.*member, shape);
}

/// The requirements of each group, sorted by id.
std::vector<FlashRequirement> presence_requirements();
std::vector<FlashRequirement> type_requirements();
std::vector<FlashRequirement> pse_type_requirements();
std::vector<FlashRequirement> reserved_requirements();
std::vector<FlashRequirement> shape_requirements();
std::vector<FlashRequirement> extent_requirements();
std::vector<FlashRequirement> size_requirements();
std::vector<FlashRequirement> empty_extent_requirements();
std::vector<FlashRequirement> attribute_requirements();
std::vector<FlashRequirement> mask_requirements();
std::vector<FlashRequirement> window_requirements();
std::vector<FlashRequirement> prefix_requirements();
std::vector<FlashRequirement> position_requirements();
std::vector<FlashRequirement> split_requirements();
std::vector<FlashRequirement> length_requirements();
std::vector<FlashRequirement> rope_requirements();
std::vector<FlashRequirement> interface_requirements();
std::vector<FlashRequirement> product_requirements();

}  // namespace assay::spec::detail
