#include "operators/attention/lengths.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

FlashRequirement gradients_of_padding() {
  return {.id = "TND-3b",
          .statement = "The gradients of tokens after the last sequence are 0.",
          .source = {upstream_kernels, "clearing of the accumulators"},
          .standing = Standing::upstream,
          .sides = {Side::content},
          .notes = "CV-O3",
          .applies =
              [](const FlashCall& c) {
                const Excess excess = excess_of(c);
                return excess.query < 0 || excess.key < 0;
              },
          .holds = always,
          .reason =
              "the requirement is about elements, which phase 1 does not read; cases with "
              "padding_q or padding_kv check it"};
}

FlashRequirement gradients_of_empty_sequences() {
  return {.id = "TND-6",
          .statement =
              "If a sequence has no queries, its gradients of key and value are 0; if it "
              "has no keys, its gradient of query is 0.",
          .source = {upstream_general_tiling, "empty sequences"},
          .standing = Standing::upstream,
          .sides = {Side::content},
          .applies = has_some_empty_length,
          .holds = always,
          .reason = content_reason};
}

/// The requirements FAG-C43 and FAG-C43a contain the calls that test this rule.
FlashRequirement limits_of_lengths() {
  return {.id = "TND-7",
          .statement =
              "The pages limit the number of sequences to 2K, and to 1K with a prefix; the "
              "host code enforces neither limit.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .sides = {Side::none},
          .notes = "FAG-Q25",
          .applies = is_packed,
          .holds = always,
          .reason = "FAG-C43 and the requirements that refine it contain the limits"};
}

}  // namespace

std::vector<FlashRequirement> length_requirements() {
  return {lengths_present<FlashOp>({.id = "FAG-C05",
                                    .source = {unpadding_page, "return values"},
                                    .stated_for = u_pages,
                                    .notes = "FAG-Q36",
                                    .status = exactly(Status::param_nullptr)}),
          number_of_lengths<FlashOp>({.id = "FAG-C43",
                                      .source = {unpadding_page, "constraints"},
                                      .standing = Standing::open,
                                      .stated_for = u_pages,
                                      .page_for = public_pages,
                                      .notes = "FAG-Q25"}),
          number_of_lengths_with_prefix<FlashOp>({.id = "FAG-C43a",
                                                  .source = {unpadding_page, "constraints"},
                                                  .standing = Standing::open,
                                                  .stated_for = u1_page,
                                                  .page_for = public_pages,
                                                  .notes = "FAG-Q25"}),
          packed_tokens<FlashOp>(
              {.id = "FAG-C86", .source = {unpadding_page, "constraints"}, .stated_for = u_pages}),
          some_length<FlashOp>(
              {.id = "TND-1", .source = {unpadding_page, "constraints"}, .stated_for = u_pages}),
          empty_lengths<FlashOp>({.id = "TND-2",
                                  .source = {unpadding_page, "constraints"},
                                  .stated_for = u_pages,
                                  .notes = "FAG-Q36"}),
          empty_key_lengths<FlashOp>({.id = "TND-2a",
                                      .source = {unpadding_page, "constraints"},
                                      .standing = Standing::open,
                                      .stated_for = u_pages,
                                      .page_for = public_pages}),
          sums_within_tokens<FlashOp>({.id = "TND-3",
                                       .source = {unpadding_page, "constraints"},
                                       .standing = Standing::derived}),
          abandoned_tokens<FlashOp>({.id = "TND-3a",
                                     .source = {upstream_kernels, "clearing of the accumulators"},
                                     .standing = Standing::open,
                                     .stated_for = u_pages,
                                     .page_for = public_pages,
                                     .notes = "CV-O3"}),
          gradients_of_padding(),
          trailing_nothing<FlashOp>({.id = "TND-4",
                                     .source = {upstream_general_tiling, "lengths"},
                                     .standing = Standing::upstream}),
          ascending_sums<FlashOp>({.id = "TND-5",
                                   .source = {upstream_general_tiling, "lengths"},
                                   .standing = Standing::disputed,
                                   .notes = "FAG-Q32"}),
          gradients_of_empty_sequences(),
          limits_of_lengths()};
}

}  // namespace assay::spec::detail
