#include <algorithm>

#include "flash_attention_score_grad/arguments/checks.hpp"

namespace assay::mutants {
namespace {

constexpr spec::Status invalid = spec::Status::param_invalid;

std::int64_t pse_type_of(const FlashCall& c) {
  return has_pse_type(c.entry_point) ? c.attributes.pse_type : 1;
}

bool has_shape_of_bias(const FlashCall& c, const spec::Shape& shape) {
  const std::int64_t heads = heads_q_of(c);
  if (is_unpadding(c.entry_point) && shape.size() == 1)
    return shape[0] == heads * c.parameters.key.shape[0] || shape[0] == scores_of(c);
  if (shape.size() != 4 || shape[1] != heads || shape[3] != seq_kv_of(c)) return false;
  const bool is_per_batch = shape[0] == batch_of(c);
  if (shape[2] == spec::compressed_pse_rows || shape[2] == seq_q_of(c))
    return is_per_batch || shape[0] == 1;
  return shape[2] == 1 && is_per_batch;
}

bool has_pse_shape(const FlashCall& c) {
  if (!given(c.parameters.pse_shift)) return true;
  const spec::Shape& shape = c.parameters.pse_shift.shape;
  const std::int64_t heads = heads_q_of(c);
  if (pse_type_of(c) >= 2)
    return shape == spec::Shape{heads} || shape == spec::Shape{batch_of(c), heads};
  return has_shape_of_bias(c, shape);
}

/// Sequences of mode 8 with a bias are square, the first one after its start indices.
bool has_square_sequences(const FlashCall& c) {
  const Op::Parameters& p = c.parameters;
  if (!is_unpadding(c.entry_point) || c.attributes.sparse_mode != 8) return true;
  if (!given(p.pse_shift) || !given(p.atten_mask)) return true;
  std::vector<std::int64_t> queries = lengths_q_of(c), keys = lengths_kv_of(c);
  const bool both =
      p.q_start_idx && p.kv_start_idx && !p.q_start_idx->empty() && !p.kv_start_idx->empty();
  if (has_pse_type(c.entry_point) && both) {
    queries[0] += p.q_start_idx->front();
    keys[0] += p.kv_start_idx->front();
  }
  return queries == keys;
}

}  // namespace

std::vector<Check> pse_checks() {
  return {
      {"FAG-C09", invalid, "rope takes no pse_shift",
       [](const FlashCall& c) {
         return !has_rope(c.entry_point) || !given(c.parameters.pse_shift);
       }},
      {"FAG-C79", invalid, "pse_shift must have a shape of its type", has_pse_shape},
      {"FAG-C75", invalid, "mode 8 with a pse_shift needs square sequences", has_square_sequences},
      {"FAG-C82", invalid, "sequences without queries take no pse_shift",
       [](const FlashCall& c) {
         if (!is_unpadding(c.entry_point) || !given(c.parameters.pse_shift)) return true;
         return std::ranges::count(lengths_q_of(c), 0) == 0;
       }},
  };
}

}  // namespace assay::mutants
