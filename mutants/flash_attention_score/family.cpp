#include <algorithm>
#include <iterator>
#include <string_view>

#include "flash_attention_score/of_gradient.hpp"

namespace assay::mutants {
namespace attention_forward {
namespace {

/// Mutants of the gradient whose forward is correct: their faults are in the backward, in arguments
/// that the forward does not have, or in tensors that it does not read.
constexpr std::string_view of_the_backward[] = {"accumulates_on_output",
                                                "all_nan",
                                                "all_zeros",
                                                "attention_in_strides_of_query",
                                                "bias_of_head_in_5_bits",
                                                "compressed_pse_from_first",
                                                "compressed_pse_row_off",
                                                "compressed_row_off",
                                                "crashes",
                                                "dead_rows_attend",
                                                "dead_rows_garbage",
                                                "delayed_write",
                                                "diagonal_tile_skipped",
                                                "divides_by_no_sum",
                                                "dk_dv_exchanged",
                                                "dk_rope_from_query",
                                                "dk_rope_of_last_head",
                                                "dprobability_rounded",
                                                "dq_bytes_in_32_bits",
                                                "dq_negated",
                                                "dq_rope_from_key",
                                                "drop_missing_on_dp",
                                                "drop_on_row_term",
                                                "drop_scale_missing_on_dp",
                                                "dv_strides_of_dk",
                                                "dv_tail_channels_missing",
                                                "dy_bytes_in_32_bits",
                                                "dy_offset_ignored",
                                                "dy_strides_of_attention_in",
                                                "empty_side_unwritten",
                                                "first_key_twice",
                                                "full_pse_as_packed",
                                                "hidden_tile_of_dk_negated",
                                                "hidden_tile_of_dk_shifted",
                                                "hidden_tile_of_dq_lost",
                                                "hidden_tile_of_dv_lost",
                                                "key_strides_of_query",
                                                "last_batch_skipped",
                                                "last_head_of_group_only",
                                                "last_head_skipped",
                                                "last_key_dropped",
                                                "last_key_twice_in_dq",
                                                "last_sequence_ends_with_tokens",
                                                "last_sequence_skipped",
                                                "low_accumulator_dk_dv",
                                                "low_accumulator_dq",
                                                "mask_strides_ignored",
                                                "modifies_input",
                                                "one_dq_row_zero",
                                                "one_dv_element_half_more",
                                                "order_not_fixed",
                                                "orders_of_pages",
                                                "output_strides_ignored",
                                                "own_sum_misses_last_key",
                                                "padding_of_first_token",
                                                "padding_unwritten",
                                                "power_of_exp_in_16_bits",
                                                "query_alone_is_asked",
                                                "query_bytes_in_32_bits",
                                                "refuses_odd_lengths",
                                                "rope_not_scaled",
                                                "row_term_missing",
                                                "row_term_of_own_output",
                                                "row_term_of_row_above",
                                                "row_term_own",
                                                "row_term_staged",
                                                "same_as_input_ignored",
                                                "scale_missing_on_dk",
                                                "scale_missing_on_dq",
                                                "scale_twice_on_dq",
                                                "shared_pse_rows_of_own_length",
                                                "single_row_by_token",
                                                "softmax_max_of_row_zero",
                                                "softmax_sum_ignored",
                                                "softmax_sum_of_row_below",
                                                "softmax_sum_strides_of_max",
                                                "start_in_every_sequence",
                                                "state_between_calls",
                                                "statistics_of_head_zero",
                                                "stops_at_empty_sequence",
                                                "tail_keys_skipped",
                                                "tail_keys_stale",
                                                "tail_queries_stale",
                                                "ties_away_in_cast",
                                                "ties_away_in_staging",
                                                "ties_even_in_cast",
                                                "two_dk_rows_swapped",
                                                "value_strides_of_key",
                                                "workspace_not_zeroed",
                                                "writes_padding"};

MutantOf<Op> forward_of(const Mutant& mutant) {
  return {.name = mutant.name,
          .bug = mutant.bug,
          .healthy = mutant.healthy,
          .subject = mutant.subject == Subject::forward ? Subject::numbers : mutant.subject,
          .make = [name = mutant.name, make = mutant.make] {
            return std::make_unique<OfGradient>(name, make());
          }};
}

bool is_of_forward(const Mutant& mutant) {
  const bool is_of_numbers =
      mutant.subject == Subject::numbers || mutant.subject == Subject::forward;
  return is_of_numbers &&
         std::ranges::find(of_the_backward, mutant.name) == std::end(of_the_backward);
}

}  // namespace
}  // namespace attention_forward

template <>
std::vector<MutantOf<spec::FlashAttentionScore>> mutants() {
  using namespace attention_forward;
  std::vector<MutantOf<Op>> all;
  for (const Mutant& mutant : mutants<spec::FlashAttentionScoreGrad>())
    if (is_of_forward(mutant)) all.push_back(forward_of(mutant));
  std::ranges::move(argument_mutants(), std::back_inserter(all));
  std::ranges::stable_partition(all, &MutantOf<Op>::healthy);
  return all;
}

template <>
std::vector<MutantOf<spec::FlashAttentionScore>> grown_mutants() {
  return {};
}

}  // namespace assay::mutants
