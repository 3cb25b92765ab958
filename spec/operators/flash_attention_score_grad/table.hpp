#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

/// What the table of FlashAttentionScoreGrad reads in a call and how it breaks one. For the table
/// only: an implementation that checked its arguments with these functions would share the table's
/// mistakes.
namespace assay::spec::detail {

using FlashOp = FlashAttentionScoreGrad;
using FlashCall = Call<FlashOp>;
using FlashParameters = FlashOp::Parameters;
using FlashProblem = FlashOp::Problem;
using FlashRequirement = Requirement<FlashOp>;
using FlashMember = Parameter FlashParameters::*;

/// Documents of the seeds, and the pages and host code of the upstream repository.
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

/// Of which entry points the seeds speak. FlashAttentionScoreGrad.md is the page of the operator
/// behind g1 and g2: it names the padded layouts alone. u1 and u3 have pages of their own.
inline constexpr FlashEntryPoint g_pages[] = {FlashEntryPoint::g1, FlashEntryPoint::g2},
                                 g2_page[] = {FlashEntryPoint::g2},
                                 u1_page[] = {FlashEntryPoint::u1},
                                 u3_page[] = {FlashEntryPoint::u3},
                                 u_pages[] = {FlashEntryPoint::u1, FlashEntryPoint::u3},
                                 g_u1_pages[] = {FlashEntryPoint::g1, FlashEntryPoint::g2,
                                                 FlashEntryPoint::u1},
                                 all_pages[] = {FlashEntryPoint::g1, FlashEntryPoint::g2,
                                                FlashEntryPoint::u1, FlashEntryPoint::u3};

/// No seed speaks of u2 and u4: their public pages are the documents. Where these repeat what the
/// page of u1 leaves disputed, it is disputed there, too.
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

/// The required tensors of an entry point that input_layout lays out.
std::span<const FlashMember> laid_out_tensors(FlashEntryPoint entry_point);

/// For requirements that speak about every call, about the padded and the packed entry points, and
/// about those which take a position bias and dropout.
inline bool always(const FlashCall&) { return true; }
inline bool is_padded(const FlashCall& call) { return !is_unpadding(call.entry_point); }
inline bool is_packed(const FlashCall& call) { return is_unpadding(call.entry_point); }
inline bool is_u1(const FlashCall& call) { return call.entry_point == FlashEntryPoint::u1; }
inline bool is_u2(const FlashCall& call) { return call.entry_point == FlashEntryPoint::u2; }
inline bool is_u3(const FlashCall& call) { return call.entry_point == FlashEntryPoint::u3; }
inline bool is_u4(const FlashCall& call) { return call.entry_point == FlashEntryPoint::u4; }
/// u1, u2 and u4, of whose shapes and modes the page of u1 and upstream differ.
inline bool is_packed_but_u3(const FlashCall& call) { return is_packed(call) && !is_u3(call); }
/// u2 and u4, which have a public page alone.
inline bool is_of_public_page(const FlashCall& call) { return is_u2(call) || is_u4(call); }
inline bool takes_pse_and_dropout(const FlashCall& call) { return !is_u3(call); }
/// g2 and u2, where pseType may be 2 or 3.
inline bool takes_slopes(const FlashCall& call) {
  return has_pse_type(call.entry_point) && !is_u3(call);
}

/// Why nothing breaks a requirement about elements.
inline constexpr std::string_view content_reason =
    "it speaks of elements, which phase 1 does not read; every case with numbers obeys it";

/// Neither a null pointer nor of rank 0, which means absent for an optional tensor.
bool given(const Parameter& parameter);

/// The layout named by a call, if the entry point has it.
std::optional<Layout> layout_of(const FlashCall& call);

/// BSH and SBH, where heads and channels share an axis.
bool merges_heads(Layout layout);

std::size_t rank_of(Layout layout);

enum class Axis : std::uint8_t { batch, heads, seq, dim };

/// Where a layout has an axis; in TND the tokens of all sequences stand for seq, and there is no
/// batch.
std::optional<std::size_t> position_of(Layout layout, Axis axis);

/// Whether the laid out tensors are all given with the rank of a known input_layout.
bool ranks_fit(const FlashCall& call);

/// What the shapes and the sums of the lengths say, or nothing where an earlier requirement
/// (layout, ranks, lengths, headNum, head sizes) leaves it open. In BSH and SBH the heads of query
/// come from headNum, the head size of key from query, the heads of value from key. In TND `ends`
/// is set.
std::optional<Extents> query_as_given(const FlashCall& call);
std::optional<Extents> key_as_given(const FlashCall& call);
std::optional<Extents> value_as_given(const FlashCall& call);

/// `shape` of the call's layout for `heads` heads of size `dim`.
Shape with_head_size(const FlashCall& call, Shape shape, std::int64_t heads, std::int64_t dim);

/// Whether a sequence of query (of keyIn) is empty.
bool has_empty_length(const Extents& extents);

/// The pseType in force: entry points without such an attribute mean 1.
std::int64_t pse_type_of(const FlashCall& call);

/// Whether a mask is given and its sparse mode is `mode`.
bool masked_in_mode(const FlashCall& call, std::int64_t mode);

/// Bytes that a drop mask of one bit per score needs, or nothing where the extents are open.
std::optional<std::int64_t> drop_mask_bytes(const FlashCall& call);

/// The form of a pse or mask that is given, or nothing if no form that the requirements accept has
/// its shape.
std::optional<PseShape> pse_form_of(const FlashCall& call);
std::optional<MaskShape> mask_form_of(const FlashCall& call);

/// The problem that a legal call asks for, or nothing.
std::optional<FlashProblem> problem_of(const FlashCall& call);

/// Gives `parameter` a contiguous shape.
void reshape(Parameter& parameter, const Shape& shape);

/// Asks for the call's problem in its plainest form after `change`: contiguous, without padding,
/// bias, dropout, prefix or window, masked only where the entry point insists.
void rewrite(FlashCall& call, void (*change)(FlashProblem& problem));

/// Changes of a problem: one length for all sequences, at least 1; the same for queries and keys; a
/// single short head.
void make_uniform(FlashProblem& problem);
void make_square(FlashProblem& problem);
/// make_square of fp32, in which nobody disputes the type of slopes.
void make_square_fp32(FlashProblem& problem);
void make_small(FlashProblem& problem);

/// One more along `axis` of each tensor, the others left alone; nothing where the layout has no
/// such axis.
void grow(FlashCall& call, std::initializer_list<FlashMember> members, Axis axis);

/// Puts an optional input into a call and leaves the rest: a mask with an unbounded window, a pse
/// of pseType 1, which is full, or of packed sequences the one form that nobody disputes, 1024 rows
/// for a causal mask; slopes of pseType 2 or 3, a prefix that sees every key.
void put_mask(FlashCall& call, std::int64_t sparse_mode, const Shape& shape);
void put_compressed_mask(FlashCall& call, std::int64_t sparse_mode);
void put_pse(FlashCall& call);
void put_slopes(FlashCall& call, std::int64_t pse_type);
void put_prefix(FlashCall& call);

/// The same, with the mask that a pse needs, for a call rewritten with sequences that are not
/// empty; nothing where the entry point takes no such input.
void attach_mask(FlashCall& call, std::int64_t sparse_mode, const Shape& shape);
void attach_pse(FlashCall& call);
void attach_slopes(FlashCall& call, std::int64_t pse_type);
void attach_drop_mask(FlashCall& call);
void attach_prefix(FlashCall& call);
/// Makes sure that a mask is given, with an unbounded window where there was none.
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
/// Another one of fp16, bf16, fp32 than query has.
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
/// One axis less, or one of extent 1 more where only three are there.
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

/// The requirements of each group, in the order of their ids.
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
