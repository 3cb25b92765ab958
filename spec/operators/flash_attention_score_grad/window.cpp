#include "operators/attention/window.hpp"

#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

/// Returns whether the documentation pages and the vendor's host code both forbid the window of at
/// least one sequence. Ignores empty sequences, which the documentation does not mention.
bool is_refused(const FlashCall& c) {
  return std::ranges::any_of(
             windows_in_mode(c, 0),
             [](const Window& w) { return !w.is_empty() && !pages_allow(w) && !host_allows(w); }) ||
         std::ranges::any_of(windows_in_mode(c, 4),
                             [](const Window& w) { return !w.is_empty() && !host_allows_band(w); });
}

/// Returns whether in mode 0 the documentation pages forbid the window of at least one sequence,
/// and the vendor's host code allows it.
bool is_of_host_alone(const FlashCall& c) {
  return !is_refused(c) && std::ranges::any_of(windows_in_mode(c, 0), [](const Window& w) {
    return !w.is_empty() && !pages_allow(w) && host_allows(w);
  });
}

/// Returns whether the window would be illegal for at least one sequence without queries or without
/// keys.
bool binds_nothing(const FlashCall& c) {
  return std::ranges::any_of(windows_in_mode(c, 0),
                             [](const Window& w) {
                               return w.is_empty() && (!pages_allow(w) || !host_allows(w));
                             }) ||
         std::ranges::any_of(windows_in_mode(c, 4),
                             [](const Window& w) { return w.is_empty() && !host_allows_band(w); });
}

/// Sets a window that the vendor's host code allows but the documentation pages forbid.
void confine_between_readings(FlashCall& call) {
  if (!problem_of(call)) return;
  rewrite(call, make_uniform);
  const auto problem = problem_of(call);
  if (!problem) return;
  if (problem->seq_q >= problem->seq_kv) {
    confine(call, 0, unbounded_tokens, -problem->seq_kv);
  } else {
    confine(call, 0, -problem->seq_q, unbounded_tokens);
  }
}

FlashRequirement window_limits() {
  return stated(
      by(Standing::upstream, "FAG-C68", {upstream_tiling, "token checks"}, "FAG-Q12"),
      {.statement =
           "In sparse modes 0 and 4 a negative preTokens or nextTokens stays within the lengths, "
           "and "
           "in mode 0 preTokens + nextTokens is not negative.",
       .applies =
           [](const FlashCall& c) {
             return !windows_in_mode(c, 0).empty() || !windows_in_mode(c, 4).empty();
           },
       .holds = [](const FlashCall& c) { return !is_refused(c); },
       .violations = {{"empty", [](FlashCall& c) { confine(c, 0, -1, 0); }},
                      {"next", [](FlashCall& c) { confine(c, 0, unbounded_tokens, -beyond(c)); }},
                      {"pre", [](FlashCall& c) { confine(c, 0, -beyond(c), unbounded_tokens); }},
                      {"band_next",
                       [](FlashCall& c) { confine(c, 4, unbounded_tokens, -beyond(c)); }},
                      {"band_pre",
                       [](FlashCall& c) { confine(c, 4, -beyond(c), unbounded_tokens); }}}});
}

bool speaks_of_windows(const FlashCall& c) {
  return !windows_in_mode(c, 0).empty() || !windows_in_mode(c, 4).empty();
}

FlashRequirement windows_of_the_pages() {
  return stated(
      by(Standing::open, "FAG-C68a", {upstream_modes, "mode 0"}, "FAG-Q13"),
      {.statement =
           "In sparse mode 0 a negative nextTokens is above -Skv and a negative preTokens above "
           "-Sq; the host code limits nextTokens by Sq and preTokens by Skv.",
       .sides = {Side::reject},
       .applies = speaks_of_windows,
       .holds = [](const FlashCall& c) { return !is_of_host_alone(c); },
       .violations = {{"between", confine_between_readings}}});
}

/// Makes two sequences, the first one without queries, and a window of earlier keys only.
void confine_beside_nothing(FlashCall& call) {
  if (is_padded(call) || !problem_of(call)) return;
  rewrite(call, [](AttentionProblem& p) {
    make_square(p);
    p.batch = 2;
    p.seq_q = p.seq_kv = std::max<std::int64_t>(2, p.seq_q);
    p.lengths_q = {0, p.seq_q};
  });
  const auto problem = problem_of(call);
  if (!problem) return;
  put_mask(call, 0, {problem->seq_q, problem->seq_kv});
  call.attributes.next_tokens = -1;
}

FlashRequirement windows_of_nothing() {
  return stated(
      by(Standing::disputed, "FAG-C68b", {upstream_modes, "mode 0"}, "FAG-Q13"),
      {.statement =
           "A negative preTokens or nextTokens is also within the limits computed from the lengths "
           "of empty sequences; no page says whether empty sequences limit the window.",
       .sides = {Side::reject},
       .applies = speaks_of_windows,
       .holds = [](const FlashCall& c) { return is_refused(c) || !binds_nothing(c); },
       .violations = {{"no_queries", confine_beside_nothing}}});
}

/// Allows windows of packed sequences with preTokens + nextTokens = 0. The documentation page about
/// sparse modes forbids only a negative sum; the vendor's host code also refuses 0.
FlashRequirement window_of_one_key() {
  return stated(
      by(Standing::derived, "FAG-C71a", {unpadding_page, "constraints"}, "FAG-Q14"),
      {.statement =
           "Packed sequences, too, may have a window of one key: preTokens + nextTokens is 0.",
       .sides = {Side::accept},
       .applies = [](const FlashCall& c) {
         return is_packed(c) && speaks_of_windows(c) &&
                sum_is_zero(c.attributes.pre_tokens, c.attributes.next_tokens);
       }});
}

}  // namespace

std::vector<FlashRequirement> window_requirements() {
  return {window_limits(),
          windows_of_the_pages(),
          windows_of_nothing(),
          outer_split_limits<FlashOp>(implying(
              by(Standing::upstream, "FAG-C69", {upstream_tiling, "token checks"}), {"FAG-C69a"})),
          documented_outer_split<FlashOp>(
              by(Standing::open, "FAG-C69a", {upstream_modes, "modes 7 and 8"})),
          band_not_empty<FlashOp>(by(Standing::upstream, "FAG-C71", {upstream_page, "sparseMode"})),
          window_of_one_key()};
}

}  // namespace assay::spec::detail
