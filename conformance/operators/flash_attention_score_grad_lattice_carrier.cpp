#include "flash_attention_score_grad_lattice_carrier.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace assay::conformance::lattice {
namespace {

constexpr std::int64_t key_bit = 4, key_constant = 16, key_offset = 8;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Keys in an order in which neighbours stay together, so that rows at the edge of a mask find two of them in a cell.
std::vector<std::int32_t> paired_order(std::int64_t keys, Draws& draws) {
  std::vector<std::int32_t> pairs = permutation((keys + 1) / 2, draws);
  const auto last = static_cast<std::int32_t>(pairs.size()) - 1;
  const std::int64_t first = draws.integer(0, 2);
  if (first < 2) {
    const auto wanted = std::find(pairs.begin(), pairs.end(), first == 0 ? last : 0);
    std::iter_swap(pairs.begin(), wanted);
  }
  std::vector<std::int32_t> order;
  for (const std::int32_t pair : pairs)
    for (std::int32_t j = 2 * pair; j < std::min<std::int64_t>(keys, 2 * pair + 2); ++j)
      order.push_back(j);
  return order;
}

}  // namespace

std::vector<std::int32_t> permutation(std::int64_t count, Draws& draws) {
  std::vector<std::int32_t> order(at(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t k = count - 1; k > 0; --k) std::swap(order[at(k)], order[at(draws.integer(0, k))]);
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
  const std::vector<std::int32_t> words = permutation(cells, draws);
  if (cells >= keys) {
    for (std::int64_t j = 0; j < keys; ++j) codes_[at(j)] = words[at(j)];
  } else {
    // Cells of a few keys can be attended to in rows that keep many keys; one cell takes all keys that are left.
    std::fill(codes_.begin(), codes_.end(), words[0]);
    std::int64_t cell = 1, room = 2;
    for (const std::int32_t j : paired_order(keys, draws)) {
      if (room == 0) {
        ++cell;
        room = cells > 4 && draws.one_in(3) ? 4 : 2;
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
  const std::vector<std::int32_t> order = paired_order(plan_.problem.seq_kv, draws);
  const auto lower = static_cast<std::int32_t>(draws.sign());
  // A maximum other than 0 is as good as an offset; without offsets the wanted keys have level 0, the others lie on
  // one side of it.
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto j = at(order[k]);
    if (!plan_.offsets)
      codes_[j] = k < 2 ? 0 : lower;
    else
      codes_[j] = k < 8 ? std::array<std::int32_t, 8>{2, 2, -2, -2, 1, 1, -1, -1}[k] : 0;
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
