#pragma once

#include <span>
#include <string_view>

#include "assay/conformance/operators/flash_attention_score.hpp"
#include "attention/flash/traits.hpp"

namespace assay::conformance {

template <>
struct flash::Traits<spec::FlashAttentionScore> {
  using EntryPoint = spec::FlashForwardEntryPoint;
  static constexpr EntryPoint dense = EntryPoint::f1, dense_typed = EntryPoint::f2,
                              packed = EntryPoint::l1, packed_typed = EntryPoint::l2,
                              packed_ordered = EntryPoint::l2, roped = EntryPoint::l3;
  static constexpr EntryPoint packed_choices[] = {EntryPoint::l1, EntryPoint::l2},
                              packed_untyped[] = {EntryPoint::l1};
  static constexpr LimitIds ids = {.batch = "FAS-C38",
                                   .heads = "FAS-C35a",
                                   .seq = "FAS-C38b",
                                   .head_dim = "FAS-C37",
                                   .head_dim_v = "FAS-C33a",
                                   .head_dim_rope = "FAS-C40",
                                   .sparse_mode = "FAS-C61",
                                   .pse_type = "FAS-C62"};
  static constexpr bool reads_statistics = false;

  static std::span<const InputProfile> profiles();
  static constexpr std::string_view drawn_profiles[] = {
      "normal", "peaked",       "cancelling", "all_positive",
      "offset", "equal_values", "outliers",   "large_exponent"};

  static constexpr std::string_view empty_padded_sentence =
      "In padded layouts, every output is empty or zero if there are no queries or no keys.";
  static constexpr RearrangingSentences sentences = {
      .permute_keys =
          "Permuting the keys together with their masks, biases and drop bits changes nothing.",
      .permute_queries = "Permuting queries permutes the outputs in the same way.",
      .split_batch = "Each batch entry has the same outputs if it is computed alone.",
      .split_heads = "Each key head has the same outputs if it is computed alone.",
      .sequences_alone = "In TND, a sequence has the same outputs if it is computed alone.",
      .repeat_heads =
          "If every key head is repeated for each query head of its group, nothing changes.",
      .cut_queries =
          "If a sequence in mode 3 is cut into pieces in modes 7 and 3, or a sequence in mode 2 "
          "into pieces in modes 2 and 8, the outputs do not change."};
};

}  // namespace assay::conformance
