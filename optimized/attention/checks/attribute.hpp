#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "assay/spec/attention.hpp"
#include "attention/checks/call_extents.hpp"
#include "checks/refusals.hpp"

/// Checks of the arguments keepProb, dropMask, sparseMode and the mask.
namespace assay::optimized::attention {

inline constexpr std::int64_t edge = spec::compressed_mask_edge, prefix_mask_rows = 3072;
inline constexpr std::int64_t last_mode = 8;

/// Returns whether the mode is 7 or 8. In these modes, the queries of a causal problem are divided
/// among devices, and a call computes one part. The modes exist only in layout TND.
inline bool is_outer_split(std::int64_t mode) { return mode == 7 || mode == 8; }

/// Clamps a token count, so that the sum of two counts cannot overflow.
inline std::int64_t tokens(std::int64_t given) {
  constexpr std::int64_t far = std::int64_t{1} << 40;
  return std::clamp(given, -far, far);
}

template <class Op>
Refusal keep_prob(const spec::Call<Op>& call) {
  const double p = call.attributes.keep_prob;
  return unless(p > 0 && p <= 1, "keepProb is " + text_of(p) + "; it must be in (0, 1]");
}

template <class Op>
Refusal drop_mask_given(const spec::Call<Op>& call) {
  return unless(!(call.attributes.keep_prob < 1) || is_given(call.parameters.drop_mask),
                "drop_mask is null; keepProb below 1 requires it");
}

template <class Op>
Refusal drop_mask_size(const spec::Call<Op>& call) {
  if (!(call.attributes.keep_prob < 1)) return std::nullopt;
  const std::int64_t scores = score_count(extents_of(call));
  const std::int64_t needed = scores / 8 + (scores % 8 != 0);
  const std::int64_t given = saturated_count(call.parameters.drop_mask.shape);
  return unless(given >= needed, "drop_mask has " + std::to_string(given) +
                                     " B; it must have at least " + std::to_string(needed) +
                                     ", one bit per score");
}

template <class Op>
Refusal sparse_mode(const spec::Call<Op>& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  return unless(0 <= mode && mode <= last_mode,
                "sparseMode is " + std::to_string(mode) + "; it must be 0 to 8");
}

template <class Op>
Refusal varlen_modes(const spec::Call<Op>& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  return unless(
      is_tnd(call) || !is_outer_split(mode),
      "sparseMode is " + std::to_string(mode) + "; modes 7 and 8 exist only in layout TND");
}

template <class Op>
std::vector<spec::Shape> legal_mask_shapes(const spec::Call<Op>& call) {
  const CallExtents e = extents_of(call);
  const std::int64_t mode = call.attributes.sparse_mode;
  if ((mode >= 2 && mode <= 4) || mode == 6 || is_outer_split(mode)) {
    const std::int64_t rows = mode == 6 ? prefix_mask_rows : edge;
    return {{rows, edge},
            {1, 1, rows, edge},
            {e.batch, 1, rows, edge},
            {e.batch, e.heads_q, rows, edge}};
  }
  return {{e.batch, 1, e.seq_q, e.seq_kv},
          {e.batch, e.heads_q, e.seq_q, e.seq_kv},
          {e.seq_q, e.seq_kv},
          {1, 1, e.seq_q, e.seq_kv}};
}

template <class Op>
Refusal mask_shape(const spec::Call<Op>& call) {
  const spec::Parameter& mask = call.parameters.atten_mask;
  if (!is_given(mask)) return std::nullopt;
  std::string choices;
  for (const spec::Shape& shape : legal_mask_shapes(call)) {
    if (mask.shape == shape) return std::nullopt;
    choices += (choices.empty() ? "" : " or ") + text_of(shape);
  }
  return "shape of atten_mask is " + text_of(mask.shape) + "; sparseMode " +
         std::to_string(call.attributes.sparse_mode) + " needs " + choices;
}

/// The numbers of queries and keys in one sequence.
struct Pair {
  std::int64_t q, kv;
};

/// Returns the lengths of the sequences. Sequences at the end with neither queries nor keys are
/// omitted.
template <class Op>
std::vector<Pair> planned_sequences(const spec::Call<Op>& call) {
  const CallExtents e = extents_of(call);
  std::vector<Pair> pairs;
  for (std::size_t b = 0; b < e.lengths_q.size(); ++b)
    pairs.push_back({e.lengths_q[b], e.lengths_kv[b]});
  while (!pairs.empty() && pairs.back().q == 0 && pairs.back().kv == 0) pairs.pop_back();
  return pairs;
}

template <class Op>
Refusal edges_within(const spec::Call<Op>& call, std::int64_t most_back, std::int64_t most_ahead) {
  if (const Refusal refusal = at_least("preTokens", call.attributes.pre_tokens, -most_back))
    return refusal;
  return at_least("nextTokens", call.attributes.next_tokens, -most_ahead);
}

/// Checks that the attention window is not empty: preTokens + nextTokens >= 0.
template <class Op>
Refusal window_open(const spec::Call<Op>& call) {
  const std::int64_t sum = tokens(call.attributes.pre_tokens) + tokens(call.attributes.next_tokens);
  return at_least("preTokens + nextTokens", sum, 0);
}

template <class Op>
Refusal band(const spec::Call<Op>& call) {
  return masked_in_mode(call, 4) ? window_open(call) : std::nullopt;
}

/// Returns the sequence to which sparseMode 7 or 8 applies the band (keys near the diagonal).
inline Pair band_sequence(const std::vector<Pair>& sequences, std::int64_t mode) {
  const auto has_queries = [](const Pair& pair) { return pair.q != 0; };
  if (mode == 7) {
    const auto last = std::find_if(sequences.rbegin(), sequences.rend(), has_queries);
    return last == sequences.rend() ? sequences.front() : *last;
  }
  const auto first = std::find_if(sequences.begin(), sequences.end(), has_queries);
  return first == sequences.end() ? sequences.front() : *first;
}

template <class Op>
Refusal outer_split_limits(const spec::Call<Op>& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  const std::vector<Pair> sequences = planned_sequences(call);
  if (!is_outer_split(mode) || !masked_in_mode(call, mode) || sequences.empty())
    return std::nullopt;
  const Pair pair = band_sequence(sequences, mode);
  const Refusal refusal = edges_within(call, pair.q, pair.kv);
  return refusal ? refusal : window_open(call);
}
}  // namespace assay::optimized::attention
