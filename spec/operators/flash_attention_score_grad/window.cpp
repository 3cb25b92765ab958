#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

/// The lengths of a masked sequence, and its window.
struct Window {
  std::int64_t seq_q, seq_kv, pre, next;

  bool is_empty() const { return seq_q == 0 || seq_kv == 0; }
};

/// Returns one window per sequence; in the padded layouts, where all windows are equal, only one.
/// Without a mask the window has no meaning, so the result is empty and no refusal is required.
std::vector<Window> windows_in_mode(const FlashCall& c, std::int64_t mode) {
  if (!masked_in_mode(c, mode)) return {};
  const auto query = query_as_given(c);
  const auto key = key_as_given(c);
  if (!query || !key) return {};
  std::vector<Window> windows;
  const std::int64_t different = query->ends.empty() ? 1 : query->batch;
  for (std::int64_t b = 0; b < different; ++b)
    windows.push_back(
        {query->length(b), key->length(b), c.attributes.pre_tokens, c.attributes.next_tokens});
  return windows;
}

/// Modes 7 and 8: the window of the only sequence that it restricts, the last one with queries
/// (mode 7) or the first one (mode 8).
std::optional<Window> band_window(const FlashCall& c, std::int64_t mode) {
  const auto windows = windows_in_mode(c, mode);
  if (is_padded(c) || windows.empty()) return std::nullopt;
  const auto has_queries = [](const Window& w) { return w.seq_q != 0; };
  if (mode == 7) {
    const auto last = std::find_if(windows.rbegin(), windows.rend(), has_queries);
    if (last != windows.rend()) return *last;
  } else {
    const auto first = std::ranges::find_if(windows, has_queries);
    if (first != windows.end()) return *first;
  }
  return std::nullopt;
}

bool sum_is_negative(std::int64_t a, std::int64_t b) {
  if (a >= 0 && b >= 0) return false;
  if (a < 0 && b < 0) return true;
  return a + b < 0;
}

bool sum_is_zero(std::int64_t a, std::int64_t b) {
  return !sum_is_negative(a, b) && (a < 0 || b < 0 ? a + b == 0 : a == 0 && b == 0);
}

/// The pages limit a negative nextTokens by the key length and a negative preTokens by the query
/// length; the host code exchanges the two lengths.
bool pages_allow(const Window& w) {
  return !sum_is_negative(w.pre, w.next) && (w.next >= 0 || w.next > -w.seq_kv) &&
         (w.pre >= 0 || w.pre > -w.seq_q);
}
bool host_allows(const Window& w) {
  return !sum_is_negative(w.pre, w.next) && w.next >= -w.seq_q && w.pre >= -w.seq_kv;
}
bool host_allows_band(const Window& w) { return w.next >= -w.seq_kv && w.pre >= -w.seq_q; }

/// Returns whether the pages and the host code both forbid the window of some sequence. The
/// documents do not cover empty sequences.
bool is_refused(const FlashCall& c) {
  return std::ranges::any_of(
             windows_in_mode(c, 0),
             [](const Window& w) { return !w.is_empty() && !pages_allow(w) && !host_allows(w); }) ||
         std::ranges::any_of(windows_in_mode(c, 4),
                             [](const Window& w) { return !w.is_empty() && !host_allows_band(w); });
}

/// Returns whether the host code allows, and the pages forbid, the window of some sequence in mode
/// 0.
bool is_of_host_alone(const FlashCall& c) {
  return !is_refused(c) && std::ranges::any_of(windows_in_mode(c, 0), [](const Window& w) {
    return !w.is_empty() && !pages_allow(w) && host_allows(w);
  });
}

/// Returns whether the window would be illegal for some sequence without queries or without keys.
bool binds_nothing(const FlashCall& c) {
  return std::ranges::any_of(windows_in_mode(c, 0),
                             [](const Window& w) {
                               return w.is_empty() && (!pages_allow(w) || !host_allows(w));
                             }) ||
         std::ranges::any_of(windows_in_mode(c, 4),
                             [](const Window& w) { return w.is_empty() && !host_allows_band(w); });
}

void confine(FlashCall& call, std::int64_t mode, std::int64_t pre, std::int64_t next) {
  attach_mask(call);
  const auto problem = problem_of(call);
  if (!problem) return;
  attach_mask(call, mode, {problem->seq_q, problem->seq_kv});
  if (mode != 0) put_compressed_mask(call, mode);
  call.attributes.pre_tokens = pre;
  call.attributes.next_tokens = next;
}

/// Sets a window in mode 7 or 8; all sequences have the same length, for queries and for keys.
void confine_band(FlashCall& call, std::int64_t mode, std::int64_t pre, std::int64_t next) {
  if (is_padded(call) || !problem_of(call)) return;
  rewrite(call, make_square);
  put_compressed_mask(call, mode);
  call.attributes.pre_tokens = pre;
  call.attributes.next_tokens = next;
}

/// Returns a number that is larger by 1 than the longest length.
std::int64_t beyond(const FlashCall& call) {
  const auto problem = problem_of(call);
  return problem ? std::max({problem->seq_q, problem->seq_kv, std::int64_t{1}}) + 1 : 0;
}

/// Sets a window that the host code allows but the pages forbid.
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
  return {
      .id = "FAG-C68",
      .statement =
          "In sparse modes 0 and 4 a negative preTokens or nextTokens stays within the lengths, "
          "and "
          "in mode 0 preTokens + nextTokens is not negative.",
      .source = {upstream_tiling, "token checks"},
      .standing = Standing::upstream,
      .sides = {Side::accept, Side::reject},
      .notes = "FAG-Q12",
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
                      [](FlashCall& c) { confine(c, 4, -beyond(c), unbounded_tokens); }}}};
}

bool speaks_of_windows(const FlashCall& c) {
  return !windows_in_mode(c, 0).empty() || !windows_in_mode(c, 4).empty();
}

FlashRequirement windows_of_the_pages() {
  return {.id = "FAG-C68a",
          .statement =
              "In sparse mode 0 a negative nextTokens is above -Skv and a negative preTokens above "
              "-Sq; the host code limits nextTokens by Sq and preTokens by Skv.",
          .source = {upstream_modes, "mode 0"},
          .standing = Standing::open,
          .sides = {Side::reject},
          .notes = "FAG-Q13",
          .applies = speaks_of_windows,
          .holds = [](const FlashCall& c) { return !is_of_host_alone(c); },
          .violations = {{"between", confine_between_readings}}};
}

/// Makes two sequences, the first without queries, and a window in the past.
void confine_beside_nothing(FlashCall& call) {
  if (is_padded(call) || !problem_of(call)) return;
  rewrite(call, [](FlashProblem& p) {
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
  return {.id = "FAG-C68b",
          .statement =
              "A negative preTokens or nextTokens also stays within the lengths of empty "
              "sequences; no page says whether empty sequences limit the window.",
          .source = {upstream_modes, "mode 0"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .notes = "FAG-Q13",
          .applies = speaks_of_windows,
          .holds = [](const FlashCall& c) { return is_refused(c) || !binds_nothing(c); },
          .violations = {{"no_queries", confine_beside_nothing}}};
}

/// Returns whether the host code allows this window in mode 7 or 8.
bool host_allows_outer_split(const Window& w) {
  return host_allows_band(w) && !sum_is_negative(w.pre, w.next);
}

FlashRequirement outer_split_limits() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return band_window(c, 7).has_value() || band_window(c, 8).has_value();
  };
  return {
      .id = "FAG-C69",
      .statement =
          "In sparse modes 7 and 8 one sequence has a window: the last (mode 7) or first (mode 8) "
          "one with queries. This window is not empty, and a negative edge is within the lengths.",
      .source = {upstream_tiling, "token checks"},
      .standing = Standing::upstream,
      .sides = {Side::accept, Side::reject},
      .implies = {"FAG-C69a"},
      .applies = concerned,
      .holds =
          [](const FlashCall& c) {
            const auto of_mode_7 = band_window(c, 7), of_mode_8 = band_window(c, 8);
            return (!of_mode_7 || host_allows_outer_split(*of_mode_7)) &&
                   (!of_mode_8 || host_allows_outer_split(*of_mode_8));
          },
      .violations = {
          {"last_next", [](FlashCall& c) { confine_band(c, 7, unbounded_tokens, -beyond(c)); }},
          {"first_pre", [](FlashCall& c) { confine_band(c, 8, -beyond(c), unbounded_tokens); }},
          {"first_empty", [](FlashCall& c) { confine_band(c, 8, 0, -1); }}}};
}

/// Mode 7: the other sequences are parts that were cut off at the right of a causal mask, so none
/// of them may have more queries than keys.
bool mode_page_allows_last(const std::vector<Window>& windows, const Window& band) {
  return band.pre >= band.seq_kv && band.next <= 0 && band.next >= band.seq_q - band.seq_kv &&
         std::ranges::all_of(windows,
                             [](const Window& w) { return w.is_empty() || w.seq_q <= w.seq_kv; });
}
bool mode_page_allows_first(const Window& band) {
  return band.pre >= band.seq_kv && band.next >= band.seq_q - band.seq_kv;
}

FlashRequirement documented_outer_split() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return band_window(c, 7).has_value() || band_window(c, 8).has_value();
  };
  return {
      .id = "FAG-C69a",
      .statement =
          "In sparse modes 7 and 8 the window of the last or first sequence with queries is within "
          "the ranges of the mode page. This page warns about other windows, but no code refuses "
          "them.",
      .source = {upstream_modes, "modes 7 and 8"},
      .standing = Standing::open,
      .sides = {Side::reject},
      .applies = concerned,
      .holds =
          [](const FlashCall& c) {
            const auto of_mode_7 = band_window(c, 7), of_mode_8 = band_window(c, 8);
            return (!of_mode_7 || mode_page_allows_last(windows_in_mode(c, 7), *of_mode_7)) &&
                   (!of_mode_8 || mode_page_allows_first(*of_mode_8));
          },
      .violations = {{"last_next", [](FlashCall& c) { confine_band(c, 7, unbounded_tokens, 1); }},
                     {"first_pre", [](FlashCall& c) { confine_band(c, 8, 0, unbounded_tokens); }}}};
}

FlashRequirement band_not_empty() {
  return {.id = "FAG-C71",
          .statement =
              "In sparse mode 4 the band is not empty: preTokens + nextTokens is not negative.",
          .source = {upstream_page, "sparseMode"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = [](const FlashCall& c) { return !windows_in_mode(c, 4).empty(); },
          .holds =
              [](const FlashCall& c) {
                return windows_in_mode(c, 4).empty() ||
                       !sum_is_negative(c.attributes.pre_tokens, c.attributes.next_tokens);
              },
          .violations = {{"pre", [](FlashCall& c) { confine(c, 4, -1, 0); }},
                         {"next", [](FlashCall& c) { confine(c, 4, 0, -1); }}}};
}

/// The mode page forbids only a negative sum; the host code also refuses 0.
FlashRequirement window_of_one_key() {
  return {.id = "FAG-C71a",
          .statement =
              "Packed sequences, too, may have a window of one key: preTokens + nextTokens is 0.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::derived,
          .sides = {Side::accept},
          .notes = "FAG-Q14",
          .applies =
              [](const FlashCall& c) {
                return is_packed(c) && speaks_of_windows(c) &&
                       sum_is_zero(c.attributes.pre_tokens, c.attributes.next_tokens);
              },
          .holds = always};
}

}  // namespace

std::vector<FlashRequirement> window_requirements() {
  return {window_limits(),      windows_of_the_pages(),   windows_of_nothing(),
          outer_split_limits(), documented_outer_split(), band_not_empty(),
          window_of_one_key()};
}

}  // namespace assay::spec::detail
