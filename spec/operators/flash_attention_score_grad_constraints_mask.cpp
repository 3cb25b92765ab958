#include <algorithm>

#include "flash_attention_score_grad_rows.hpp"

namespace assay::spec::detail {
namespace {

constexpr std::int64_t first_mode = 0, last_mode = 8;
constexpr std::int64_t prefix_mask_rows = 3072;

/// Lengths and window of a call that a mask confines.
struct Window {
  std::int64_t seq_q, seq_kv, pre, next;
};

/// FAG-Q12: without a mask the window means nothing and refusals are not asserted.
std::optional<Window> window_in_mode(const FlashCall& c, std::int64_t mode) {
  const auto key = key_as_given(c);
  if (!key || !masked_in_mode(c, mode)) return std::nullopt;
  return Window{query_as_given(c)->seq, key->seq, c.attributes.pre_tokens,
                c.attributes.next_tokens};
}

bool sum_is_negative(std::int64_t a, std::int64_t b) {
  if (a >= 0 && b >= 0) return false;
  if (a < 0 && b < 0) return true;
  return a + b < 0;
}

/// FAG-Q13: the pages and the host code bound negative tokens by opposite lengths.
bool pages_allow(const Window& w) {
  return !sum_is_negative(w.pre, w.next) && (w.next >= 0 || w.next > -w.seq_kv) &&
         (w.pre >= 0 || w.pre > -w.seq_q);
}
bool host_allows(const Window& w) {
  return !sum_is_negative(w.pre, w.next) && w.next >= -w.seq_q && w.pre >= -w.seq_kv;
}
bool host_allows_band(const Window& w) { return w.next >= -w.seq_kv && w.pre >= -w.seq_q; }

bool mask_fits_mode(const FlashCall& c) {
  const Parameter& mask = c.parameters.atten_mask;
  const auto query = query_as_given(c);
  const auto key = key_as_given(c);
  const std::int64_t mode = c.attributes.sparse_mode;
  if (!given(mask) || !key || mode < first_mode || mode > last_mode) return true;
  const Shape& shape = mask.shape;
  if (shape.size() != 2 && shape.size() != 4) return false;
  const Shape leading(shape.begin(), shape.end() - 2);
  const Shape plane(shape.end() - 2, shape.end());
  const bool single = leading.empty() || leading == Shape{1, 1};
  if (mode == 6) return single && plane == Shape{prefix_mask_rows, compressed_mask_edge};
  if (mode != 0 && mode != 1 && mode != 5)
    return single && plane == Shape{compressed_mask_edge, compressed_mask_edge};
  return plane == Shape{query->seq, key->seq} && (single || leading == Shape{query->batch, 1} ||
                                                  leading == Shape{query->batch, query->heads});
}

/// A full mask of sparse mode 1, one axis of which is too long.
template <std::size_t axis>
void grow_mask(FlashCall& call) {
  const auto problem = problem_of(call);
  if (!problem) return;
  Shape shape = {problem->batch, problem->heads_q, problem->seq_q, problem->seq_kv};
  ++shape[axis];
  attach_mask(call, 1, shape);
}

/// A mask of sparse mode 1 with a batch axis and none for heads.
void drop_mask_axis(FlashCall& call) {
  if (const auto problem = problem_of(call))
    attach_mask(call, 1, {problem->batch, problem->seq_q, problem->seq_kv});
}

void confine(FlashCall& call, std::int64_t mode, std::int64_t pre, std::int64_t next) {
  const auto problem = problem_of(call);
  if (!problem) return;
  const Shape shape = mode == 0 ? Shape{problem->seq_q, problem->seq_kv}
                                : Shape{compressed_mask_edge, compressed_mask_edge};
  attach_mask(call, mode, shape);
  call.attributes.pre_tokens = pre;
  call.attributes.next_tokens = next;
}

/// One more than both lengths.
std::int64_t beyond(const FlashCall& call) {
  const auto problem = problem_of(call);
  return problem ? std::max(problem->seq_q, problem->seq_kv) + 1 : 0;
}

/// A window that one reading of the limits allows and the other does not.
void confine_between_readings(FlashCall& call) {
  const auto problem = problem_of(call);
  if (!problem) return;
  if (problem->seq_q >= problem->seq_kv) {
    confine(call, 0, unbounded_tokens, -problem->seq_kv);
  } else {
    confine(call, 0, -problem->seq_q, unbounded_tokens);
  }
}

FlashRow mode_range() {
  return {.id = "FAG-C63",
          .statement = "sparseMode is one of 0 to 8.",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = always,
          .holds =
              [](const FlashCall& c) {
                return c.attributes.sparse_mode >= first_mode &&
                       c.attributes.sparse_mode <= last_mode;
              },
          .violations = {{"negative", [](FlashCall& c) { c.attributes.sparse_mode = -1; }},
                         {"nine", [](FlashCall& c) { c.attributes.sparse_mode = 9; }}}};
}

/// FAG-Q15: the padded pages list 0 to 8, the mode page and the host code exclude these two.
FlashRow padded_modes() {
  return {.id = "FAG-C64",
          .statement = "Sparse modes 7 and 8 are for packed sequences, not for the padded layouts.",
          .source = {upstream_modes, "modes 7 and 8"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = always,
          .holds =
              [](const FlashCall& c) {
                return c.attributes.sparse_mode != 7 && c.attributes.sparse_mode != 8;
              },
          .violations = {{"seven",
                          [](FlashCall& c) {
                            attach_mask(c, 7, {compressed_mask_edge, compressed_mask_edge});
                          }},
                         {"eight", [](FlashCall& c) {
                            attach_mask(c, 8, {compressed_mask_edge, compressed_mask_edge});
                          }}}};
}

FlashRow mask_shapes() {
  return {.id = "FAG-C67",
          .statement =
              "attenMask is [S,S], [1,1,S,S], [B,1,S,S] or [B,N,S,S] in sparse modes 0, 1 and 5, "
              "3072 x 2048 in mode 6, and 2048 x 2048 in the others.",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies =
              [](const FlashCall& c) { return given(c.parameters.atten_mask) && key_as_given(c); },
          .holds = mask_fits_mode,
          .violations = {{"batch", grow_mask<0>},
                         {"heads", grow_mask<1>},
                         {"rows", grow_mask<2>},
                         {"columns", grow_mask<3>},
                         {"rank", drop_mask_axis},
                         {"left_up_edge",
                          [](FlashCall& c) {
                            attach_mask(c, 2, {2048, 2047});
                          }},
                         {"right_down_edge",
                          [](FlashCall& c) {
                            attach_mask(c, 3, {1024, 1024});
                          }},
                         {"prefix_rows", [](FlashCall& c) {
                            attach_prefix(c);
                            reshape(c.parameters.atten_mask, {2048, 2048});
                          }}}};
}

FlashRow window_limits() {
  return {
      .id = "FAG-C68",
      .statement =
          "In sparse modes 0 and 4 a negative preTokens or nextTokens stays within the lengths, "
          "and "
          "in mode 0 preTokens + nextTokens is not negative.",
      .source = {upstream_tiling, "token checks"},
      .standing = Standing::upstream,
      .sides = {Side::accept, Side::reject},
      .applies = [](const FlashCall& c) { return window_in_mode(c, 0) || window_in_mode(c, 4); },
      .holds =
          [](const FlashCall& c) {
            const auto window = window_in_mode(c, 0);
            const auto band = window_in_mode(c, 4);
            return (!window || pages_allow(*window) || host_allows(*window)) &&
                   (!band || host_allows_band(*band));
          },
      .violations = {{"empty", [](FlashCall& c) { confine(c, 0, -1, 0); }},
                     {"next", [](FlashCall& c) { confine(c, 0, unbounded_tokens, -beyond(c)); }},
                     {"pre", [](FlashCall& c) { confine(c, 0, -beyond(c), unbounded_tokens); }},
                     {"band_next",
                      [](FlashCall& c) { confine(c, 4, unbounded_tokens, -beyond(c)); }},
                     {"band_pre",
                      [](FlashCall& c) { confine(c, 4, -beyond(c), unbounded_tokens); }}}};
}

FlashRow disputed_windows() {
  return {.id = "FAG-C68a",
          .statement = "Mode 0 windows on which the pages' limits and the host code's differ.",
          .source = {upstream_modes, "mode 0"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .applies = [](const FlashCall& c) { return window_in_mode(c, 0).has_value(); },
          .holds =
              [](const FlashCall& c) {
                const auto window = window_in_mode(c, 0);
                return !window || pages_allow(*window) == host_allows(*window);
              },
          .violations = {{"between", confine_between_readings}}};
}

FlashRow mask_inside_window() {
  return {
      .id = "FAG-C70",
      .statement = "In sparse modes 0 and 4 whatever attenMask keeps lies inside the window.",
      .source = {unpadding_page, "constraints"},
      .standing = Standing::documented,
      .sides = {Side::content},
      .applies = [](const FlashCall& c) { return masked_in_mode(c, 0) || masked_in_mode(c, 4); },
      .holds = always};
}

/// FAG-Q14: a sum of 0 is refused by TND alone.
FlashRow band_not_empty() {
  return {.id = "FAG-C71",
          .statement =
              "In sparse mode 4 the band is not empty: preTokens + nextTokens is not negative.",
          .source = {upstream_page, "sparseMode"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = [](const FlashCall& c) { return window_in_mode(c, 4).has_value(); },
          .holds =
              [](const FlashCall& c) {
                const auto band = window_in_mode(c, 4);
                return !band || !sum_is_negative(band->pre, band->next);
              },
          .violations = {{"pre", [](FlashCall& c) { confine(c, 4, -1, 0); }},
                         {"next", [](FlashCall& c) { confine(c, 4, 0, -1); }}}};
}

/// FAG-Q31: mode 5 without a usable prefix is a plain user mask, which computes the same.
FlashRow prefix_per_batch() {
  return {.id = "FAG-C72",
          .statement = "Sparse mode 6 needs a prefix of one entry per batch.",
          .source = {upstream_tiling, "prefix checks"},
          .standing = Standing::upstream,
          .sides = {Side::reject},
          .applies = [](const FlashCall& c) { return masked_in_mode(c, 6) && query_as_given(c); },
          .holds =
              [](const FlashCall& c) {
                const auto query = query_as_given(c);
                if (!query || !masked_in_mode(c, 6)) return true;
                const auto& prefix = c.parameters.prefix;
                return prefix && static_cast<std::int64_t>(prefix->size()) == query->batch;
              },
          .violations = {{"null",
                          [](FlashCall& c) {
                            attach_prefix(c);
                            c.parameters.prefix.reset();
                          }},
                         {"short", [](FlashCall& c) {
                            attach_prefix(c);
                            if (c.parameters.prefix) c.parameters.prefix->pop_back();
                          }}}};
}

/// FAG-Q24: an upstream test passes a value outside the documented range and expects success.
FlashRow prefix_range() {
  return {
      .id = "FAG-C73",
      .statement =
          "In sparse modes 5 and 6 every prefix entry is at least max(0, Skv - Sq) and at most "
          "Skv.",
      .source = {unpadding_page, "constraints"},
      .standing = Standing::disputed,
      .sides = {Side::reject},
      .applies =
          [](const FlashCall& c) {
            return c.parameters.prefix && (masked_in_mode(c, 5) || masked_in_mode(c, 6)) &&
                   key_as_given(c);
          },
      .holds =
          [](const FlashCall& c) {
            const auto key = key_as_given(c);
            if (!key || !c.parameters.prefix) return true;
            if (!masked_in_mode(c, 5) && !masked_in_mode(c, 6)) return true;
            const std::int64_t least = std::max<std::int64_t>(0, key->seq - query_as_given(c)->seq);
            return std::ranges::all_of(*c.parameters.prefix,
                                       [&](std::int64_t n) { return least <= n && n <= key->seq; });
          },
      .violations = {{"above",
                      [](FlashCall& c) {
                        attach_prefix(c);
                        if (c.parameters.prefix) ++c.parameters.prefix->back();
                      }},
                     {"negative", [](FlashCall& c) {
                        attach_prefix(c);
                        if (c.parameters.prefix) c.parameters.prefix->back() = -1;
                      }}}};
}

}  // namespace

std::vector<FlashRow> mask_rows() {
  return {mode_range(),     padded_modes(),     mask_shapes(),
          window_limits(),  disputed_windows(), mask_inside_window(),
          band_not_empty(), prefix_per_batch(), prefix_range()};
}

}  // namespace assay::spec::detail
