#pragma once

#include <algorithm>

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

/// The lengths of a sequence with a mask, and its window (preTokens and nextTokens).
struct Window {
  std::int64_t seq_q, seq_kv, pre, next;

  bool is_empty() const { return seq_q == 0 || seq_kv == 0; }
};

/// Returns one window per sequence, or a single window in the padded layouts, where all windows are
/// equal. Returns no window if the call has no mask. Without a mask the window has no effect, so a
/// kernel need not refuse an illegal one.
template <class Op>
std::vector<Window> windows_in_mode(const Call<Op>& c, std::int64_t mode) {
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

/// Returns the window in sparse modes 7 and 8, which restricts only one sequence: the last one with
/// queries (mode 7) or the first one with queries (mode 8).
template <class Op>
std::optional<Window> band_window(const Call<Op>& c, std::int64_t mode) {
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

inline bool sum_is_negative(std::int64_t a, std::int64_t b) {
  if (a >= 0 && b >= 0) return false;
  if (a < 0 && b < 0) return true;
  return a + b < 0;
}

inline bool sum_is_zero(std::int64_t a, std::int64_t b) {
  return !sum_is_negative(a, b) && (a < 0 || b < 0 ? a + b == 0 : a == 0 && b == 0);
}

/// These functions return whether a window is allowed: pages_allow by the documentation pages,
/// host_allows by the vendor's host code. The pages limit a negative nextTokens by the key length
/// and a negative preTokens by the query length. The host code exchanges the two lengths.
inline bool pages_allow(const Window& w) {
  return !sum_is_negative(w.pre, w.next) && (w.next >= 0 || w.next > -w.seq_kv) &&
         (w.pre >= 0 || w.pre > -w.seq_q);
}
inline bool host_allows(const Window& w) {
  return !sum_is_negative(w.pre, w.next) && w.next >= -w.seq_q && w.pre >= -w.seq_kv;
}
inline bool host_allows_band(const Window& w) { return w.next >= -w.seq_kv && w.pre >= -w.seq_q; }

template <class Op>
void confine(Call<Op>& call, std::int64_t mode, std::int64_t pre, std::int64_t next) {
  attach_mask(call);
  const auto problem = problem_of(call);
  if (!problem) return;
  attach_mask(call, mode, {problem->seq_q, problem->seq_kv});
  if (mode != 0) put_compressed_mask(call, mode);
  call.attributes.pre_tokens = pre;
  call.attributes.next_tokens = next;
}

/// Sets a window in mode 7 or 8. All query sequences get the same length, and all key sequences get
/// the same length.
template <class Op>
void confine_band(Call<Op>& call, std::int64_t mode, std::int64_t pre, std::int64_t next) {
  if (is_padded(call) || !problem_of(call)) return;
  rewrite(call, make_square);
  put_compressed_mask(call, mode);
  call.attributes.pre_tokens = pre;
  call.attributes.next_tokens = next;
}

/// Returns a number of tokens that is larger by 1 than the longest query or key sequence.
template <class Op>
std::int64_t beyond(const Call<Op>& call) {
  const auto problem = problem_of(call);
  return problem ? std::max({problem->seq_q, problem->seq_kv, std::int64_t{1}}) + 1 : 0;
}

/// Returns whether the vendor's host code allows this window in mode 7 or 8.
inline bool host_allows_outer_split(const Window& w) {
  return host_allows_band(w) && !sum_is_negative(w.pre, w.next);
}

template <class Op>
Requirement<Op> outer_split_limits(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) {
    return band_window(c, 7).has_value() || band_window(c, 8).has_value();
  };
  return stated<Op>(
      by,
      {.statement =
           "In sparse modes 7 and 8 one sequence has a window: the last one with queries (mode 7) "
           "or the first one with queries (mode 8). There preTokens + nextTokens >= 0, "
           "preTokens >= -Sq and nextTokens >= -Skv.",
       .applies = concerned,
       .holds =
           [](const Call<Op>& c) {
             const auto of_mode_7 = band_window(c, 7), of_mode_8 = band_window(c, 8);
             return (!of_mode_7 || host_allows_outer_split(*of_mode_7)) &&
                    (!of_mode_8 || host_allows_outer_split(*of_mode_8));
           },
       .violations = {
           {"last_next", [](Call<Op>& c) { confine_band(c, 7, unbounded_tokens, -beyond(c)); }},
           {"first_pre", [](Call<Op>& c) { confine_band(c, 8, -beyond(c), unbounded_tokens); }},
           {"first_empty", [](Call<Op>& c) { confine_band(c, 8, 0, -1); }}}});
}

/// Returns whether the documentation page about sparse modes allows these windows in mode 7. In
/// this mode only one sequence has a window. The other sequences have the left part of a causal
/// mask, so they must not have more queries than keys.
inline bool mode_page_allows_last(const std::vector<Window>& windows, const Window& band) {
  return band.pre >= band.seq_kv && band.next <= 0 && band.next >= band.seq_q - band.seq_kv &&
         std::ranges::all_of(windows,
                             [](const Window& w) { return w.is_empty() || w.seq_q <= w.seq_kv; });
}
inline bool mode_page_allows_first(const Window& band) {
  return band.pre >= band.seq_kv && band.next >= band.seq_q - band.seq_kv;
}

template <class Op>
Requirement<Op> documented_outer_split(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) {
    return band_window(c, 7).has_value() || band_window(c, 8).has_value();
  };
  return stated<Op>(
      by,
      {.statement =
           "In sparse modes 7 and 8 the window of the last or first sequence with queries is "
           "within "
           "the ranges of the mode page. This page warns about other windows, but no code refuses "
           "them.",
       .sides = {Side::reject},
       .applies = concerned,
       .holds =
           [](const Call<Op>& c) {
             const auto of_mode_7 = band_window(c, 7), of_mode_8 = band_window(c, 8);
             return (!of_mode_7 || mode_page_allows_last(windows_in_mode(c, 7), *of_mode_7)) &&
                    (!of_mode_8 || mode_page_allows_first(*of_mode_8));
           },
       .violations = {
           {"last_next", [](Call<Op>& c) { confine_band(c, 7, unbounded_tokens, 1); }},
           {"first_pre", [](Call<Op>& c) { confine_band(c, 8, 0, unbounded_tokens); }}}});
}

template <class Op>
Requirement<Op> band_not_empty(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement =
               "In sparse mode 4 the band is not empty: preTokens + nextTokens is not negative.",
           .applies = [](const Call<Op>& c) { return !windows_in_mode(c, 4).empty(); },
           .holds =
               [](const Call<Op>& c) {
                 return windows_in_mode(c, 4).empty() ||
                        !sum_is_negative(c.attributes.pre_tokens, c.attributes.next_tokens);
               },
           .violations = {{"pre", [](Call<Op>& c) { confine(c, 4, -1, 0); }},
                          {"next", [](Call<Op>& c) { confine(c, 4, 0, -1); }}}});
}

}  // namespace assay::spec::detail
