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

/// What a channel is for. Of a pair, `plus` and `minus` hold equal values on one side and opposite
/// ones on the other.
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
  std::int64_t index = 0;  ///< code: number of the bit; raise, position: number of the part; minus:
                           ///< channel of its partner
};

/// The keys that one row attends to, each as often as it does, with P = 1 / keys.size(), and what
/// singles them out.
struct Choice {
  std::vector<std::int32_t> keys;  ///< ascending; empty: a dead row
  double maximum = 0;              ///< softmax_max
  double above_maximum = 0;        ///< what the rounding of softmax_max took from the score
  std::int64_t offset = 0;         ///< maximum of the row, where exact, in scale.factor
  std::int64_t raised = 0;         ///< what the products add to all its scores besides, likewise
  std::int64_t steepness = 0;      ///< what they take from them per position of the key, likewise
  std::int64_t parity = 0;         ///< what they add to the scores of odd keys, likewise
  std::uint32_t code = 0, care = 0;
  std::int64_t direction = 0;  ///< head_dim 1: sign of the query, 0: all keys score 0
  bool exact = false;          ///< keys.size() is 1, 2, 4 or 8

  bool dead() const { return keys.empty(); }
};

/// Makes some keys of one key head score exactly 0 (or the offset of the row) and all others at
/// least 128 less.
///
/// Key j spells a code word in channels of +-4, beside a constant 16. A query spells the word that
/// it wants in channels of +-X/8 with X = 128 / |scale_value|, 0 where it takes both values, and
/// -X/32 per spelt bit in the constant channel, which holds the offset, too: the score is -128 per
/// differing bit. With one channel, keys have levels and a query wants an extreme one. Channels in
/// which all keys hold the
/// same raise a row, those in which they hold the digits of their position oppose a slope.
class ScoreCode {
 public:
  ScoreCode(const ExactPlan& plan, const KeyHead& head, const Random& group);

  /// Roles of the channels of query and key; left_only: query, right_only: key.
  std::span<const Channel> channels() const { return channels_; }
  std::int64_t level(std::int64_t j) const { return codes_[static_cast<std::size_t>(j)]; }
  std::uint32_t code(std::int64_t j) const {
    return static_cast<std::uint32_t>(codes_[static_cast<std::size_t>(j)]);
  }
  std::span<const std::int32_t> cell(std::uint32_t code) const;
  std::uint32_t code_mask() const { return (std::uint32_t{1} << code_bits_) - 1; }
  /// Whether a query can raise its scores by `raise` without rounding.
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

/// What decides about scores beside the products.
struct Sides {
  const KeyPattern& key_pattern;
  const Bias& bias;
  const Dropout& dropout;
};

/// A random order of 0 .. count - 1.
std::vector<std::int32_t> permutation(std::int64_t count, Draws& draws);

/// Chooses what every query row of one key head attends to; keys that few rows have used come
/// first, among them the last and the first kept key of the row.
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
