#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "operators/attention/changes.hpp"

/// The documentation pages and tensors that the requirements of FlashAttentionScoreGrad name.
namespace assay::spec::detail {

using FlashOp = FlashAttentionScoreGrad;
using FlashCall = Call<FlashOp>;
using FlashParameters = FlashOp::Parameters;
using FlashRequirement = Requirement<FlashOp>;
using FlashMember = MemberOf<FlashOp>;

/// The sources that the requirements cite: the first set of documentation, then the documentation
/// pages and host code of the vendor's repository.
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
inline constexpr std::string_view sink_page =
    "ops-transformer: attention/flash_attention_score_grad/docs/aclnnFlashAttentionScoreGradV3.md";
inline constexpr std::string_view packed_sink_page =
    "ops-transformer: attention/flash_attention_score_grad/docs/"
    "aclnnFlashAttentionUnpaddingScoreGradV5.md";
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

/// The entry points that the first set of documentation describes. FlashAttentionScoreGrad.md
/// describes the operator that the entry points g1 and g2 call, and names only the padded layouts.
/// The entry points u1 and u3 have their own documentation pages.
inline constexpr FlashEntryPoint g_pages[] = {FlashEntryPoint::g1, FlashEntryPoint::g2},
                                 g2_page[] = {FlashEntryPoint::g2},
                                 u1_page[] = {FlashEntryPoint::u1},
                                 u3_page[] = {FlashEntryPoint::u3},
                                 u_pages[] = {FlashEntryPoint::u1, FlashEntryPoint::u3},
                                 g_u1_pages[] = {FlashEntryPoint::g1, FlashEntryPoint::g2,
                                                 FlashEntryPoint::u1},
                                 all_pages[] = {FlashEntryPoint::g1, FlashEntryPoint::g2,
                                                FlashEntryPoint::u1, FlashEntryPoint::u3};

/// The entry points u2 and u4, which only the public documentation pages describe. Their pages
/// repeat statements of u1's page. If the sources disagree about such a statement for u1, it is
/// disputed for u2 and u4, too.
inline constexpr FlashEntryPoint u2_page[] = {FlashEntryPoint::u2},
                                 u4_page[] = {FlashEntryPoint::u4},
                                 public_pages[] = {FlashEntryPoint::u2, FlashEntryPoint::u4};

/// Names the sources of a requirement: `source` states it for the entry points `stated_for`, and
/// the public documentation pages state it for `page_for`. An empty list means all entry points.
inline Stated<FlashOp> by(Standing standing, std::string_view id, Source source,
                          std::string_view notes = {},
                          std::span<const FlashEntryPoint> stated_for = {},
                          std::span<const FlashEntryPoint> page_for = {}) {
  return {.id = id,
          .source = source,
          .standing = standing,
          .stated_for = stated_for,
          .page_for = page_for,
          .notes = notes};
}
inline Stated<FlashOp> by(std::string_view id, Source source, std::string_view notes = {},
                          std::span<const FlashEntryPoint> stated_for = {},
                          std::span<const FlashEntryPoint> page_for = {}) {
  return by(Standing::documented, id, source, notes, stated_for, page_for);
}

/// The entry points with a sink, which only public documentation pages describe. The page of g3
/// repeats the requirements of g2; the page of u5 repeats the requirements of u2, u3 and u4. The
/// function `all_requirements` adds them.
inline constexpr FlashEntryPoint g3_page[] = {FlashEntryPoint::g3},
                                 u5_page[] = {FlashEntryPoint::u5},
                                 sink_pages[] = {FlashEntryPoint::g3, FlashEntryPoint::u5};

/// Every tensor of a call, except sink and dsink, which have requirements of their own.
inline constexpr FlashMember every_tensor[] = {
    &FlashParameters::query,      &FlashParameters::query_rope,   &FlashParameters::key,
    &FlashParameters::key_rope,   &FlashParameters::value,        &FlashParameters::dy,
    &FlashParameters::pse_shift,  &FlashParameters::drop_mask,    &FlashParameters::padding_mask,
    &FlashParameters::atten_mask, &FlashParameters::softmax_max,  &FlashParameters::softmax_sum,
    &FlashParameters::softmax_in, &FlashParameters::attention_in, &FlashParameters::dq,
    &FlashParameters::dq_rope,    &FlashParameters::dk,           &FlashParameters::dk_rope,
    &FlashParameters::dv,         &FlashParameters::dpse};

template <>
struct TensorRoles<FlashOp> {
  using P = FlashParameters;
  using Members = std::initializer_list<FlashMember>;

  static constexpr Members key_like = {&P::key, &P::dk}, value_like = {&P::value, &P::dv},
                           query_rope_like = {&P::query_rope, &P::dq_rope},
                           key_rope_like = {&P::key_rope, &P::dk_rope},
                           operands = {&P::query, &P::key, &P::value, &P::dy};
  static constexpr PseShape packed_pse = PseShape::bnhs;

  static Members laid_out(bool ropes) {
    static constexpr Members plain = {&P::query,        &P::key, &P::value, &P::dy,
                                      &P::attention_in, &P::dq,  &P::dk,    &P::dv};
    static constexpr Members with_rope = {
        &P::query,        &P::query_rope, &P::key,     &P::key_rope, &P::value,   &P::dy,
        &P::attention_in, &P::dq,         &P::dq_rope, &P::dk,       &P::dk_rope, &P::dv};
    return ropes ? with_rope : plain;
  }
};

/// These functions select entry points, because the documentation pages of the entry points differ.
inline bool is_u1(const FlashCall& call) { return call.entry_point == FlashEntryPoint::u1; }
inline bool is_u2(const FlashCall& call) { return call.entry_point == FlashEntryPoint::u2; }
inline bool is_u3(const FlashCall& call) { return call.entry_point == FlashEntryPoint::u3; }
inline bool is_u4(const FlashCall& call) { return call.entry_point == FlashEntryPoint::u4; }
inline bool is_u5(const FlashCall& call) { return call.entry_point == FlashEntryPoint::u5; }
/// Returns whether the entry point is u1, u2, u4 or u5. For these, the documentation page of u1 and
/// the vendor's code disagree about shapes and sparse modes.
inline bool is_packed_but_u3(const FlashCall& call) { return is_packed(call) && !is_u3(call); }
/// Returns whether the entry point is u2, u4 or u5. Only public documentation pages describe these
/// entry points.
inline bool is_of_public_page(const FlashCall& call) {
  return is_u2(call) || is_u4(call) || is_u5(call);
}
/// Return the requirements of each group, sorted by id.
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
std::vector<FlashRequirement> sink_requirements();
std::vector<FlashRequirement> product_requirements();

}  // namespace assay::spec::detail
