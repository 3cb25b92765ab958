#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/checks/call_extents.hpp"
#include "checks/refusals.hpp"

/// Checks of the arguments pseType and pseShift (position bias).
namespace assay::optimized::attention {

inline constexpr std::int64_t alibi_rows = 1024;  // rows of the compressed form
inline constexpr std::int64_t outer_default = 1;  // pseType of entry points without this attribute

template <class Op>
std::int64_t type_of(const spec::Call<Op>& call) {
  return has_pse_type(call.entry_point) ? call.attributes.pse_type : outer_default;
}

template <class Op>
bool generated(const spec::Call<Op>& call) {
  return type_of(call) == 2 || type_of(call) == 3;
}

template <class Op>
Refusal type(const spec::Call<Op>& call) {
  return takes_ropes(call) ? std::nullopt : within("pseType", type_of(call), 0, 3);
}

template <class Op>
Refusal type_without_pse(const spec::Call<Op>& call) {
  if (takes_ropes(call)) return std::nullopt;
  return unless(is_given(call.parameters.pse_shift) || type_of(call) == outer_default,
                "pseType is " + std::to_string(type_of(call)) +
                    " and pse_shift is null; without pse_shift, pseType must be 1");
}

/// Returns the accepted shapes of a bias tensor with pseType 0 or 1. In TND, the shapes with four
/// axes use the longest sequences; a bias with one axis contains the sequences one after the other.
/// `whole`: true if the bias may also have one row for all queries, instead of one row for every
/// query.
template <class Op>
std::vector<spec::Shape> outer_shapes(const spec::Call<Op>& call, bool whole) {
  const CallExtents e = extents_of(call);
  std::vector<spec::Shape> shapes;
  if (whole)
    shapes = {{e.batch, e.heads_q, e.seq_q, e.seq_kv},
              {e.batch, e.heads_q, 1, e.seq_kv},
              {1, e.heads_q, e.seq_q, e.seq_kv}};
  if (is_tnd(call) || e.seq_q >= alibi_rows)
    shapes.insert(shapes.end(), {{e.batch, e.heads_q, alibi_rows, e.seq_kv},
                                 {1, e.heads_q, alibi_rows, e.seq_kv}});
  if (is_tnd(call))
    shapes.insert(shapes.end(),
                  {{saturated_count({call.parameters.key.shape[0], e.heads_q})}, {score_count(e)}});
  return shapes;
}

/// Checks the shape of the position bias. `outer`: the accepted shapes if pseType is 0 or 1.
template <class Op>
Refusal pse_shape(const spec::Call<Op>& call, const std::vector<spec::Shape>& outer) {
  const spec::Parameter& pse = call.parameters.pse_shift;
  const CallExtents e = extents_of(call);
  const std::vector<spec::Shape> slopes = {{e.heads_q}, {e.batch, e.heads_q}};
  std::string choices;
  for (const spec::Shape& legal : generated(call) ? slopes : outer) {
    if (pse.shape == legal) return std::nullopt;
    choices += (choices.empty() ? "" : " or ") + text_of(legal);
  }
  return "shape of pse_shift is " + text_of(pse.shape) + "; pseType " +
         std::to_string(type_of(call)) + " needs " + choices;
}

inline std::string both(std::int64_t q, std::int64_t kv) {
  return std::to_string(q) + " and " + std::to_string(kv);
}

template <class Op>
Refusal generated_lengths(const spec::Call<Op>& call) {
  if (!generated(call) || is_tnd(call)) return std::nullopt;
  const CallExtents e = extents_of(call);
  return unless(e.seq_q == e.seq_kv, "lengths of query and key are " + both(e.seq_q, e.seq_kv) +
                                         "; pseType " + std::to_string(type_of(call)) +
                                         " requires equal lengths");
}

/// Returns whether pse_shift (position bias) has the compressed form of 1024 rows. With 1024
/// queries this form equals the full form.
template <class Op>
bool compressed(const spec::Call<Op>& call, const CallExtents& e) {
  const spec::Parameter& pse = call.parameters.pse_shift;
  return is_given(pse) && !generated(call) && pse.shape.size() == 4 && pse.shape[2] == alibi_rows &&
         e.seq_q != alibi_rows;
}

template <class Op>
Refusal alibi(const spec::Call<Op>& call) {
  const CallExtents e = extents_of(call);
  if (!compressed(call, e)) return std::nullopt;
  if (!is_tnd(call) && e.seq_q != e.seq_kv)
    return "lengths of query and key are " + both(e.seq_q, e.seq_kv) +
           "; a pse_shift of 1024 rows requires equal lengths";
  if (!is_given(call.parameters.atten_mask))
    return "atten_mask is null; a pse_shift of 1024 rows needs a causal mask";
  const auto& a = call.attributes;
  const bool has_window = a.sparse_mode == 0 || a.sparse_mode == 4;
  const bool causal = !has_window || (a.pre_tokens >= e.seq_q && a.next_tokens == 0);
  return unless(causal, "preTokens is " + std::to_string(a.pre_tokens) + " and nextTokens is " +
                            std::to_string(a.next_tokens) +
                            "; with a pse_shift of 1024 rows preTokens must be at least " +
                            std::to_string(e.seq_q) + " and nextTokens 0");
}

/// Checks that every sequence has at least one query. The documents require no minimum for keys.
template <class Op>
Refusal no_empty_sequence(const spec::Call<Op>& call) {
  if (!is_tnd(call) || !is_given(call.parameters.pse_shift)) return std::nullopt;
  const CallExtents e = extents_of(call);
  for (std::size_t b = 0; b < e.lengths_q.size(); ++b)
    if (e.lengths_q[b] == 0)
      return "length of query of sequence " + std::to_string(b) +
             " is 0; with pse_shift it must be at least 1";
  return std::nullopt;
}

template <class Op>
Refusal no_pse_in_mode_7(const spec::Call<Op>& call) {
  const spec::Parameter& pse = call.parameters.pse_shift;
  return unless(!masked_in_mode(call, 7) || !is_given(pse),
                "pse_shift has shape " + text_of(pse.shape) + "; it must be null in sparseMode 7");
}

/// The start indices qStartIdx and kvStartIdx: the positions of the first query and the first key
/// of a sequence.
struct Starts {
  std::int64_t q = 0, kv = 0;
};

/// Returns the start indices of a sequence. Start indices apply only if the entry point has them
/// and the caller passes both.
template <class Op>
Starts starts_of(const spec::Call<Op>& call) {
  const auto& q = call.parameters.q_start_idx;
  const auto& kv = call.parameters.kv_start_idx;
  if (!has_pse_type(call.entry_point) || !q || !kv || q->empty() || kv->empty()) return {};
  return {q->front(), kv->front()};
}

/// Returns whether q + starts.q == kv + starts.kv. The comparison cannot overflow, for any 64-bit
/// starts and non-negative lengths.
inline bool end_together(std::int64_t q, std::int64_t kv, const Starts& starts) {
  const auto modular = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const bool same_sign = (q >= kv) == (starts.kv >= starts.q);
  return same_sign && modular(q) - modular(kv) == modular(starts.kv) - modular(starts.q);
}

template <class Op>
Refusal lengths_in_mode_8(const spec::Call<Op>& call) {
  if (!masked_in_mode(call, 8) || !is_given(call.parameters.pse_shift)) return std::nullopt;
  const CallExtents e = extents_of(call);
  for (std::size_t b = 0; b < e.lengths_q.size(); ++b) {
    const Starts starts = b == 0 ? starts_of(call) : Starts{};
    if (!end_together(e.lengths_q[b], e.lengths_kv[b], starts))
      return "lengths of sequence " + std::to_string(b) + " are " +
             both(e.lengths_q[b], e.lengths_kv[b]) + " from positions " +
             both(starts.q, starts.kv) +
             "; with pse_shift in sparseMode 8, queries and keys must end at the same position";
  }
  return std::nullopt;
}
}  // namespace assay::optimized::attention
