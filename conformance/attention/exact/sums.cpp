#include "attention/exact/sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "assay/spec/at.hpp"

namespace assay::conformance::exact {

/// A sum of integers. Also collects the data that decide whether the sum is exact in any order of
/// additions.
class Total {
 public:
  void add(std::int64_t summand) {
    const std::int64_t magnitude = summand < 0 ? -summand : summand;
    value_ += summand;
    magnitude_ += magnitude;
    bits_ |= magnitude;
  }
  std::int64_t value() const { return value_; }
  std::int64_t magnitude() const { return magnitude_; }
  /// Returns the number of bits that any partial sum needs: log2 of an upper bound of sum |summand|
  /// / g, where g divides all summands.
  int length() const {
    if (bits_ == 0) return 0;
    const int grid = std::countr_zero(static_cast<std::uint64_t>(bits_));
    return bit_length((magnitude_ - 1) >> grid);
  }

 private:
  std::int64_t value_ = 0, magnitude_ = 0, bits_ = 0;
};

namespace {

/// The units of dk and dv are small enough for rows that attend to up to 2^3 keys.
constexpr int most_log2_count = 3;

using spec::at;

Excess excess_of(Sum sum, const std::string& where, int length, int limit) {
  return {sum, where + " needs " + std::to_string(length) + " bits, the limit is " +
                   std::to_string(limit)};
}

/// Stores for every column the largest magnitude, and the bits that are set in at least one
/// element.
struct Columns {
  explicit Columns(std::int64_t count) : largest(at(count)), bits(at(count)) {}
  void add(std::span<const std::int32_t> row) {
    for (std::size_t d = 0; d < row.size(); ++d) {
      const std::int64_t magnitude = std::abs(std::int64_t{row[d]});
      largest[d] = std::max(largest[d], magnitude);
      bits[d] |= magnitude;
    }
  }
  std::vector<std::int64_t> largest, bits;
};

/// Returns an upper bound of the bits that a score of `query` with any key needs.
int score_length(std::span<const std::int32_t> query, const Columns& keys) {
  std::int64_t magnitude = 0, bits = 0;
  for (std::size_t d = 0; d < query.size(); ++d) {
    if (query[d] == 0 || keys.bits[d] == 0) continue;
    const std::int64_t value = std::abs(std::int64_t{query[d]});
    magnitude += value * keys.largest[d];
    bits |= (value & -value) * (keys.bits[d] & -keys.bits[d]);
  }
  if (bits == 0) return 0;
  return bit_length((magnitude - 1) >> std::countr_zero(static_cast<std::uint64_t>(bits)));
}

int factor_bits(const ExactPlan& plan) { return plan.scale.factor == 1 ? 0 : 2; }

}  // namespace

Sums::Sums(const ExactPlan& plan, const Group& group)
    : plan_(&plan), group_(&group), begin_(at(group.head.keys + 1)) {
  for (const Row& row : group.rows)
    if (!row.dscore.empty())
      for (const std::int32_t j : row.choice.keys) ++begin_[at(j + 1)];
  for (std::size_t j = 1; j < begin_.size(); ++j) begin_[j] += begin_[j - 1];
  pairs_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t r = 0; r < group.rows.size(); ++r) {
    const Row& row = group.rows[r];
    if (row.dscore.empty()) continue;
    for (std::size_t member = 0; member < row.choice.keys.size(); ++member)
      pairs_[next[at(row.choice.keys[member])]++] = {static_cast<std::int64_t>(r), member};
  }
}

std::span<const Sums::Pair> Sums::pairs_of(std::int64_t j) const {
  return std::span(pairs_).subspan(begin_[at(j)], begin_[at(j + 1)] - begin_[at(j)]);
}

std::optional<Excess> Sums::excess() const {
  if (auto excess = row_excess()) return excess;
  return gradient_excess();
}

/// Equation E46. Checks scores, row terms and dS of every row: the number of bits they need, and
/// the range of fp16.
std::optional<Excess> Sums::row_excess() const {
  Columns keys(plan_->width());
  for (std::int64_t j = 0; j < group_->head.keys; ++j) keys.add(group_->key.row(j));
  // If value has numbers of its own (not those of key), they are 0, 1 or -1 in the channels where
  // dy is not 0.
  const auto largest_value = [&](std::size_t d) -> std::int64_t {
    return plan_->value == ValueForm::own ? 1 : std::max<std::int64_t>(1, keys.largest[d]);
  };
  const int scaled_limit = plan_->sum_bits - factor_bits(*plan_);
  const int operand_limit = plan_->staged_rounding ? 24 : plan_->operand_bits - factor_bits(*plan_);
  for (std::size_t r = 0; r < group_->rows.size(); ++r) {
    const Row& row = group_->rows[r];
    const std::string where = "of query row " + std::to_string(r);
    const int score = score_length(group_->query.row(static_cast<std::int64_t>(r)), keys);
    if (score > scaled_limit)
      return excess_of(Sum::score, "the score " + where, score, scaled_limit);
    Total dy;
    const auto of_dy = group_->dy.row(static_cast<std::int64_t>(r));
    for (std::size_t d = 0; d < of_dy.size(); ++d)
      dy.add(of_dy[d] * largest_value(d) << most_log2_count);
    const int term = bit_length(dy.magnitude());
    if (term > plan_->sum_bits)
      return excess_of(Sum::row_term, "the row term " + where, term, plan_->sum_bits);
    std::int64_t largest = 0;
    for (const std::int64_t value : row.dscore) largest = std::max(largest, std::abs(value));
    const int operand = bit_length(std::max<std::int64_t>(largest - 1, 0));
    const int allowed = std::max(operand_limit, 0);
    if (operand > allowed) return excess_of(Sum::dscore, "dS " + where, operand, allowed);
    const double value =
        std::ldexp(static_cast<double>(largest), plan_->drop_shift - 2 * row.log2_count);
    if (has_fp16(*plan_) && value > largest_fp16)
      return Excess{Sum::dscore, "dS " + where + " is " + std::to_string(value) +
                                     ", the limit of fp16 is 65504"};
  }
  return std::nullopt;
}

/// Equation E46. Checks one row of an output: the number of bits it needs, and the range of fp16.
std::optional<Excess> Sums::total_excess(Sum sum, std::int64_t row, std::span<const Total> totals,
                                         int exponent) const {
  const auto where = [&] {
    return std::string(sum == Sum::dq   ? "dq"
                       : sum == Sum::dk ? "dk"
                                        : "dv") +
           " of row " + std::to_string(row);
  };
  const bool scaled = sum != Sum::dv;
  const int limit = plan_->sum_bits - (scaled ? factor_bits(*plan_) : 0);
  const std::int64_t factor = scaled ? plan_->scale.factor : 1;
  const bool narrow = plan_->problem.dtype == spec::DType::fp16;
  const double unit = std::ldexp(static_cast<double>(factor), exponent);
  for (const Total& total : totals) {
    if (const int length = total.length(); length > limit)
      return excess_of(sum, where(), length, limit);
    const double value = static_cast<double>(total.value()) * unit;
    if (narrow && std::abs(value) > largest_fp16)
      return Excess{sum, where() + " is " + std::to_string(value) + ", the limit of fp16 is 65504"};
  }
  return std::nullopt;
}

int Sums::dq_exponent(std::int64_t r) const {
  return plan_->drop_shift - plan_->scale.shift - 2 * group_->rows[at(r)].log2_count;
}

int Sums::dk_exponent() const {
  return plan_->drop_shift + query_exponent(plan_->scale) - plan_->scale.shift -
         2 * most_log2_count;
}

int Sums::dv_exponent() const { return plan_->drop_shift - most_log2_count; }

/// E46.
std::optional<Excess> Sums::gradient_excess() const {
  const Op::Problem& p = plan_->problem;
  for (std::int64_t r = 0; r < p.group() * group_->head.queries; ++r) {
    std::vector<Total> dq(at(plan_->width()));
    sum_dq(r, dq);
    if (auto excess = total_excess(Sum::dq, r, dq, dq_exponent(r))) return excess;
  }
  for (std::int64_t j = 0; j < group_->head.keys; ++j) {
    std::vector<Total> dk(at(plan_->width())), dv(at(p.head_dim_v));
    sum_dk(j, dk);
    sum_dv(j, dv);
    if (auto excess = total_excess(Sum::dk, j, dk, dk_exponent())) return excess;
    if (auto excess = total_excess(Sum::dv, j, dv, dv_exponent())) return excess;
    if (plan_->value != ValueForm::merged) continue;
    std::vector<Total> both(at(plan_->width()));
    sum_both(j, both);
    // The sum of dk and dv already contains the factor of the scale, so it has the same limit as
    // dv.
    if (auto excess = total_excess(Sum::dv, j, both, dk_exponent())) return excess;
  }
  return std::nullopt;
}

void Sums::sum_dq(std::int64_t r, std::span<Total> totals) const {
  const Row& row = group_->rows[at(r)];
  for (std::size_t member = 0; member < row.dscore.size(); ++member) {
    const std::span<const std::int32_t> key = group_->key.row(row.choice.keys[member]);
    for (std::size_t d = 0; d < totals.size(); ++d) totals[d].add(row.dscore[member] * key[d]);
  }
}

void Sums::sum_dk(std::int64_t j, std::span<Total> totals, std::int64_t factor) const {
  for (const Pair& pair : pairs_of(j)) {
    const Row& row = group_->rows[at(pair.row)];
    const std::int64_t dscore = factor * row.dscore[pair.member]
                                << 2 * (most_log2_count - row.log2_count);
    const std::span<const std::int32_t> query = group_->query.row(pair.row);
    for (std::size_t d = 0; d < totals.size(); ++d) totals[d].add(dscore * query[d]);
  }
}

void Sums::sum_dv(std::int64_t j, std::span<Total> totals, int shift) const {
  for (const Pair& pair : pairs_of(j)) {
    if (!group_->rows[at(pair.row)].keeps(pair.member)) continue;
    const int of_row = shift + most_log2_count - group_->rows[at(pair.row)].log2_count;
    const std::span<const std::int32_t> dy = group_->dy.row(pair.row);
    for (std::size_t d = 0; d < totals.size(); ++d) totals[d].add(std::int64_t{dy[d]} << of_row);
  }
}

void Sums::sum_both(std::int64_t j, std::span<Total> totals) const {
  sum_dk(j, totals, plan_->scale.sign * plan_->scale.factor);
  sum_dv(j, totals.first(at(plan_->problem.head_dim_v)), dv_exponent() - dk_exponent());
}

Gradients Sums::gradients(std::span<const std::int64_t> query_rows,
                          std::span<const std::int64_t> key_rows) const {
  const Op::Problem& p = plan_->problem;
  const std::int64_t factor = plan_->scale.sign * plan_->scale.factor;
  Gradients result;
  for (std::int64_t head = 0; head < p.group(); ++head)
    for (const std::int64_t i : query_rows) {
      const std::int64_t r = head * group_->head.queries + i;
      std::vector<Total> totals(at(plan_->width()));
      sum_dq(r, totals);
      for (const Total& total : totals)
        result.dq.push_back({factor * total.value(), dq_exponent(r)});
    }
  for (const std::int64_t j : key_rows) {
    std::vector<Total> dk(at(plan_->width())), dv(at(p.head_dim_v));
    if (plan_->value == ValueForm::merged)
      sum_both(j, dk);
    else
      sum_dk(j, dk, factor);
    sum_dv(j, dv);
    for (const Total& total : dk) result.dk.push_back({total.value(), dk_exponent()});
    for (const Total& total : dv) result.dv.push_back({total.value(), dv_exponent()});
  }
  return result;
}

}  // namespace assay::conformance::exact
