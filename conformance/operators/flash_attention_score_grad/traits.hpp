#pragma once

#include <span>
#include <string_view>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "attention/flash/traits.hpp"
#include "attention/profiles.hpp"

namespace assay::conformance {

template <>
struct flash::Traits<spec::FlashAttentionScoreGrad> {
  using EntryPoint = spec::FlashEntryPoint;
  static constexpr EntryPoint dense = EntryPoint::g1, dense_typed = EntryPoint::g2,
                              packed = EntryPoint::u1, packed_typed = EntryPoint::u2,
                              packed_ordered = EntryPoint::u4, roped = EntryPoint::u3;
  static constexpr EntryPoint packed_choices[] = {EntryPoint::u1, EntryPoint::u2, EntryPoint::u4},
                              packed_untyped[] = {EntryPoint::u1, EntryPoint::u4};
  static constexpr LimitIds ids = {.batch = "FAG-C40",
                                   .heads = "FAG-C39",
                                   .seq = "FAG-C41",
                                   .head_dim = "FAG-C44b",
                                   .head_dim_v = "FAG-C35",
                                   .head_dim_rope = "FAG-C45",
                                   .sparse_mode = "FAG-C63",
                                   .pse_type = "FAG-C76"};
  static constexpr bool reads_statistics = true;

  static std::span<const InputProfile> profiles() { return attention::profiles(); }
  // The profiles (input distributions) of random cases. overflow_fp16 is missing, because it needs
  // special sequence lengths and is used only in hand-written cases.
  static constexpr std::string_view drawn_profiles[] = {
      "normal",   "peaked",         "cancelling",     "all_positive", "offset",  "equal_values",
      "outliers", "subnormal_fp16", "large_exponent", "tiny_dy",      "huge_dy", "sparse_dy"};

  static constexpr std::string_view empty_padded_sentence =
      "In padded layouts, every gradient is zero if there are no queries or no keys.";
  static constexpr RearrangingSentences sentences = {
      .permute_keys = "Permuting keys permutes dk and dv in the same way and does not change dq.",
      .permute_queries =
          "Permuting queries permutes dq in the same way and does not change dk and dv.",
      .split_batch = "Each batch entry has the same gradients if it is computed alone.",
      .split_heads = "Each key head has the same gradients if it is computed alone.",
      .sequences_alone = "In TND, a sequence has the same gradients if it is computed alone.",
      .repeat_heads =
          "If every key head is repeated for each query head of its group, the sums of dk and dv "
          "over the repeated heads are the original dk and dv.",
      .cut_queries =
          "If a sequence in mode 3 is cut into pieces in modes 7 and 3, or a sequence in mode 2 "
          "into pieces in modes 2 and 8, dq is the concatenation of the dq of the pieces, and dk "
          "and dv are the sums of theirs."};
};

}  // namespace assay::conformance
