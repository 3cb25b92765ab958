#include "operators/attention/sizes.hpp"

#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

FlashRequirement packed_sequence_limit() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return has_softmax_in_layout(c.entry_point) && key_as_given(c);
  };
  return stated(implying(by(Standing::page, "FAG-C41a",
                            {upstream_fourth_unpadding_page, "constraints"}, {}, {}, u4_page),
                         {"FAG-C42"}),
                {.statement = "No sequence of query or keyIn is longer than 1M.",
                 .applies = concerned,
                 .holds =
                     [](const FlashCall& c) {
                       return !concerned(c) || std::max(query_as_given(c)->seq,
                                                        key_as_given(c)->seq) <= longest_sequence;
                     },
                 .reaches = reaches_longest,
                 .violations = {{"seq_q",
                                 [](FlashCall& c) {
                                   if (concerned(c)) rewrite(c, lengthen<true>);
                                 }},
                                {"seq_kv", [](FlashCall& c) {
                                   if (concerned(c)) rewrite(c, lengthen<false>);
                                 }}}});
}

bool is_of_wide_page(const FlashCall& c) { return is_u3(c) || is_of_public_page(c); }
bool is_of_narrow_page(const FlashCall& c) { return is_padded(c) || is_u1(c); }

/// Limits the head size to 768, the largest limit of all documentation pages. Requirement FAG-C44a
/// checks head sizes from 513 to 768, which some pages forbid and others allow.
FlashRequirement head_size_limit() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_of_narrow_page(c) && has_query_extents(c);
  };
  return stated(
      by("FAG-C44b", {operator_page, "constraints"}, "FAG-Q2", g_u1_pages),
      {.statement = "The head size is at most 768, the largest limit of all pages; the limit of "
                    "this page is 512.",
       .applies = concerned,
       .holds =
           [](const FlashCall& c) {
             return !concerned(c) || query_as_given(c)->dim <= widest_head_dim;
           },
       .reaches = [](const FlashCall& c) { return query_as_given(c)->dim >= agreed_head_dim; },
       .violations = {{"head_dim", [](FlashCall& c) {
                         if (!is_of_narrow_page(c)) return;
                         rewrite(c,
                                 [](AttentionProblem& p) { set_head_dim(p, widest_head_dim + 1); });
                       }}}});
}

/// Limits the head size to 512, as the older documentation pages do. The vendor's host code has no
/// limit, and newer pages allow 768.
FlashRequirement narrow_head_sizes() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_of_narrow_page(c) && has_query_extents(c) &&
           query_as_given(c)->dim <= widest_head_dim;
  };
  return stated(
      by(Standing::open, "FAG-C44a", {operator_page, "constraints"}, "FAG-Q2", g_u1_pages),
      {.statement = "The head size of query is at most 512; newer pages say 768.",
       .sides = {Side::reject},
       .applies = concerned,
       .holds =
           [](const FlashCall& c) {
             return !concerned(c) || query_as_given(c)->dim <= agreed_head_dim;
           },
       .violations = {{"head_dim_513",
                       [](FlashCall& c) {
                         if (!is_of_narrow_page(c)) return;
                         rewrite(c,
                                 [](AttentionProblem& p) { set_head_dim(p, agreed_head_dim + 1); });
                       }},
                      {"head_dim_768", [](FlashCall& c) {
                         if (!is_of_narrow_page(c)) return;
                         rewrite(c, [](AttentionProblem& p) { set_head_dim(p, widest_head_dim); });
                       }}}});
}

/// Returns whether `count` is between the two possible values of a limit: above `least` (with K =
/// 1000) and at most `most` (with K = 1024).
bool is_between(std::int64_t count, std::int64_t least, std::int64_t most) {
  return count > least && count <= most;
}

bool is_within_all_readings(const FlashCall& c) {
  if (!key_as_given(c)) return true;
  const std::int64_t batch = query_as_given(c)->batch;
  if (is_padded(c))
    return !is_between(batch, 2 * short_mega, 2 * mega) &&
           !(uses_prefix(c) && is_between(batch, 2 * short_kilo, 2 * kilo)) &&
           !is_between(query_as_given(c)->seq, short_mega, mega) &&
           !is_between(key_as_given(c)->seq, short_mega, mega);
  const bool by_prefix = uses_prefix(c) && masked_in_mode(c, 6);
  return !is_between(batch, 2 * short_kilo, 2 * kilo) &&
         !(by_prefix && is_between(batch, short_kilo, kilo)) &&
         !is_between(c.parameters.query.shape[0], short_mega, mega) &&
         !is_between(c.parameters.key.shape[0], short_mega, mega);
}

/// Makes a call with `sequences` sequences, with or without a prefix.
template <std::int64_t sequences, bool packed, bool prefix>
void multiply(FlashCall& call) {
  if (is_packed(call) != packed || (prefix && takes_ropes(call))) return;
  rewrite(call, [](AttentionProblem& p) {
    make_small(p);
    p.batch = sequences;
  });
  if (prefix) attach_prefix(call);
}

FlashRequirement meaning_of_k_and_m() {
  return stated(
      by(Standing::disputed, "FAG-C94", {operator_page, "constraints"}, "FAG-Q25"),
      {.statement = "No page says whether K is 1000 or 1024, or whether M is 1000 * 1000 or 1024 * "
                    "1024. So a limit has two possible values; no size is between them.",
       .sides = {Side::reject},
       .applies = [](const FlashCall& c) { return key_as_given(c).has_value(); },
       .holds = is_within_all_readings,
       .violations = {{"sequences", multiply<2 * kilo, true, false>},
                      {"sequences_with_prefix", multiply<kilo, true, true>},
                      {"batch", multiply<2 * mega, false, false>},
                      {"batch_with_prefix", multiply<2 * kilo, false, true>},
                      {"seq_q",
                       [](FlashCall& c) {
                         rewrite(c, [](AttentionProblem& p) {
                           make_small(p);
                           p.seq_q = longest_sequence;
                         });
                       }},
                      {"seq_kv", [](FlashCall& c) {
                         rewrite(c, [](AttentionProblem& p) {
                           make_small(p);
                           p.seq_kv = longest_sequence;
                         });
                       }}}});
}

}  // namespace

std::vector<FlashRequirement> size_requirements() {
  return {
      heads_limit<FlashOp>(
          by("FAG-C39", {operator_page, "constraints"}, {}, all_pages, public_pages)),
      batch_limit<FlashOp>(by("FAG-C40", {operator_page, "constraints"}, {}, g_pages)),
      batch_limit_with_prefix<FlashOp>(by("FAG-C40a", {operator_page, "constraints"}, {}, g_pages)),
      sequence_limit<FlashOp>(by("FAG-C41", {operator_page, "constraints"}, {}, g_pages)),
      packed_sequence_limit(),
      token_limit<FlashOp>(
          by("FAG-C42", {unpadding_page, "constraints"}, {}, u_pages, public_pages)),
      wide_head_size_limit<FlashOp, is_of_wide_page>(
          by("FAG-C44", {rope_page, "constraints"}, {}, u3_page, public_pages)),
      narrow_head_sizes(),
      head_size_limit(),
      meaning_of_k_and_m()};
}

}  // namespace assay::spec::detail
