#include <algorithm>

#include "cases.hpp"

namespace assay::reference {
namespace {

Problem smallest() {
  Problem p;
  p.dtype = spec::DType::fp32;
  p.scale_value = 0.7;
  p.heads_q = 4;
  p.heads_kv = 2;
  p.seq_q = 4;
  p.seq_kv = 5;
  p.head_dim = 3;
  p.head_dim_v = 2;
  return p;
}

Problem masked(std::int64_t mode, spec::MaskShape shape) {
  Problem p = smallest();
  p.sparse_mode = mode;
  p.atten_mask = shape;
  return p;
}

Problem biased(std::int64_t pse_type, spec::PseShape shape) {
  Problem p = smallest();
  p.batch = 2;
  p.pse_type = pse_type;
  p.pse_shift = shape;
  return p;
}

Problem ragged(Problem p) { return with_lengths(std::move(p), {3, 0, 2, 1}, {2, 3, 0, 4}); }

Problem banded(Problem p, std::int64_t pre, std::int64_t next) {
  p.pre_tokens = pre;
  p.next_tokens = next;
  return p;
}

Problem with_prefix(Problem p, std::vector<std::int64_t> prefix) {
  p.batch = static_cast<std::int64_t>(prefix.size());
  p.prefix = std::move(prefix);
  return p;
}

Problem with_dropout(Problem p) {
  p.keep_prob = 0.7;
  p.drop_mask = spec::DropMask::exact;
  return p;
}

Problem with_rope(Problem p) {
  p.head_dim_rope = 2;
  return p;
}

Problem with_lengths_of(Problem p, std::int64_t seq_q, std::int64_t seq_kv) {
  p.seq_q = seq_q;
  p.seq_kv = seq_kv;
  return p;
}

Problem scaled(Problem p, double scale) {
  p.scale_value = scale;
  return p;
}

Problem in_batches(Problem p, std::int64_t batch) {
  p.batch = batch;
  return p;
}

Problem starting_at(Problem p, std::int64_t query, std::int64_t key) {
  p.q_start_idx = {query};
  p.kv_start_idx = {key};
  return p;
}

std::vector<NamedProblem> masked_problems() {
  using enum spec::MaskShape;
  const Problem uint8_mask = [] {
    Problem p = masked(1, one_one_ss);
    p.mask_dtype = spec::DType::uint8;
    return p;
  }();
  return {
      {"without_mask", smallest()},
      {"mode_0_ss", masked(0, ss)},
      {"mode_0_bnss", in_batches(masked(0, bnss), 2)},
      {"mode_1_b1ss", in_batches(masked(1, b_one_ss), 2)},
      {"mode_1_11ss", uint8_mask},
      {"mode_2", masked(2, compressed)},
      {"mode_3", masked(3, compressed)},
      {"mode_4", banded(masked(4, compressed), 2, 0)},
      {"mode_5", with_prefix(masked(5, bnss), {1, 3})},
      {"mode_6", with_prefix(masked(6, compressed), {3, 1})},
      {"mode_3_dead_rows", with_lengths_of(masked(3, compressed), 5, 3)},
      {"negative_scale", scaled(smallest(), -1.3)},
      {"one_query", with_lengths_of(smallest(), 1, 5)},
      {"one_key", with_lengths_of(smallest(), 4, 1)},
  };
}

std::vector<NamedProblem> biased_problems() {
  using enum spec::PseShape;
  return {
      {"pse_0_bnss", biased(0, bnss)},
      {"pse_1_bnss", biased(1, bnss)},
      {"pse_1_bn1s", biased(1, bn1s)},
      {"pse_0_1nss", biased(0, one_nss)},
      {"pse_2_slopes", biased(2, slopes_n)},
      {"pse_3_slopes", biased(3, slopes_bn)},
      {"pse_3_start", starting_at(biased(3, slopes_n), 2, 7)},
      {"dropout", with_dropout(in_batches(smallest(), 2))},
      {"rope", with_rope(smallest())},
      {"pse_dropout_rope", with_rope(with_dropout(biased(0, bnss)))},
  };
}

std::vector<NamedProblem> ragged_problems() {
  using enum spec::MaskShape;
  using Pse = spec::PseShape;
  return {
      {"tnd", ragged(smallest())},
      {"tnd_user_mask", ragged(masked(0, ss))},
      {"tnd_mode_2", ragged(masked(2, compressed))},
      {"tnd_mode_3", ragged(masked(3, compressed))},
      {"tnd_mode_4", ragged(banded(masked(4, compressed), 1, 1))},
      {"tnd_mode_6", ragged(with_prefix(masked(6, compressed), {1, 0, 0, 2}))},
      {"tnd_mode_7", ragged(banded(masked(7, compressed), 2, -1))},
      {"tnd_mode_8", ragged(banded(masked(8, compressed), 2, 1))},
      {"tnd_packed_bn1s", ragged(biased(1, Pse::packed_bn1s))},
      {"tnd_packed_bnss", ragged(biased(0, Pse::packed_bnss))},
      {"tnd_slopes", ragged(biased(2, Pse::slopes_bn))},
      {"tnd_dropout", ragged(with_dropout(smallest()))},
      {"tnd_rope", ragged(with_rope(masked(3, compressed)))},
      {"tnd_everything", ragged(with_rope(with_dropout(biased(3, Pse::slopes_n))))},
  };
}

}  // namespace

Problem with_lengths(Problem p, std::vector<std::int64_t> lengths_q,
                     std::vector<std::int64_t> lengths_kv) {
  p.input_layout = spec::Layout::tnd;
  p.batch = static_cast<std::int64_t>(lengths_q.size());
  p.seq_q = *std::ranges::max_element(lengths_q);
  p.seq_kv = *std::ranges::max_element(lengths_kv);
  p.lengths_q = std::move(lengths_q);
  p.lengths_kv = std::move(lengths_kv);
  return p;
}

std::vector<NamedProblem> small_problems() {
  std::vector<NamedProblem> list = masked_problems();
  for (const auto& more : {biased_problems(), ragged_problems()})
    list.insert(list.end(), more.begin(), more.end());
  return list;
}

}  // namespace assay::reference
