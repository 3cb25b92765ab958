#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attention/exact/bias.hpp"
#include "attention/exact/draws.hpp"
#include "attention/exact/dropout.hpp"
#include "attention/exact/plan.hpp"
#include "attention/key_pattern.hpp"

namespace assay::conformance::exact {

/// The purpose of a channel. `plus` and `minus` are a pair of channels: one operand has equal
/// values in the pair, the other operand has opposite values, so that the products cancel.
enum class Role : std::uint8_t {
  code,
  constant,
  raise,
  position,
  parity,
  left_only,
  right_only,
  both,
  plus,
  minus
};

struct Channel {
  Role role = Role::both;
  /// The index of a channel among the channels with the same role. code: the number of the bit;
  /// raise and position: the number of the part; minus: the number of the `plus` channel.
  std::int64_t index = 0;
};

/// The keys to which one row attends, and the data that select them. A key occurs as often as the
/// row attends to it; P = 1 / keys.size().
struct Choice {
  std::vector<std::int32_t> keys;  ///< ascending; empty: a fully masked row
  double maximum = 0;              ///< softmax_max
  double above_maximum = 0;        ///< part of the score that softmax_max lost by rounding
  std::int64_t offset = 0;         ///< maximum of the row, if exact, in units of scale.factor
  std::int64_t raised = 0;         ///< added by products to all scores of the row, same unit
  std::int64_t steepness = 0;      ///< subtracted by products per position of the key
  std::int64_t parity = 0;         ///< added by products to the scores of odd keys
  std::uint32_t code = 0, care = 0;
  std::int64_t direction = 0;  ///< head_dim 1: sign of the query, 0: all keys score 0
  bool exact = false;          ///< keys.size() is 1, 2, 4 or 8

  bool dead() const { return keys.empty(); }
};

/// Writes numbers into query and key so that chosen keys have a score of exactly 0 (or the maximum
/// of the row), and all other keys a score that is at least 128 lower.
///
/// Key j contains a code word: +-4 in each code channel, and 16 in one constant channel. With X =
/// 128 / |scale_value|, a query contains the wanted code: +-X/8 in each code channel, or 0 if it
/// accepts both values of the bit. Its constant channel contains -X/32 per wanted bit, plus the
/// maximum. The score is then -128 per bit that differs. If there is only one channel, keys contain
/// levels instead of codes, and a query selects the largest or smallest level. In raise channels
/// all keys have the same value, so that a query can add an amount to all its scores. In position
/// channels keys contain the digits of their position, to compensate for a slope.
class ScoreCode {
 public:
  ScoreCode(const ExactPlan& plan, const KeyHead& head, const Random& group);

  /// The roles of the channels of query and key. left_only: only the query has data in the channel;
  /// right_only: only the key.
  std::span<const Channel> channels() const { return channels_; }
  std::int64_t level(std::int64_t j) const { return codes_[static_cast<std::size_t>(j)]; }
  std::uint32_t code(std::int64_t j) const {
    return static_cast<std::uint32_t>(codes_[static_cast<std::size_t>(j)]);
  }
  std::span<const std::int32_t> cell(std::uint32_t code) const;
  std::uint32_t code_mask() const { return (std::uint32_t{1} << code_bits_) - 1; }
  /// Returns whether a query can add `raise` to all its scores without rounding.
  bool can_raise(std::int64_t raise) const;

  void spell_key(std::int64_t j, std::span<std::int32_t> row) const;
  /// Units: 2^query_exponent.
  void spell_query(const Choice& choice, std::span<std::int32_t> row) const;

 private:
  void assign_channels(Draws draws);
  void deal_codes(Draws draws);
  void deal_levels(Draws draws);

  const ExactPlan* plan_;
  std::int64_t keys_, code_bits_;
  std::vector<Channel> channels_;
  std::vector<std::int32_t> codes_;
  std::vector<std::int32_t> cell_begin_, cell_keys_;
};

/// The inputs that affect score and weight of a pair in addition to query and key: mask or lists,
/// bias, and dropout.
struct Sides {
  const KeyPattern& key_pattern;
  const Bias& bias;
  const Dropout& dropout;
};

/// Returns the numbers 0 .. count - 1 in random order.
std::vector<std::int32_t> permutation(std::int64_t count, Draws& draws);

/// Chooses the keys to which each query row attends, for one key head. Prefers keys that few other
/// rows use, and the first and last unmasked key of the row.
class Chooser {
 public:
  Chooser(const ExactPlan& plan, const KeyHead& head, const ScoreCode& score_code,
          const Sides& sides);

  Choice choose(std::int64_t n, std::int64_t i, Draws draws);

 private:
  struct Row;
  bool keeps(const Row& row, std::int64_t j) const;
  bool offers(const Row& row, std::int64_t j) const;
  void attend(const Row& row, std::int32_t j, Choice& choice) const;
  bool take(const Row& row, std::uint32_t code, std::uint32_t care, Choice& choice) const;
  std::vector<std::int32_t> wanted_keys(Row& row, Draws& draws) const;
  std::uint32_t edge_bit(std::int64_t kept, std::int64_t excluded) const;
  Choice choose_by_code(Row& row, Draws& draws) const;
  Choice choose_by_level(const Row& row, Draws& draws) const;
  Choice choose_by_distance(const Row& row, Draws& draws) const;
  std::optional<Choice> choose_neighbours(const Row& row, Draws& draws) const;
  void halve(Row& row, Draws& draws) const;
  void raise(const Row& row, Choice& choice, Draws& draws) const;
  bool take_any_cell(const Row& row, Choice& choice) const;

  const ExactPlan* plan_;
  KeyHead head_;
  const ScoreCode* score_code_;
  Sides sides_;
  std::vector<std::int32_t> usage_;
};

}  // namespace assay::conformance::exact
