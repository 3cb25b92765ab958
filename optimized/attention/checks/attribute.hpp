#include <algorithm>

#include "checks/refusals.hpp"
#include "flash_attention_score_grad/checks/call_extents.hpp"
#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using spec::Shape;

constexpr std::int64_t edge = spec::compressed_mask_edge, prefix_mask_rows = 3072;
constexpr std::int64_t last_mode = 8;

/// Returns whether the mode computes the part of one device when the queries of a causal problem
/// are split over devices. Such modes exist only in layout TND.
bool is_outer_split(std::int64_t mode) { return mode == 7 || mode == 8; }

/// Clamps a token count, so that the sum of two counts cannot overflow.
std::int64_t tokens(std::int64_t given) {
  constexpr std::int64_t far = std::int64_t{1} << 40;
  return std::clamp(given, -far, far);
}

Refusal keep_prob(const Call& call) {
  const double p = call.attributes.keep_prob;
  return unless(p > 0 && p <= 1, "keepProb is " + text_of(p) + "; it must be in (0, 1]");
}

Refusal drop_mask_given(const Call& call) {
  return unless(!(call.attributes.keep_prob < 1) || is_given(call.parameters.drop_mask),
                "drop_mask is null; keepProb below 1 requires it");
}

Refusal drop_mask_size(const Call& call) {
  if (!(call.attributes.keep_prob < 1)) return std::nullopt;
  const std::int64_t scores = score_count(extents_of(call));
  const std::int64_t needed = scores / 8 + (scores % 8 != 0);
  const std::int64_t given = saturated_count(call.parameters.drop_mask.shape);
  return unless(given >= needed, "drop_mask has " + std::to_string(given) +
                                     " B; it must have at least " + std::to_string(needed) +
                                     ", one bit per score");
}

Refusal sparse_mode(const Call& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  return unless(0 <= mode && mode <= last_mode,
                "sparseMode is " + std::to_string(mode) + "; it must be 0 to 8");
}

Refusal varlen_modes(const Call& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  return unless(
      is_tnd(call) || !is_outer_split(mode),
      "sparseMode is " + std::to_string(mode) + "; modes 7 and 8 exist only in layout TND");
}

Refusal prefix_modes(const Call& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  return unless(!spec::has_rope(call.entry_point) || (mode != 5 && mode != 6),
                "sparseMode is " + std::to_string(mode) + "; it must not be 5 or 6 on u3");
}

/// Checks that sparseMode is not 5. Only the documentation pages of these two entry points exclude
/// this mode.
Refusal full_prefix_mode(const Call& call) {
  const bool excluded = call.entry_point == spec::FlashEntryPoint::u2 ||
                        call.entry_point == spec::FlashEntryPoint::u4;
  return unless(!excluded || call.attributes.sparse_mode != 5,
                "sparseMode is 5; it must not be 5 on " + std::string(to_string(call.entry_point)));
}

std::vector<Shape> legal_mask_shapes(const Call& call) {
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

Refusal mask_shape(const Call& call) {
  const spec::Parameter& mask = call.parameters.atten_mask;
  if (!is_given(mask)) return std::nullopt;
  std::string choices;
  for (const Shape& shape : legal_mask_shapes(call)) {
    if (mask.shape == shape) return std::nullopt;
    choices += (choices.empty() ? "" : " or ") + text_of(shape);
  }
  return "shape of atten_mask is " + text_of(mask.shape) + "; sparseMode " +
         std::to_string(call.attributes.sparse_mode) + " needs " + choices;
}

/// The number of queries and keys of one sequence.
struct Pair {
  std::int64_t q, kv;
};

/// Returns the lengths of the sequences. Sequences at the end with neither queries nor keys are
/// omitted.
std::vector<Pair> planned_sequences(const Call& call) {
  const CallExtents e = extents_of(call);
  std::vector<Pair> pairs;
  for (std::size_t b = 0; b < e.lengths_q.size(); ++b)
    pairs.push_back({e.lengths_q[b], e.lengths_kv[b]});
  while (!pairs.empty() && pairs.back().q == 0 && pairs.back().kv == 0) pairs.pop_back();
  return pairs;
}

Refusal edges_within(const Call& call, std::int64_t most_back, std::int64_t most_ahead) {
  if (const Refusal refusal = at_least("preTokens", call.attributes.pre_tokens, -most_back))
    return refusal;
  return at_least("nextTokens", call.attributes.next_tokens, -most_ahead);
}

/// Checks that the window is not empty: preTokens + nextTokens >= 0.
Refusal window_open(const Call& call) {
  const std::int64_t sum = tokens(call.attributes.pre_tokens) + tokens(call.attributes.next_tokens);
  return at_least("preTokens + nextTokens", sum, 0);
}

/// Checks preTokens and nextTokens. Positions are counted from the upper-left corner in mode 0,
/// from the lower-right corner in mode 4. For mode 0, the documentation page and the vendor's code
/// limit the values by different lengths; this check accepts both. Sequences without queries or
/// keys set no limit.
Refusal token_limits(const Call& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  if (!masked_in_mode(call, 0) && !masked_in_mode(call, 4)) return std::nullopt;
  for (const auto& [q, kv] : planned_sequences(call)) {
    if (q == 0 || kv == 0) continue;
    const Refusal refusal = mode == 0 ? edges_within(call, std::max(q - 1, kv), std::max(kv - 1, q))
                                      : edges_within(call, q, kv);
    if (refusal) return refusal;
  }
  return mode == 0 ? window_open(call) : std::nullopt;
}

Refusal band(const Call& call) {
  return masked_in_mode(call, 4) ? window_open(call) : std::nullopt;
}

/// Returns the sequence to which sparseMode 7 or 8 applies the band.
Pair band_sequence(const std::vector<Pair>& sequences, std::int64_t mode) {
  const auto has_queries = [](const Pair& pair) { return pair.q != 0; };
  if (mode == 7) {
    const auto last = std::find_if(sequences.rbegin(), sequences.rend(), has_queries);
    return last == sequences.rend() ? sequences.front() : *last;
  }
  const auto first = std::find_if(sequences.begin(), sequences.end(), has_queries);
  return first == sequences.end() ? sequences.front() : *first;
}

Refusal outer_split_limits(const Call& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  const std::vector<Pair> sequences = planned_sequences(call);
  if (!is_outer_split(mode) || !masked_in_mode(call, mode) || sequences.empty())
    return std::nullopt;
  const Pair pair = band_sequence(sequences, mode);
  const Refusal refusal = edges_within(call, pair.q, pair.kv);
  return refusal ? refusal : window_open(call);
}

/// Checks the prefix array. In sparseMode 5 the mask itself contains the prefixes, so the array may
/// be missing. The check accepts every number of keys, as the vendor's code does, although the
/// documentation page limits it.
Refusal prefix_given(const Call& call) {
  if (call.attributes.sparse_mode != 6 || !is_given(call.parameters.atten_mask))
    return std::nullopt;
  const std::int64_t batch = extents_of(call).batch;
  const auto& prefix = call.parameters.prefix;
  if (!prefix) return "prefix is null; sparseMode 6 requires it";
  return unless(static_cast<std::int64_t>(prefix->size()) == batch,
                "prefix has " + std::to_string(prefix->size()) +
                    " entries; it needs one for each sequence, " + std::to_string(batch));
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"FAG-C60", invalid, keep_prob},
    {"FAG-C12", spec::Status::param_nullptr, drop_mask_given},
    {"FAG-C62", invalid, drop_mask_size},
    {"FAG-C63", invalid, sparse_mode},
    {"FAG-C64", invalid, varlen_modes},
    {"FAG-C65", invalid, prefix_modes},
    {"FAG-C66a", invalid, full_prefix_mode},
    {"FAG-C67", invalid, mask_shape},
    {"FAG-C68", invalid, token_limits},
    {"FAG-C69", invalid, outer_split_limits},
    {"FAG-C71", invalid, band},
    {"FAG-C72", invalid, prefix_given},
};

}  // namespace

std::span<const Check> attribute_checks() { return checks; }

}  // namespace assay::optimized
