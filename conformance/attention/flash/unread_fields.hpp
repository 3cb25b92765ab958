#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/attention/flash.hpp"

namespace assay::conformance::attention::flash {

using Problem = spec::AttentionProblem;

/// Collects the names of the fields that a call does not read, with an explanation of each.
class Unread {
 public:
  void add(std::string_view field, const std::string& value, std::string_view why) {
    sentences_.push_back("--" + std::string(field) + "=" + value + " " + std::string(why));
  }
  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  std::vector<std::string> sentences_;
};

inline bool has_mask(const Problem& p) { return p.atten_mask != spec::MaskShape::absent; }

inline void add_of_mask(const Problem& p, const Problem& usual, Unread& unread) {
  const bool masked = has_mask(p);
  if (!masked && p.sparse_mode != 0)
    unread.add("sparse_mode", std::to_string(p.sparse_mode),
               p.sparse_mode == 1 || p.sparse_mode == 5
                   ? "hides no key without a mask: add --atten_mask=SS"
                   : "hides no key without a mask: add --atten_mask=compressed");
  const bool has_band = masked && (p.sparse_mode == 4 || p.sparse_mode >= 7);
  constexpr std::string_view needs_band =
      "is not read: add --sparse_mode=4 --atten_mask=compressed";
  if (!has_band && p.pre_tokens != usual.pre_tokens)
    unread.add("pre_tokens", std::to_string(p.pre_tokens), needs_band);
  if (!has_band && p.next_tokens != usual.next_tokens)
    unread.add("next_tokens", std::to_string(p.next_tokens), needs_band);
  if (!p.prefix.empty() && (!masked || (p.sparse_mode != 5 && p.sparse_mode != 6)))
    unread.add("prefix", list_text(p.prefix),
               "is not read: add --sparse_mode=6 --atten_mask=compressed");
  if (!masked && p.mask_dtype != usual.mask_dtype)
    unread.add("mask_dtype", std::string(to_string(p.mask_dtype)),
               "is not read: add --atten_mask=SS");
}

inline void add_of_bias(const Problem& p, const Problem& usual, Unread& unread) {
  const bool has_bias = p.pse_shift != spec::PseShape::absent, has_slopes = p.pse_type >= 2;
  if (!has_bias && p.pse_type != usual.pse_type)
    unread.add("pse_type", std::to_string(p.pse_type),
               has_slopes ? "is not read: add --pse_shift=N" : "is not read: add --pse_shift=BNSS");
  constexpr std::string_view needs_slopes = "is not read: add --pse_type=2 --pse_shift=N";
  if (!(has_bias && has_slopes) && p.slope_dtype != usual.slope_dtype)
    unread.add("slope_dtype", std::string(to_string(p.slope_dtype)), needs_slopes);
  const auto add_start = [&](std::string_view field, const std::vector<std::int64_t>& start,
                             const std::vector<std::int64_t>& other, std::string_view lack) {
    if (start.empty()) return;
    if (!(has_bias && has_slopes))
      unread.add(field, list_text(start), needs_slopes);
    else if (other.empty())
      unread.add(field, list_text(start), lack);
  };
  add_start("q_start_idx", p.q_start_idx, p.kv_start_idx,
            "is read only with the start index of the keys: add --kv_start_idx=0");
  add_start("kv_start_idx", p.kv_start_idx, p.q_start_idx,
            "is read only with the start index of the queries: add --q_start_idx=0");
}

/// Explains each field that the user has set but this case does not use: one sentence per field.
template <class Op>
std::vector<std::string> unread_fields_of(const Case<Op>& c) {
  if (c.track == Track::arguments || c.track == Track::relation) return {};
  const Problem& p = c.problem;
  const Problem usual;
  Unread unread;
  add_of_mask(p, usual, unread);
  add_of_bias(p, usual, unread);
  const bool is_written = p.sparse_mode <= 1 || p.sparse_mode == 5;
  if (c.patterns.mask != Patterns().mask && !(is_written && has_mask(p)))
    unread.add("mask", c.patterns.mask, "is not read: add --atten_mask=SS");
  if (c.patterns.drop != Patterns().drop && !p.has_dropout())
    unread.add("drop", c.patterns.drop, "is not read: add --keep_prob=0.5 --drop_mask=exact");
  if (!p.has_dropout() && p.drop_mask != spec::DropMask::absent)
    unread.add("drop_mask", std::string(to_string(p.drop_mask)),
               "drops nothing while keep_prob is 1: add --keep_prob=0.5");
  if (c.patterns.sink_size != Patterns().sink_size && !p.has_sink())
    unread.add("sink_size", c.patterns.sink_size, "is not read without a sink: add --sink=N");
  return unread.take();
}

}  // namespace assay::conformance::attention::flash
