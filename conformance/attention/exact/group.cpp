#include "attention/exact/group.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/spec/at.hpp"

namespace assay::conformance::exact {
namespace {

using spec::at;

std::int64_t halved(std::int64_t magnitude, int times) {
  return std::max<std::int64_t>(1, magnitude >> std::min(times, 62));
}

/// Returns how many times `magnitude` can be halved before it is 1.
int halvings(std::int64_t magnitude) { return bit_length(magnitude) - 1; }

std::vector<Channel> value_channels(const ExactPlan& plan, Draws draws) {
  const std::int64_t dim = plan.problem.head_dim_v;
  const std::vector<std::int32_t> order = permutation(dim, draws);
  std::vector<Channel> channels(at(dim));
  for (std::int64_t k = plan.shared_channels; k < dim; ++k) {
    if (plan.paired && k + 1 < dim && draws.one_in(2)) {
      channels[at(order[at(k)])] = {Role::plus, 0};
      channels[at(order[at(k + 1)])] = {Role::minus, order[at(k)]};
      ++k;
    } else {
      channels[at(order[at(k)])] = {Role::left_only, 0};
    }
  }
  return channels;
}

/// Returns the role of each value channel, for cases in which value has the numbers of key.
/// `of_key`: the roles of the channels of query and key. In a pair of channels, a key has equal
/// numbers and dy has opposite numbers, so that their products cancel in dP.
std::vector<Channel> channels_of_keys(const ExactPlan& plan, std::span<const Channel> of_key,
                                      Draws draws) {
  const std::int64_t dim = plan.problem.head_dim_v;
  std::vector<Channel> channels(at(dim), Channel{Role::right_only, 0});
  for (std::int64_t d = 0; d < dim; ++d) {
    const auto [role, index] = of_key[at(d)];
    if (role == Role::left_only) channels[at(d)].role = Role::left_only;
    if (role == Role::right_only && !draws.one_in(4)) channels[at(d)].role = Role::both;
    if (role != Role::minus || index >= dim) continue;
    channels[at(d)] = {Role::minus, index};
    channels[at(index)].role = Role::plus;
  }
  return channels;
}

/// Returns a random nonzero integer whose magnitude is at most `magnitude`.
std::int32_t nonzero(std::int64_t magnitude, Draws& draws) {
  return static_cast<std::int32_t>(draws.sign() * draws.integer(1, magnitude));
}

/// Returns dS * keep_prob * 4^k after the kernel has rounded dS to the type of its intermediates;
/// the row attends to 2^k keys. Returns nothing if dS is an exact tie and the case must not contain
/// ties.
std::optional<std::int64_t> staged(const ExactPlan& plan, std::int64_t dscore, int log2_count) {
  if (!plan.staged_rounding) return dscore;
  const spec::Numerics& n = plan.numerics;
  const int exponent = plan.drop_shift - 2 * log2_count;
  const Dyadic exact{.numerator = dscore, .exponent = exponent};
  const spec::Rounding rounding = plan.unique_staging ? spec::Rounding::unknown : n.round_stage;
  const AcceptableBits bits = acceptable_bits(exact, n.stage, rounding, n.overflow);
  if (bits.first != bits.second) return std::nullopt;
  const double value = spec::from_bits(bits.first, spec::format_of(n.stage));
  return static_cast<std::int64_t>(std::ldexp(value, -exponent));
}

}  // namespace

GroupBuilder::GroupBuilder(const ExactPlan& plan, const Sides& sides, const KeyHead& head)
    : plan_(&plan),
      head_(head),
      dropout_(&sides.dropout),
      random_(stream(plan.seed, Stream::exact_case)
                  .bits(static_cast<std::uint64_t>(head.b * plan.problem.heads_kv + head.kv)),
              static_cast<std::uint64_t>(Stream::exact_case)),
      score_code_(plan, head, random_),
      value_channels_(
          plan.value == ValueForm::own
              ? value_channels(plan, Draws(draws(random_, Purpose::channels).random(), 1))
              : channels_of_keys(plan, score_code_.channels(),
                                 Draws(draws(random_, Purpose::channels).random(), 1))) {
  const std::int64_t group = plan.problem.group();
  Chooser chooser(plan, head, score_code_, sides);
  const Random choices = draws(random_, Purpose::choices).random();
  for (std::int64_t n = head.kv * group; n < (head.kv + 1) * group; ++n)
    for (std::int64_t i = 0; i < head.queries; ++i)
      choices_.push_back(chooser.choose(n, i, Draws(choices, choices_.size())));
}

/// Returns the number of attempts that failed although the data were already as small as possible,
/// because a sum still needed too many bits.
int GroupBuilder::persistence(const Thinning& thinning) const {
  const int dk = thinning.dk - halvings(plan_->magnitudes.data);
  const int dv = thinning.dv - halvings(plan_->magnitudes.dy_only);
  const int dq = thinning.dq - halvings(plan_->magnitudes.data);
  return std::max({dk, dv, dq, 0});
}

Magnitudes GroupBuilder::reduced(const Thinning& thinning) const {
  Magnitudes m = plan_->magnitudes;
  m.dy_only = halved(m.dy_only, thinning.dv);
  m.dy_shared = halved(m.dy_shared, persistence(thinning));
  return m;
}

bool GroupBuilder::thinned_out(std::int64_t r, const Thinning& thinning) const {
  constexpr int before_muting = 4;
  const int times = persistence(thinning) - before_muting;
  const std::int64_t i = r % head_.queries;
  if (times <= 0 || i == 0 || i == head_.queries - 1) return false;
  return !Draws(draws(random_, Purpose::thinning).random(), static_cast<std::uint64_t>(r))
              .one_in(std::int64_t{1} << std::min(times, 40));
}

Group GroupBuilder::build(const Thinning& thinning) const {
  const Op::Problem& p = plan_->problem;
  const std::int64_t rows = p.group() * head_.queries;
  Group group{.head = head_,
              .query = Matrix(rows, plan_->width()),
              .key = Matrix(head_.keys, plan_->width()),
              .value = Matrix(head_.keys, p.head_dim_v),
              .dy = Matrix(rows, p.head_dim_v),
              .rows = {}};
  group.rows.resize(at(rows));
  Magnitudes keys = reduced(thinning), queries = keys;
  keys.data = halved(keys.data, thinning.dq);
  queries.data = halved(queries.data, thinning.dk);
  fill_keys(group, keys);
  fill_values(group);
  for (std::int64_t r = 0; r < rows; ++r) {
    fill_query(group, r, queries);
    fill_row(group, r, thinning);
  }
  return group;
}

void GroupBuilder::fill_keys(Group& group, const Magnitudes& magnitudes) const {
  const Random random = draws(random_, Purpose::key).random();
  // If value has the numbers of key, these numbers have a magnitude of at most 1 in the channels
  // where dy is not 0.
  const auto largest = [&](std::size_t d) {
    const bool shared = plan_->value != ValueForm::own && d < value_channels_.size() &&
                        value_channels_[d].role == Role::both;
    return shared ? 1 : magnitudes.data;
  };
  for (std::int64_t j = 0; j < head_.keys; ++j) {
    Draws draw(random, static_cast<std::uint64_t>(j));
    const std::span<std::int32_t> key = group.key.row(j);
    for (std::size_t d = 0; d < key.size(); ++d) {
      const Role role = score_code_.channels()[d].role;
      if (role == Role::right_only || role == Role::plus)
        key[d] = static_cast<std::int32_t>(draw.integer(-largest(d), largest(d)));
    }
    for (std::size_t d = 0; d < key.size(); ++d)
      if (const Channel& channel = score_code_.channels()[d]; channel.role == Role::minus)
        key[d] = key[at(channel.index)];
    score_code_.spell_key(j, key);
  }
}

void GroupBuilder::fill_values(Group& group) const {
  const Random random = draws(random_, Purpose::value).random();
  for (std::int64_t j = 0; j < head_.keys; ++j) {
    Draws draw(random, static_cast<std::uint64_t>(j));
    const std::span<std::int32_t> value = group.value.row(j);
    if (plan_->value != ValueForm::own) {
      std::ranges::copy(group.key.row(j).first(value.size()), value.begin());
      continue;
    }
    for (std::size_t d = 0; d < value.size(); ++d)
      if (value_channels_[d].role != Role::left_only)
        value[d] = static_cast<std::int32_t>(draw.integer(-1, 1));
    for (std::size_t d = 0; d < value.size(); ++d)
      if (const Channel& channel = value_channels_[d]; channel.role == Role::minus)
        value[d] = value[at(channel.index)];
  }
}

void GroupBuilder::fill_query(Group& group, std::int64_t r, const Magnitudes& magnitudes) const {
  Draws draw(draws(random_, Purpose::query).random(), static_cast<std::uint64_t>(r));
  const std::span<std::int32_t> query = group.query.row(r);
  const std::int64_t one = std::int64_t{1} << -query_exponent(plan_->scale);
  for (std::size_t d = 0; d < query.size(); ++d) {
    const Role role = score_code_.channels()[d].role;
    if (role == Role::left_only || role == Role::plus)
      query[d] = static_cast<std::int32_t>(one * draw.integer(-magnitudes.data, magnitudes.data));
  }
  for (std::size_t d = 0; d < query.size(); ++d)
    if (const Channel& channel = score_code_.channels()[d]; channel.role == Role::minus)
      query[d] = -query[at(channel.index)];
  score_code_.spell_query(choices_[at(r)], query);
}

/// Computes the row of attention_in: the output of the forward pass, with dropout.
void GroupBuilder::fill_output(Group& group, std::int64_t r, Draws& draws) const {
  Row& row = group.rows[at(r)];
  const std::int64_t n = head_.kv * plan_->problem.group() + r / head_.queries;
  row.log2_count = std::countr_zero(row.choice.keys.size());
  row.output.assign(at(plan_->problem.head_dim_v), 0);
  for (std::size_t member = 0; member < row.choice.keys.size(); ++member) {
    const std::int32_t j = row.choice.keys[member];
    if (!dropout_->keeps(head_.b, n, r % head_.queries, j)) continue;
    row.kept |= std::uint32_t{1} << member;
    const std::span<const std::int32_t> value = group.value.row(j);
    for (std::size_t d = 0; d < value.size(); ++d) row.output[d] += value[d];
  }
  if (!plan_->shifts_output || head_.keys != 1) return;
  for (std::size_t d = 0; d < row.output.size(); ++d)
    if (value_channels_[d].role == Role::both) row.output[d] += draws.integer(-1, 1);
}

void GroupBuilder::fill_row(Group& group, std::int64_t r, const Thinning& thinning) const {
  constexpr int most_draws = 16;
  Row& row = group.rows[at(r)];
  row.choice = choices_[at(r)];
  const std::span<std::int32_t> dy = group.dy.row(r);
  row.muted = !row.choice.dead() && (!row.choice.exact || thinned_out(r, thinning));
  Draws draw(draws(random_, Purpose::dy).random(), static_cast<std::uint64_t>(r));
  if (row.choice.exact) fill_output(group, r, draw);
  if (row.muted) return;
  const Magnitudes magnitudes = reduced(thinning);
  for (int attempt = 0; attempt < most_draws; ++attempt) {
    draw_dy(dy, row, magnitudes, draw);
    if (row.choice.dead() || set_dscore(group, r, row)) return;
  }
  std::fill(dy.begin(), dy.end(), 0);
  row.dscore.clear();
  row.muted = true;
}

void GroupBuilder::draw_dy(std::span<std::int32_t> dy, const Row& row, const Magnitudes& magnitudes,
                           Draws& draw) const {
  std::vector<std::size_t> shared;
  for (std::size_t d = 0; d < dy.size(); ++d) {
    const Role role = value_channels_[d].role;
    if (role == Role::left_only || role == Role::plus)
      dy[d] = static_cast<std::int32_t>(draw.integer(-magnitudes.dy_only, magnitudes.dy_only));
    else if (role == Role::both)
      shared.push_back(d), dy[d] = 0;
  }
  for (std::size_t d = 0; d < dy.size(); ++d)
    if (const Channel& channel = value_channels_[d]; channel.role == Role::minus)
      dy[d] = -dy[at(channel.index)];
  const std::int64_t budget = dy_budget(*plan_, row.log2_count);
  const std::int64_t count =
      std::min({static_cast<std::int64_t>(shared.size()), budget, magnitudes.shared_per_row});
  if (count == 0) return;
  const std::int64_t largest = std::min(magnitudes.dy_shared, budget / count);
  for (std::int64_t k = 0; k < count; ++k) {
    std::swap(shared[at(k)],
              shared[at(draw.integer(k, static_cast<std::int64_t>(shared.size()) - 1))]);
    std::int32_t value = nonzero(largest, draw);
    if (plan_->odd_dy && value % 2 == 0) value += value > 0 ? -1 : 1;
    dy[shared[at(k)]] = value;
  }
}

/// Sets dS of the attended keys, in units of 1 / keep_prob. The formula is P (dP - delta), where P
/// = 2^-k and delta is the product of dy and attention_in. Returns false if the kernel may round dS
/// in more than one way.
bool GroupBuilder::set_dscore(const Group& group, std::int64_t r, Row& row) const {
  const std::span<const std::int32_t> dy = group.dy.row(r);
  std::int64_t delta = 0;
  for (std::size_t d = 0; d < dy.size(); ++d) delta += dy[d] * row.output[d];
  row.dscore.clear();
  for (std::size_t member = 0; member < row.choice.keys.size(); ++member) {
    const std::span<const std::int32_t> value = group.value.row(row.choice.keys[member]);
    std::int64_t dprob = 0;
    for (std::size_t d = 0; row.keeps(member) && d < dy.size(); ++d)
      dprob += std::int64_t{dy[d]} * value[d];
    const auto dscore = staged(*plan_, (dprob << row.log2_count) - delta, row.log2_count);
    if (!dscore) return false;
    row.dscore.push_back(*dscore);
  }
  return true;
}

}  // namespace assay::conformance::exact
