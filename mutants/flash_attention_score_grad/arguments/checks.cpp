#include "flash_attention_score_grad/arguments/checks.hpp"

#include <algorithm>
#include <array>

namespace assay::mutants {
namespace {

using spec::Parameter;
using spec::Status;
using Member = Parameter Op::Parameters::*;
using P = Op::Parameters;

bool is_packed(const FlashCall& c) { return is_unpadding(c.entry_point); }

bool has_padded_layout(const FlashCall& c) {
  const std::string& layout = *c.attributes.input_layout;
  return is_packed(c) || layout == "BSH" || layout == "SBH" || layout == "BSND" || layout == "BNSD";
}

bool has_ranks_of_layout(const FlashCall& c) {
  const std::size_t rank = c.attributes.input_layout->size();
  const auto fits = [&](Member m) { return (c.parameters.*m).shape.size() == rank; };
  return std::ranges::all_of(std::array{&P::query, &P::key, &P::value, &P::dy, &P::attention_in,
                                        &P::dq, &P::dk, &P::dv},
                             fits) &&
         (!has_rope(c.entry_point) ||
          std::ranges::all_of(std::array{&P::query_rope, &P::key_rope, &P::dq_rope, &P::dk_rope},
                              fits));
}

/// Heads and their size, folded into one axis by BSH and SBH.
bool is_folded(const FlashCall& c) {
  return *c.attributes.input_layout == "BSH" || *c.attributes.input_layout == "SBH";
}

std::int64_t axis(const FlashCall& c, const Parameter& parameter, char name) {
  return parameter.shape.at(c.attributes.input_layout->find(name));
}

std::vector<std::int64_t> lengths_of(const std::optional<std::vector<std::int64_t>>& sums) {
  std::vector<std::int64_t> lengths;
  std::int64_t before = 0;
  if (!sums) return lengths;
  for (const std::int64_t sum : *sums) {
    lengths.push_back(sum - before);
    before = sum;
  }
  return lengths;
}

std::int64_t longest(const std::vector<std::int64_t>& lengths) {
  return lengths.empty() ? 0 : std::ranges::max(lengths);
}

bool has_head_num_of_query(const FlashCall& c) {
  const std::int64_t head_num = c.attributes.head_num;
  if (head_num <= 0) return false;
  if (is_folded(c))
    return c.parameters.query.shape.at(2) % head_num == 0 &&
           c.parameters.softmax_max.shape.at(1) == head_num;
  return head_num == heads_q_of(c);
}

bool has_one_head_dim(const FlashCall& c) {
  if (is_folded(c)) return head_dim_of(c) > 0 && c.parameters.key.shape.at(2) % head_dim_of(c) == 0;
  return c.parameters.key.shape.back() == head_dim_of(c);
}

bool has_value_within_key(const FlashCall& c) {
  const std::int64_t last = c.parameters.value.shape.back();
  if (heads_kv_of(c) == 0) return true;  // FAG-C37 has no heads
  return (is_folded(c) ? last / heads_kv_of(c) : last) <= head_dim_of(c);
}

bool has_rope_sizes(const FlashCall& c) {
  if (!has_rope(c.entry_point)) return true;
  const std::int64_t rope = c.parameters.query_rope.shape.back();
  return head_dim_of(c) % 8 == 0 && rope % 8 == 0 && rope <= head_dim_of(c) &&
         rope == c.parameters.key_rope.shape.back();
}

bool has_statistics_shape(const FlashCall& c) {
  const spec::Shape expected = is_packed(c)
                                   ? spec::Shape{c.parameters.query.shape[0], heads_q_of(c), 8}
                                   : spec::Shape{batch_of(c), heads_q_of(c), seq_q_of(c), 8};
  return c.parameters.softmax_max.shape == expected && c.parameters.softmax_sum.shape == expected;
}

bool has_prefix_of_batch(const FlashCall& c) {
  if (!given(c.parameters.atten_mask) || c.attributes.sparse_mode != 6) return true;
  const auto& prefix = c.parameters.prefix;
  return prefix && static_cast<std::int64_t>(prefix->size()) == batch_of(c);
}

bool drops(const FlashCall& c) {
  return !has_rope(c.entry_point) && c.attributes.keep_prob > 0 && c.attributes.keep_prob < 1;
}

bool has_bits_for_scores(const FlashCall& c) {
  if (!drops(c) || !given(c.parameters.drop_mask)) return true;
  return spec::element_count(c.parameters.drop_mask.shape) >= (scores_of(c) + 7) / 8;
}

std::vector<Check> shape_checks() {
  constexpr Status invalid = Status::param_invalid;
  return {
      {"FAG-C30", invalid, "input_layout must be BSH, SBH, BSND or BNSD", has_padded_layout},
      {"FAG-C31", invalid, "input_layout must be TND",
       [](const FlashCall& c) { return !is_packed(c) || *c.attributes.input_layout == "TND"; }},
      {"FAG-C32", invalid, "ranks must be that of input_layout", has_ranks_of_layout},
      {"FAG-C38", invalid, "head_num must be the number of query heads", has_head_num_of_query},
      {"FAG-C34", invalid, "query and key must have one head size", has_one_head_dim},
      {"FAG-C45", invalid, "head sizes with rope must be multiples of 8", has_rope_sizes},
      {"FAG-C37", invalid, "heads of key must divide the heads of query",
       [](const FlashCall& c) {
         return heads_kv_of(c) > 0 && heads_q_of(c) % heads_kv_of(c) == 0;
       }},
      {"FAG-C35", invalid, "the head size of value must not exceed that of key",
       has_value_within_key},
      {"FAG-C46", invalid, "statistics must have 8 replicas of every row", has_statistics_shape},
  };
}

std::vector<Check> value_checks() {
  constexpr Status invalid = Status::param_invalid;
  return {
      {"FAG-C60", invalid, "keep_prob must be in (0, 1]",
       [](const FlashCall& c) {
         return c.attributes.keep_prob > 0 && c.attributes.keep_prob <= 1;
       }},
      {"FAG-C61", invalid, "keep_prob must be 1 with rope",
       [](const FlashCall& c) { return !has_rope(c.entry_point) || c.attributes.keep_prob == 1; }},
      {"FAG-C12", invalid, "dropout needs a drop_mask",
       [](const FlashCall& c) { return !drops(c) || given(c.parameters.drop_mask); }},
      {"FAG-C62", invalid, "drop_mask must have a bit for every score", has_bits_for_scores},
      {"FAG-C63", invalid, "sparse_mode must be in 0..8",
       [](const FlashCall& c) {
         return c.attributes.sparse_mode >= 0 && c.attributes.sparse_mode <= 8;
       }},
      {"FAG-C65", invalid, "sparse_mode must not be 5 or 6 with rope",
       [](const FlashCall& c) {
         return !has_rope(c.entry_point) ||
                (c.attributes.sparse_mode != 5 && c.attributes.sparse_mode != 6);
       }},
      {"FAG-C67", invalid, "atten_mask must have an element for every score",
       [](const FlashCall& c) { return has_compressing_mode(c) || has_mask_shape_of_mode(c); }},
      {"FAG-C67b", invalid, "atten_mask must have the edges of its sparse_mode",
       [](const FlashCall& c) { return !has_compressing_mode(c) || has_mask_shape_of_mode(c); }},
      {"FAG-C72", invalid, "sparse_mode 6 needs a prefix of every sequence", has_prefix_of_batch},
      {"FAG-C83", invalid, "softmax_in_layout must be empty or same_as_input",
       [](const FlashCall& c) {
         const auto& layout = c.attributes.softmax_in_layout;
         return !has_softmax_in_layout(c.entry_point) ||
                (layout && (layout->empty() || *layout == "same_as_input"));
       }},
  };
}

}  // namespace

std::vector<std::int64_t> lengths_q_of(const FlashCall& c) {
  return lengths_of(c.parameters.actual_seq_qlen);
}
std::vector<std::int64_t> lengths_kv_of(const FlashCall& c) {
  return lengths_of(c.parameters.actual_seq_kvlen);
}

std::int64_t batch_of(const FlashCall& c) {
  return is_packed(c) ? static_cast<std::int64_t>(lengths_q_of(c).size())
                      : axis(c, c.parameters.query, 'B');
}

std::int64_t heads_q_of(const FlashCall& c) {
  return is_folded(c) ? c.attributes.head_num : axis(c, c.parameters.query, 'N');
}

std::int64_t head_dim_of(const FlashCall& c) {
  return is_folded(c) ? c.parameters.query.shape.at(2) / c.attributes.head_num
                      : c.parameters.query.shape.back();
}

std::int64_t heads_kv_of(const FlashCall& c) {
  if (is_folded(c) && head_dim_of(c) == 0) return 0;
  return is_folded(c) ? c.parameters.key.shape.at(2) / head_dim_of(c)
                      : axis(c, c.parameters.key, 'N');
}

std::int64_t seq_q_of(const FlashCall& c) {
  return is_packed(c) ? longest(lengths_q_of(c)) : axis(c, c.parameters.query, 'S');
}

std::int64_t seq_kv_of(const FlashCall& c) {
  return is_packed(c) ? longest(lengths_kv_of(c)) : axis(c, c.parameters.key, 'S');
}

std::int64_t scores_of(const FlashCall& c) {
  if (!is_packed(c)) return batch_of(c) * heads_q_of(c) * seq_q_of(c) * seq_kv_of(c);
  const std::vector<std::int64_t> queries = lengths_q_of(c), keys = lengths_kv_of(c);
  std::int64_t pairs = 0;
  for (std::size_t b = 0; b < std::min(queries.size(), keys.size()); ++b)
    pairs += queries[b] * keys[b];
  return heads_q_of(c) * pairs;
}

bool has_compressing_mode(const FlashCall& c) {
  return c.attributes.sparse_mode > 1 && c.attributes.sparse_mode != 5;
}

bool has_mask_shape_of_mode(const FlashCall& c) {
  if (!given(c.parameters.atten_mask)) return true;
  const spec::Shape& shape = c.parameters.atten_mask.shape;
  if (shape.size() != 2 && shape.size() != 4) return false;
  const spec::Shape edges = {shape.end()[-2], shape.end()[-1]};
  const std::int64_t mode = c.attributes.sparse_mode, batch = batch_of(c);
  const spec::Shape expected = mode == 6                 ? spec::Shape{3072, 2048}
                               : has_compressing_mode(c) ? spec::Shape{2048, 2048}
                                                         : spec::Shape{seq_q_of(c), seq_kv_of(c)};
  if (edges != expected) return false;
  return shape.size() == 2 || ((shape[0] == 1 || shape[0] == batch) &&
                               (shape[1] == 1 || (shape[0] == batch && shape[1] == heads_q_of(c))));
}

std::vector<Check> all_checks() {
  std::vector<Check> all = presence_checks();
  for (const auto& more : {type_checks(), shape_checks(), value_checks(), pse_checks()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace assay::mutants
