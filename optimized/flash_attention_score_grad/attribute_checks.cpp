#include <algorithm>

#include "flash_attention_score_grad/call_extents.hpp"
#include "flash_attention_score_grad/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using Refusal = std::optional<std::string>;
using spec::Shape;

constexpr std::int64_t edge = spec::compressed_mask_edge, prefix_mask_rows = 3072;
constexpr std::int64_t last_mode = 8;

Refusal unless(bool holds, const std::string& refusal) {
  return holds ? std::nullopt : Refusal(refusal);
}

/// Tokens, so that sums of two cannot overflow.
std::int64_t tokens(std::int64_t given) {
  constexpr std::int64_t far = std::int64_t{1} << 40;
  return std::clamp(given, -far, far);
}

Refusal keep_prob(const Call& call) {
  const double p = call.attributes.keep_prob;
  return unless(p > 0 && p <= 1, "keepProb is " + std::to_string(p) + "; it must be in (0, 1]");
}

Refusal drop_mask_given(const Call& call) {
  return unless(!(call.attributes.keep_prob < 1) || call.parameters.drop_mask.present,
                "drop_mask is null; keepProb below 1 requires it");
}

Refusal drop_mask_size(const Call& call) {
  if (!(call.attributes.keep_prob < 1)) return std::nullopt;
  const CallExtents e = extents_of(call);
  // As a real number: the product of legal extents does not fit 64 bits.
  const double bits = static_cast<double>(e.batch * e.heads_q) * static_cast<double>(e.seq_q) *
                      static_cast<double>(e.seq_kv);
  const std::int64_t given = spec::element_count(call.parameters.drop_mask.shape);
  return unless(8.0 * static_cast<double>(given) >= bits,
                "drop_mask has " + std::to_string(given) + " B; one bit per score, " +
                    std::to_string(bits) + " in all, is needed");
}

Refusal sparse_mode(const Call& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  return unless(0 <= mode && mode <= last_mode,
                "sparseMode is " + std::to_string(mode) + "; it must be 0 to 8");
}

Refusal varlen_modes(const Call& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  return unless(mode < 7,
                "sparseMode is " + std::to_string(mode) + "; 7 and 8 exist in layout TND only");
}

std::vector<Shape> legal_mask_shapes(const Call& call) {
  const CallExtents e = extents_of(call);
  const std::int64_t mode = call.attributes.sparse_mode;
  if (mode == 6) return {{prefix_mask_rows, edge}, {1, 1, prefix_mask_rows, edge}};
  if (mode >= 2 && mode <= 4) return {{edge, edge}, {1, 1, edge, edge}};
  std::vector<Shape> shapes = {{e.batch, 1, e.seq_q, e.seq_kv},
                               {e.batch, e.heads_q, e.seq_q, e.seq_kv}};
  if (mode != 5 || e.batch == 1) {
    shapes.push_back({e.seq_q, e.seq_kv});
    shapes.push_back({1, 1, e.seq_q, e.seq_kv});
  }
  return shapes;
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

Refusal token_limits(const Call& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  if (mode != 0 && mode != 4) return std::nullopt;
  const CallExtents e = extents_of(call);
  const std::int64_t pre = tokens(call.attributes.pre_tokens);
  const std::int64_t next = tokens(call.attributes.next_tokens);
  const std::int64_t least_pre = -(mode == 0 ? e.seq_kv : e.seq_q);
  const std::int64_t least_next = -(mode == 0 ? e.seq_q : e.seq_kv);
  if (pre < least_pre)
    return "preTokens is " + std::to_string(pre) + "; it must be at least " +
           std::to_string(least_pre);
  if (next < least_next)
    return "nextTokens is " + std::to_string(next) + "; it must be at least " +
           std::to_string(least_next);
  return unless(
      mode == 4 || pre + next >= 0,
      "preTokens + nextTokens is " + std::to_string(pre + next) + "; it must be at least 0");
}

Refusal band(const Call& call) {
  const std::int64_t sum = tokens(call.attributes.pre_tokens) + tokens(call.attributes.next_tokens);
  return unless(call.attributes.sparse_mode != 4 || sum >= 0,
                "preTokens + nextTokens is " + std::to_string(sum) +
                    "; the band of sparseMode 4 must not be empty");
}

bool uses_prefix(const Call& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  return (mode == 5 || mode == 6) && is_given(call.parameters.atten_mask);
}

Refusal prefix_given(const Call& call) {
  if (!uses_prefix(call)) return std::nullopt;
  const std::int64_t batch = extents_of(call).batch;
  const auto& prefix = call.parameters.prefix;
  if (!prefix) return "prefix is null; sparseMode 5 and 6 require it";
  return unless(static_cast<std::int64_t>(prefix->size()) == batch,
                "prefix has " + std::to_string(prefix->size()) + " entries; batch is " +
                    std::to_string(batch));
}

Refusal prefix_range(const Call& call) {
  if (!uses_prefix(call)) return std::nullopt;
  const CallExtents e = extents_of(call);
  const std::int64_t least = std::max<std::int64_t>(0, e.seq_kv - e.seq_q);
  for (const std::int64_t length : *call.parameters.prefix)
    if (length < least || length > e.seq_kv)
      return "prefix is " + std::to_string(length) + "; it must be " + std::to_string(least) +
             " to " + std::to_string(e.seq_kv);
  return std::nullopt;
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"FAG-C60", invalid, keep_prob},      {"FAG-C12", spec::Status::param_nullptr, drop_mask_given},
    {"FAG-C62", invalid, drop_mask_size}, {"FAG-C63", invalid, sparse_mode},
    {"FAG-C64", invalid, varlen_modes},   {"FAG-C67", invalid, mask_shape},
    {"FAG-C68", invalid, token_limits},   {"FAG-C71", invalid, band},
    {"FAG-C72", invalid, prefix_given},   {"FAG-C73", invalid, prefix_range},
};

}  // namespace

std::span<const Check> attribute_checks() { return checks; }

}  // namespace assay::optimized
