#include "operators/attention/lengths.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

FlashRequirement gradients_of_padding() {
  return stated(
      by(Standing::upstream, "TND-3b", {upstream_kernels, "clearing of the accumulators"}, "CV-O3"),
      {.statement = "The gradients of tokens after the last sequence are 0.",
       .sides = {Side::content},
       .applies =
           [](const FlashCall& c) {
             const Excess excess = excess_of(c);
             return excess.query < 0 || excess.key < 0;
           },
       .reason = "the requirement is about elements, which phase 1 does not read; cases with "
                 "padding_q or padding_kv check it"});
}

FlashRequirement gradients_of_empty_sequences() {
  return stated(
      by(Standing::upstream, "TND-6", {upstream_general_tiling, "empty sequences"}),
      {.statement = "If a sequence has no queries, its gradients of key and value are 0; if it "
                    "has no keys, its gradient of query is 0.",
       .sides = {Side::content},
       .applies = has_some_empty_length,
       .reason = content_reason});
}

/// States the documented limits on the number of sequences. The requirements FAG-C43 and FAG-C43a
/// contain the calls that test them.
FlashRequirement limits_of_lengths() {
  return stated(
      by("TND-7", {unpadding_page, "constraints"}, "FAG-Q25", u_pages),
      {.statement = "The pages limit the number of sequences to 2K, and to 1K with a prefix; the "
                    "host code enforces neither limit.",
       .sides = {Side::none},
       .applies = is_packed,
       .reason = "FAG-C43 and the requirements that refine it contain the limits"});
}

}  // namespace

std::vector<FlashRequirement> length_requirements() {
  return {
      lengths_present<FlashOp>(
          with_status(by("FAG-C05", {unpadding_page, "return values"}, "FAG-Q36", u_pages),
                      Status::param_nullptr)),
      number_of_lengths<FlashOp>(by(Standing::open, "FAG-C43", {unpadding_page, "constraints"},
                                    "FAG-Q25", u_pages, public_pages)),
      number_of_lengths_with_prefix<FlashOp>(by(Standing::open, "FAG-C43a",
                                                {unpadding_page, "constraints"}, "FAG-Q25", u1_page,
                                                public_pages)),
      packed_tokens<FlashOp>(by("FAG-C86", {unpadding_page, "constraints"}, {}, u_pages)),
      some_length<FlashOp>(by("TND-1", {unpadding_page, "constraints"}, {}, u_pages)),
      empty_lengths<FlashOp>(by("TND-2", {unpadding_page, "constraints"}, "FAG-Q36", u_pages)),
      empty_key_lengths<FlashOp>(
          by(Standing::open, "TND-2a", {unpadding_page, "constraints"}, {}, u_pages, public_pages)),
      sums_within_tokens<FlashOp>(by(Standing::derived, "TND-3", {unpadding_page, "constraints"})),
      abandoned_tokens<FlashOp>(by(Standing::open, "TND-3a",
                                   {upstream_kernels, "clearing of the accumulators"}, "CV-O3",
                                   u_pages, public_pages)),
      gradients_of_padding(),
      trailing_nothing<FlashOp>(
          by(Standing::upstream, "TND-4", {upstream_general_tiling, "lengths"})),
      ascending_sums<FlashOp>(
          by(Standing::disputed, "TND-5", {upstream_general_tiling, "lengths"}, "FAG-Q32")),
      gradients_of_empty_sequences(),
      limits_of_lengths()};
}

}  // namespace assay::spec::detail
