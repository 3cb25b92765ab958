#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/operators/flash_attention_score.hpp"
#include "operators/attention/changes.hpp"

/// The documentation pages and tensors that the requirements of FlashAttentionScore name.
namespace assay::spec::detail {

using ForwardOp = FlashAttentionScore;
using ForwardCall = Call<ForwardOp>;
using ForwardRow = Requirement<ForwardOp>;
using ForwardPages = std::span<const FlashForwardEntryPoint>;

/// The sources of the requirements: the public documentation pages and the vendor's host code. The
/// page of entry point f2 was not available. So the requirements of f2 come from the page of
/// aclnnFlashAttentionScoreV3 (f3), which has one more tensor. Entry point l5 has the requirements
/// of l2, and in calls with ropes also those of l3.
inline constexpr std::string_view dense_page =
    "ops-transformer: attention/flash_attention_score/docs/aclnnFlashAttentionScore.md";
inline constexpr std::string_view slopes_page =
    "ops-transformer: attention/flash_attention_score/docs/aclnnFlashAttentionScoreV3.md";
inline constexpr std::string_view varlen_page =
    "ops-transformer: attention/flash_attention_score/docs/aclnnFlashAttentionVarLenScore.md";
inline constexpr std::string_view second_varlen_page =
    "ops-transformer: attention/flash_attention_score/docs/aclnnFlashAttentionVarLenScoreV2.md";
inline constexpr std::string_view third_varlen_page =
    "ops-transformer: attention/flash_attention_score/docs/aclnnFlashAttentionVarLenScoreV3.md";
inline constexpr std::string_view fifth_varlen_page =
    "ops-transformer: attention/flash_attention_score/docs/aclnnFlashAttentionVarLenScoreV5.md";
inline constexpr std::string_view forward_entry =
    "ops-transformer: attention/flash_attention_score/op_host/op_api/"
    "aclnn_flash_attention_score.cpp";
inline constexpr std::string_view forward_tiling =
    "ops-transformer: attention/flash_attention_score/op_host/"
    "flash_attention_score_tiling_general.cpp";
inline constexpr std::string_view forward_kernels =
    "ops-transformer: attention/flash_attention_score/op_kernel";

using ForwardEntry = FlashForwardEntryPoint;
inline constexpr ForwardEntry
    every_forward[] = {ForwardEntry::f1, ForwardEntry::f2, ForwardEntry::l1, ForwardEntry::l2,
                       ForwardEntry::l3, ForwardEntry::f3, ForwardEntry::l5},
    dense_pages[] = {ForwardEntry::f1, ForwardEntry::f2, ForwardEntry::f3},
    varlen_pages[] = {ForwardEntry::l1, ForwardEntry::l2, ForwardEntry::l3, ForwardEntry::l5},
    first_pages[] = {ForwardEntry::f1, ForwardEntry::l1, ForwardEntry::l5},
    pages_with_pse[] = {ForwardEntry::f1, ForwardEntry::f2, ForwardEntry::l1,
                        ForwardEntry::l2, ForwardEntry::f3, ForwardEntry::l5},
    varlen_pages_with_pse[] = {ForwardEntry::l1, ForwardEntry::l2, ForwardEntry::l5},
    pages_with_slopes[] = {ForwardEntry::f2, ForwardEntry::l2, ForwardEntry::f3, ForwardEntry::l5},
    pages_with_square_slopes[] = {ForwardEntry::f2, ForwardEntry::l2, ForwardEntry::f3},
    pages_with_keep_prob[] = {ForwardEntry::f1, ForwardEntry::f2, ForwardEntry::l1,
                              ForwardEntry::l3, ForwardEntry::f3, ForwardEntry::l5},
    pages_of_2k_lengths[] = {ForwardEntry::l1, ForwardEntry::l2, ForwardEntry::l3},
    pages_with_ropes[] = {ForwardEntry::l3, ForwardEntry::l5}, page_of_l5[] = {ForwardEntry::l5},
    pages_with_sink[] = {ForwardEntry::f3, ForwardEntry::l5};

template <>
struct TensorRoles<ForwardOp> {
  using P = ForwardOp::Parameters;
  using Members = std::initializer_list<MemberOf<ForwardOp>>;

  static constexpr Members key_like = {&P::key}, value_like = {&P::value},
                           query_rope_like = {&P::query_rope}, key_rope_like = {&P::key_rope},
                           operands = {&P::query, &P::key, &P::value};
  static constexpr PseShape packed_pse = PseShape::packed_bnss;

  static Members laid_out(bool ropes) {
    static constexpr Members plain = {&P::query, &P::key, &P::value, &P::attention_out};
    static constexpr Members with_rope = {&P::query,    &P::query_rope, &P::key,
                                          &P::key_rope, &P::value,      &P::attention_out};
    return ropes ? with_rope : plain;
  }
};

/// Each of these functions builds requirements from one type of source: a public documentation page
/// (for the entry points `pages`, or for all if `pages` is empty), only the vendor's host code, a
/// page that the host code contradicts by accepting the call, or pages that disagree. A call that
/// violates the requirement always violates the requirements `implies`, too.
using RowIds = std::vector<std::string_view>;
inline Stated<ForwardOp> on_page(std::string_view id, Source source, ForwardPages pages = {},
                                 RowIds implies = {}) {
  return {.id = id,
          .source = source,
          .standing = Standing::page,
          .page_for = pages,
          .implies = std::move(implies)};
}
inline Stated<ForwardOp> in_host_code(std::string_view id, std::string_view section,
                                      RowIds implies = {}) {
  return {.id = id,
          .source = {forward_tiling, section},
          .standing = Standing::upstream,
          .implies = std::move(implies)};
}

/// Builds a requirement that no call can test, because a call contains only its arguments.
inline ForwardRow untried(const Stated<ForwardOp>& by, Side side,
                          bool (*applies)(const ForwardCall&),
                          std::string_view reason = content_reason) {
  return stated<ForwardOp>(by, {.sides = {side}, .applies = applies, .reason = reason});
}

std::vector<ForwardRow> forward_type_requirements();
std::vector<ForwardRow> forward_shape_requirements();
std::vector<ForwardRow> forward_mask_requirements();
std::vector<ForwardRow> forward_sink_requirements();

}  // namespace assay::spec::detail
