#include "attention/exact/score_code.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "assay/spec/at.hpp"

namespace assay::conformance::exact {
namespace {

constexpr std::int64_t key_bit = 4, key_constant = 16, key_raise = 8;
/// A raise is an amount that a query adds to all its scores. It is split into parts with this
/// number of bits.
constexpr std::int64_t raise_bits = 6;

using spec::at;

/// Returns the keys in random order, but with four keys at the front: the first two keys, and two
/// neighbours elsewhere (often the last two). The rows of any causal mask can then attend to one,
/// two or four of these keys.
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

/// Moves bit k of `word` to position bits[k].
std::int64_t permuted(std::int64_t word, std::span<const std::int32_t> bits) {
  std::int64_t result = 0;
  for (std::size_t bit = 0; bit < bits.size(); ++bit) result |= (word >> bit & 1) << bits[bit];
  return result;
}

/// Returns the number of keys that share the first code: 2 or 4. The number is 2 with a user mask:
/// such a mask often leaves three of four keys, which is not a power of two.
std::int64_t first_room(const ExactPlan& plan, std::int64_t keys) {
  const Op::Problem& p = plan.problem;
  const bool user_mask =
      (p.sparse_mode < 2 || p.sparse_mode == 5) && p.atten_mask != spec::MaskShape::absent;
  return user_mask || plan.bias == BiasForm::flags || keys < 4 ? 2 : 4;
}

/// A raise is an amount that a query adds to all its scores. Returns part `index` of `raise`, which
/// is split into `count` parts; the last part is the remainder.
std::int64_t part_of(std::int64_t raise, std::int64_t index, std::int64_t count) {
  const std::int64_t rest = raise >> raise_bits * index;
  const std::int64_t part = index + 1 == count ? rest : rest & ((1 << raise_bits) - 1);
  return part * (std::int64_t{1} << raise_bits * index);
}

int significant_bits(std::int64_t value) {
  const auto magnitude = static_cast<std::uint64_t>(std::abs(value));
  return magnitude == 0 ? 0
                        : static_cast<int>(std::bit_width(magnitude)) - std::countr_zero(magnitude);
}

}  // namespace

std::vector<std::int32_t> permutation(std::int64_t count, Draws& draws) {
  std::vector<std::int32_t> order(at(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t k = count - 1; k > 0; --k)
    std::swap(order[at(k)], order[at(draws.integer(0, k))]);
  return order;
}

ScoreCode::ScoreCode(const ExactPlan& plan, const KeyHead& head, const Random& group)
    : plan_(&plan),
      keys_(head.keys),
      code_bits_(std::min<std::int64_t>(plan.code_bits,
                                        bit_length(std::max<std::int64_t>(head.keys, 1) - 1))),
      codes_(at(head.keys)) {
  assign_channels(draws(group, Purpose::channels));
  if (plan.width() == 1)
    deal_levels(draws(group, Purpose::codes));
  else
    deal_codes(draws(group, Purpose::codes));
}

void ScoreCode::assign_channels(Draws draws) {
  const std::int64_t width = plan_->width();
  channels_.resize(at(width));
  std::vector<std::int32_t> order = permutation(width, draws);
  if (plan_->problem.head_dim_rope > 0)
    std::ranges::stable_partition(order, [&](std::int32_t channel) {
      return (channel >= plan_->problem.head_dim) == plan_->rope_carries;
    });
  const auto channel = [&](std::int64_t k) -> Channel& { return channels_[at(order[at(k)])]; };
  std::int64_t next = 0;
  for (std::int64_t bit = 0; bit < code_bits_; ++bit) channel(next++) = {Role::code, bit};
  if (width == 1) code_bits_ = 0;
  channel(next++) = {Role::constant, 0};
  for (std::int64_t part = 0; part < plan_->raises; ++part) channel(next++) = {Role::raise, part};
  for (std::int64_t digit = 0; digit < plan_->positions; ++digit)
    channel(next++) = {Role::position, digit};
  if (plan_->parities > 0) channel(next++) = {Role::parity, 0};
  bool left = draws.one_in(2);
  while (next < width) {
    if (plan_->paired && next + 1 < width && draws.one_in(2)) {
      channel(next) = {Role::plus, 0};
      channel(next + 1) = {Role::minus, order[at(next)]};
      next += 2;
    } else {
      channel(next++) = {left ? Role::left_only : Role::right_only, 0};
      left = !left;
    }
  }
}

void ScoreCode::deal_codes(Draws draws) {
  const std::int64_t cells = std::int64_t{1} << code_bits_, keys = keys_;
  if (cells >= keys) {
    // The codes (bit patterns) of neighbouring keys differ in one bit. A row can select the last
    // unmasked key and ignore this bit. If the mask is off by one, the row then attends to a wrong
    // key, and its gradients change.
    const std::vector<std::int32_t> bits = permutation(code_bits_, draws);
    const std::int64_t flipped = draws.integer(0, cells - 1);
    for (std::int64_t j = 0; j < keys; ++j)
      codes_[at(j)] = static_cast<std::int32_t>(permuted(j ^ (j >> 1), bits) ^ flipped);
  } else {
    const std::vector<std::int32_t> words = permutation(cells, draws);
    // Gives each code (bit pattern) to a few keys, except one code, which all remaining keys get.
    // Rows with many unmasked keys can then attend to a few keys with the same code.
    std::fill(codes_.begin(), codes_.end(), words[0]);
    std::int64_t cell = 1, room = first_room(*plan_, keys_);
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

void ScoreCode::deal_levels(Draws draws) {
  const std::vector<std::int32_t> order = wanted_order(keys_, draws);
  const auto lower = static_cast<std::int32_t>(draws.sign());
  // With a single channel, keys have levels (integers in this channel) instead of codes. If the
  // maximum of every row must be 0, the first keys have level 0, and all other levels are 1 or all
  // are -1. Otherwise the levels of the first eight keys give rows other maxima.
  for (std::int64_t k = 0; k < keys_; ++k) {
    const auto j = at(order[at(k)]);
    if (!plan_->offsets)
      codes_[j] = k < first_room(*plan_, keys_) ? 0 : lower;
    else
      codes_[j] = k < 8 ? std::array<std::int32_t, 8>{2, 2, -2, -2, 1, 1, -1, -1}[at(k)] : 0;
  }
}

std::span<const std::int32_t> ScoreCode::cell(std::uint32_t code) const {
  const std::int32_t begin = cell_begin_[code], end = cell_begin_[code + 1];
  return std::span(cell_keys_).subspan(at(begin), at(end - begin));
}

bool ScoreCode::can_raise(std::int64_t raise) const {
  if (raise == 0) return true;
  if (plan_->raises == 0) return false;
  const std::int64_t factor = plan_->scale.factor;
  // The data must also be exact for kernels that multiply a query by the scale before the product,
  // or store scores in a narrow type.
  constexpr int narrowest = 8;
  if (significant_bits(factor * raise) > spec::format_of(plan_->numerics.store_s).significand_bits)
    return false;
  const bool narrow = plan_->numerics.store_s == spec::DType::fp16 ||
                      plan_->numerics.accumulator == spec::Accumulator::fp16;
  if (narrow && static_cast<double>(std::abs(factor * raise)) > largest_fp16) return false;
  const double size =
      std::ldexp(static_cast<double>(std::abs(raise)), plan_->scale.shift) / key_raise;
  if (plan_->problem.dtype == spec::DType::fp16 && size > largest_fp16) return false;
  return significant_bits(factor * part_of(raise, plan_->raises - 1, plan_->raises)) <= narrowest;
}

void ScoreCode::spell_key(std::int64_t j, std::span<std::int32_t> row) const {
  for (std::size_t d = 0; d < row.size(); ++d) {
    const Channel& channel = channels_[d];
    if (channel.role == Role::code)
      row[d] = static_cast<std::int32_t>((code(j) >> channel.index & 1) != 0 ? key_bit : -key_bit);
    else if (channel.role == Role::constant)
      row[d] = static_cast<std::int32_t>(row.size() == 1 ? key_bit * level(j) : key_constant);
    else if (channel.role == Role::raise)
      row[d] = key_raise;
    else if (channel.role == Role::parity)
      row[d] = static_cast<std::int32_t>(j & 1);
    else if (channel.role == Role::position)
      row[d] = static_cast<std::int32_t>(j >> digit_bits * channel.index & ((1 << digit_bits) - 1));
  }
}

/// Equation E45: writes the numbers with which one query selects its keys.
void ScoreCode::spell_query(const Choice& choice, std::span<std::int32_t> row) const {
  // In units of 2^query_exponent, a code channel of the query contains 16 times `unit`. The comment
  // of the class ScoreCode calls this number X/8.
  const std::int64_t unit = plan_->scale.sign << std::max(plan_->scale.shift, 3);
  const std::int64_t spelt = std::popcount(choice.care);
  for (std::size_t d = 0; d < row.size(); ++d) {
    const Channel& channel = channels_[d];
    std::int64_t value = row[d];
    if (channel.role == Role::code) {
      const bool set = (choice.code >> channel.index & 1) != 0;
      value = (choice.care >> channel.index & 1) == 0 ? 0 : (set ? 16 : -16) * unit;
    } else if (channel.role == Role::constant) {
      value = row.size() == 1 ? choice.direction * 32 * unit
                              : -4 * spelt * unit + choice.offset * unit / key_constant;
    } else if (channel.role == Role::raise) {
      value = part_of(choice.raised, channel.index, plan_->raises) * unit / key_raise;
    } else if (channel.role == Role::parity) {
      value = choice.parity * unit;
    } else if (channel.role == Role::position) {
      value = -choice.steepness * unit * (std::int64_t{1} << digit_bits * channel.index);
    }
    row[d] = static_cast<std::int32_t>(value);
  }
}

}  // namespace assay::conformance::exact
