#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
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
using FlashRow = Constraint<FlashOp>;
using FlashMember = Parameter FlashParameters::*;

/// Documents of the seeds, and the pages and host code of the upstream repository.
inline constexpr std::string_view operator_page = "FlashAttentionScoreGrad.md";
inline constexpr std::string_view unpadding_page = "aclnnFlashAttentionUnpaddingScoreGrad.md";
inline constexpr std::string_view upstream_page =
    "ops-transformer: attention/flash_attention_score_grad/docs/aclnnFlashAttentionScoreGradV2.md";
inline constexpr std::string_view upstream_modes =
    "ops-transformer: docs/context/sparse_mode\u53c2\u6570\u8bf4\u660e.md";
inline constexpr std::string_view upstream_entry =
    "ops-transformer: attention/flash_attention_score_grad/op_host/op_api/"
    "aclnn_flash_attention_score_grad.cpp";
inline constexpr std::string_view upstream_tiling =
    "ops-transformer: attention/flash_attention_score_grad/op_host/"
    "flash_attention_score_grad_tiling_common.cpp";

/// Every tensor of a call.
inline constexpr FlashMember every_tensor[] = {
    &FlashParameters::query,        &FlashParameters::key,        &FlashParameters::value,
    &FlashParameters::dy,           &FlashParameters::pse_shift,  &FlashParameters::drop_mask,
    &FlashParameters::padding_mask, &FlashParameters::atten_mask, &FlashParameters::softmax_max,
    &FlashParameters::softmax_sum,  &FlashParameters::softmax_in, &FlashParameters::attention_in,
    &FlashParameters::dq,           &FlashParameters::dk,         &FlashParameters::dv,
    &FlashParameters::dpse};

/// The required tensors that input_layout lays out.
inline constexpr FlashMember laid_out_tensors[] = {
    &FlashParameters::query,        &FlashParameters::key,
    &FlashParameters::value,        &FlashParameters::dy,
    &FlashParameters::attention_in, &FlashParameters::dq,
    &FlashParameters::dk,           &FlashParameters::dv};

/// For rows that speak about every call.
inline bool always(const FlashCall&) { return true; }

/// Neither a null pointer nor of rank 0, which means absent for an optional tensor.
bool given(const Parameter& parameter);

std::optional<Layout> layout_of(const FlashCall& call);

/// BSH and SBH, where heads and channels share an axis.
bool merges_heads(Layout layout);

/// Whether the laid out tensors are all given with the rank of a known input_layout.
bool ranks_fit(const FlashCall& call);

/// Batch and sequence length of a tensor that has the rank of `layout`.
std::int64_t batch_of(const Parameter& parameter, Layout layout);
std::int64_t seq_of(const Parameter& parameter, Layout layout);

/// What the shapes say, or nothing where an earlier row (layout, ranks, headNum, head sizes) leaves
/// it open. In BSH and SBH the heads of query come from headNum, the head size of key from query,
/// the heads of value from key.
std::optional<Extents> query_as_given(const FlashCall& call);
std::optional<Extents> key_as_given(const FlashCall& call);
std::optional<Extents> value_as_given(const FlashCall& call);

/// The pseType in force: g1 has no such attribute and means 1.
std::int64_t pse_type_of(const FlashCall& call);

/// Whether a mask is given and its sparse mode is `mode`.
bool masked_in_mode(const FlashCall& call, std::int64_t mode);

/// Bytes that a drop mask of one bit per score needs, or nothing where the extents are open.
std::optional<std::int64_t> drop_mask_bytes(const FlashCall& call);

/// The problem that a legal call asks for, or nothing.
std::optional<FlashProblem> problem_of(const FlashCall& call);

/// Gives `parameter` a contiguous shape.
void reshape(Parameter& parameter, const Shape& shape);

/// Asks for the call's problem, its window unbounded, after `change`; all views become contiguous.
void rewrite(FlashCall& call, void (*change)(FlashProblem& problem));

/// Changes the extents of some of the laid out tensors and leaves the others.
void resize(FlashCall& call, std::initializer_list<FlashMember> members,
            void (*change)(Extents& extents));

/// Makes sure that a mask is given, with an unbounded window where there was none.
void attach_mask(FlashCall& call);
/// Masks the call by a tensor of `shape` in `sparse_mode`, with an unbounded window.
void attach_mask(FlashCall& call, std::int64_t sparse_mode, const Shape& shape);
/// Well-formed optional inputs: a full pse of pseType 1, slopes of pseType 2 or 3, a drop mask that
/// keeps half, a prefix per batch in sparse mode 6.
void attach_pse(FlashCall& call);
void attach_slopes(FlashCall& call, std::int64_t pse_type);
void attach_drop_mask(FlashCall& call);
void attach_prefix(FlashCall& call);

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

/// The rows of each group, in the order of their ids.
std::vector<FlashRow> presence_rows();
std::vector<FlashRow> type_rows();
std::vector<FlashRow> shape_rows();
std::vector<FlashRow> size_rows();
std::vector<FlashRow> attribute_rows();
std::vector<FlashRow> mask_rows();
std::vector<FlashRow> position_rows();

}  // namespace assay::spec::detail
