#include "flash_attention_score_grad_lattice_carrier.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace assay::conformance::lattice {
namespace {

constexpr std::int64_t key_bit = 4, key_constant = 16, key_offset = 8;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Keys in a random order, but the first two and two neighbours elsewhere, often the last ones,
/// come first: rows of any causal mask then find one, two or four of these four.
std::vector<std::int32_t> wanted_order(std::int64_t keys, Draws& draws) {
  std::vector<std::int32_t> order = permutation(keys, draws);
  const std::int64_t other =
      draws.one_in(2) ? keys - 2 : draws.integer(0, std::max<std::int64_t>(keys - 2, 0));
  const auto rank = [&](std::int32_t j) {
    return j < 2 ? 0 : j == other || j == other + 1 ? 1 : 2;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t one, std::int32_t next) { return rank(one) < rank(next); });
  return order;
}

/// `word` with its bits in another order.
std::int64_t permuted(std::int64_t word, std::span<const std::int32_t> bits) {
  std::int64_t result = 0;
  for (std::size_t bit = 0; bit < bits.size(); ++bit) result |= (word >> bit & 1) << bits[bit];
  return result;
}

/// Of four keys a user mask often leaves three, of two never a number that does not fit.
std::int64_t first_room(const Op::Problem& p) {
  const bool user_mask = p.sparse_mode < 2 && p.atten_mask != spec::MaskShape::absent;
  return user_mask || p.seq_kv < 4 ? 2 : 4;
}

}  // namespace

std::vector<std::int32_t> permutation(std::int64_t count, Draws& draws) {
  std::vector<std::int32_t> order(at(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t k = count - 1; k > 0; --k)
    std::swap(order[at(k)], order[at(draws.integer(0, k))]);
  return order;
}

Carrier::Carrier(const Plan& plan, const Random& group)
    : plan_(plan), code_bits_(plan.code_bits), codes_(at(plan.problem.seq_kv)) {
  assign_channels(draws(group, Purpose::channels));
  if (plan.problem.head_dim == 1)
    deal_levels(draws(group, Purpose::codes));
  else
    deal_codes(draws(group, Purpose::codes));
}

void Carrier::assign_channels(Draws draws) {
  const std::int64_t head_dim = plan_.problem.head_dim;
  channels_.resize(at(head_dim));
  const std::vector<std::int32_t> order = permutation(head_dim, draws);
  const auto channel = [&](std::int64_t k) -> Channel& { return channels_[at(order[at(k)])]; };
  std::int64_t next = 0;
  for (std::int64_t bit = 0; bit < code_bits_; ++bit) channel(next++) = {Role::code, bit};
  if (head_dim == 1) code_bits_ = 0;
  channel(next++) = {Role::constant, 0};
  has_offset_ = plan_.offsets && head_dim >= next + 4;
  if (has_offset_) channel(next++) = {Role::offset, 0};
  bool left = draws.one_in(2);
  while (next < head_dim) {
    if (plan_.paired && next + 1 < head_dim && draws.one_in(2)) {
      channel(next) = {Role::plus, 0};
      channel(next + 1) = {Role::minus, order[at(next)]};
      next += 2;
    } else {
      channel(next++) = {left ? Role::left_only : Role::right_only, 0};
      left = !left;
    }
  }
}

void Carrier::deal_codes(Draws draws) {
  const std::int64_t cells = std::int64_t{1} << code_bits_, keys = plan_.problem.seq_kv;
  if (cells >= keys) {
    // Words of neighbours differ in one bit, so that a row can spell all but that bit of a key at a
    // mask's edge.
    const std::vector<std::int32_t> bits = permutation(code_bits_, draws);
    const std::int64_t flipped = draws.integer(0, cells - 1);
    for (std::int64_t j = 0; j < keys; ++j)
      codes_[at(j)] = static_cast<std::int32_t>(permuted(j ^ (j >> 1), bits) ^ flipped);
  } else {
    const std::vector<std::int32_t> words = permutation(cells, draws);
    // Cells of a few keys can be attended to in rows that keep many keys; one cell takes all keys
    // that are left.
    std::fill(codes_.begin(), codes_.end(), words[0]);
    std::int64_t cell = 1, room = first_room(plan_.problem);
    for (const std::int32_t j : wanted_order(keys, draws)) {
      if (room == 0) {
        ++cell;
        room = std::int64_t{2} << (cells > 4 ? draws.integer(0, 2) : 0);
      }
      if (cell == cells) break;
      codes_[at(j)] = words[at(cell)];
      --room;
    }
  }
  cell_begin_.assign(at(cells + 1), 0);
  for (const std::int32_t code : codes_) ++cell_begin_[at(code + 1)];
  std::partial_sum(cell_begin_.begin(), cell_begin_.end(), cell_begin_.begin());
  std::vector<std::int32_t> next(cell_begin_.begin(), cell_begin_.end() - 1);
  cell_keys_.resize(codes_.size());
  for (std::int64_t j = 0; j < keys; ++j)
    cell_keys_[at(next[at(codes_[at(j)])]++)] = static_cast<std::int32_t>(j);
}

void Carrier::deal_levels(Draws draws) {
  const std::vector<std::int32_t> order = wanted_order(plan_.problem.seq_kv, draws);
  const auto lower = static_cast<std::int32_t>(draws.sign());
  // A maximum other than 0 is as good as an offset; without offsets the wanted keys have level 0,
  // the others lie on one side of it.
  for (std::int64_t k = 0; k < plan_.problem.seq_kv; ++k) {
    const auto j = at(order[at(k)]);
    if (!plan_.offsets)
      codes_[j] = k < first_room(plan_.problem) ? 0 : lower;
    else
      codes_[j] = k < 8 ? std::array<std::int32_t, 8>{2, 2, -2, -2, 1, 1, -1, -1}[at(k)] : 0;
  }
}

std::span<const std::int32_t> Carrier::cell(std::uint32_t code) const {
  const std::int32_t begin = cell_begin_[code], end = cell_begin_[code + 1];
  return std::span(cell_keys_).subspan(at(begin), at(end - begin));
}

void Carrier::spell_key(std::int64_t j, std::span<std::int32_t> row) const {
  for (std::size_t d = 0; d < row.size(); ++d) {
    const Channel& channel = channels_[d];
    if (channel.role == Role::code)
      row[d] = static_cast<std::int32_t>((code(j) >> channel.index & 1) != 0 ? key_bit : -key_bit);
    else if (channel.role == Role::constant)
      row[d] = static_cast<std::int32_t>(row.size() == 1 ? key_bit * level(j) : key_constant);
    else if (channel.role == Role::offset)
      row[d] = key_offset;
  }
}

void Carrier::spell_query(const Choice& choice, std::span<std::int32_t> row) const {
  // In units of 2^query_exponent a channel of X/8 is 16 times this.
  const std::int64_t unit = plan_.scale.sign << std::max(plan_.scale.shift, 3);
  const std::int64_t spelt = std::popcount(choice.care);
  for (std::size_t d = 0; d < row.size(); ++d) {
    const Channel& channel = channels_[d];
    std::int64_t value = row[d];
    if (channel.role == Role::code) {
      const bool set = (choice.code >> channel.index & 1) != 0;
      value = (choice.care >> channel.index & 1) == 0 ? 0 : (set ? 16 : -16) * unit;
    } else if (channel.role == Role::constant) {
      value = row.size() == 1 ? choice.direction * 32 * unit : -4 * spelt * unit;
    } else if (channel.role == Role::offset) {
      value = choice.maximum / plan_.scale.factor * unit / 8;
    }
    row[d] = static_cast<std::int32_t>(value);
  }
}

}  // namespace assay::conformance::lattice
