#include "attention/exact/writer.hpp"

#include <cmath>
#include <utility>

#include "assay/conformance/inputs/inputs.hpp"
#include "attention/exact/exact_store.hpp"
#include "attention/statistics.hpp"

namespace assay::conformance::exact {
namespace {

std::optional<spec::Tensor> guarded_if_present(const spec::Parameter& parameter) {
  if (!parameter.present) return std::nullopt;
  return guarded_tensor(parameter);
}

Op::Inputs empty_inputs(const AttentionCase& c) {
  const auto call = spec::call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  const Op::Parameters& t = call.parameters;
  return {.query = guarded_tensor(t.query),
          .key = guarded_tensor(t.key),
          .value = guarded_tensor(t.value),
          .dy = guarded_tensor(t.dy),
          .softmax_max = guarded_tensor(t.softmax_max),
          .softmax_sum = guarded_tensor(t.softmax_sum),
          .attention_in = guarded_tensor(t.attention_in),
          .pse_shift = guarded_if_present(t.pse_shift),
          .drop_mask = guarded_if_present(t.drop_mask),
          .query_rope = guarded_if_present(t.query_rope),
          .key_rope = guarded_if_present(t.key_rope)};
}

}  // namespace

Writer::Writer(const AttentionCase& c, const ExactPlan& plan, const Sides& sides)
    : plan_(&plan),
      seed_(c.seed),
      dropout_(&sides.dropout),
      query_unit_(std::ldexp(1.0, query_exponent(plan.scale))),
      kept_factor_(std::ldexp(1.0, plan.drop_shift)),
      inputs_(empty_inputs(c)),
      queries_(query_extents(plan.problem)),
      query_(target(inputs_.query, queries_)),
      key_(target(inputs_.key, key_extents(plan.problem))),
      value_(target(inputs_.value, value_extents(plan.problem))),
      dy_(target(inputs_.dy, dy_extents(plan.problem))),
      output_(target(inputs_.attention_in, dy_extents(plan.problem))) {
  if (plan.problem.head_dim_rope > 0) {
    if (!inputs_.query_rope || !inputs_.key_rope)
      throw NoExactCase("the entry point has no rope tensors, but head_dim_rope is " +
                        std::to_string(plan.problem.head_dim_rope));
    rope_.push_back(target(*inputs_.query_rope, query_rope_extents(plan.problem)));
    rope_.push_back(target(*inputs_.key_rope, key_rope_extents(plan.problem)));
  }
  if (inputs_.pse_shift) sides.bias.write(*inputs_.pse_shift);
  if (inputs_.drop_mask) sides.dropout.write(*inputs_.drop_mask);
}

Writer::Target Writer::target(spec::Tensor& tensor, const spec::Extents& extents) const {
  return {&tensor, spec::HeadIndex(tensor, plan_->problem.input_layout, extents)};
}

void Writer::write_row(const Target& target, const Place& place, std::span<const std::int32_t> row,
                       double unit) {
  row_.clear();
  for (const std::int32_t number : row) row_.push_back(number * unit);
  write_row(target, place);
}

void Writer::write_row(const Target& target, const Place& place) {
  store_row_exactly(*target.tensor, target.index(place.b, place.n, place.s, 0), target.index.step(),
                    row_, stored_);
}

void Writer::write_split(const Target& main, std::size_t rope, const Place& place,
                         std::span<const std::int32_t> row, double unit) {
  const auto columns = static_cast<std::size_t>(plan_->problem.head_dim);
  write_row(main, place, row.first(columns), unit);
  if (!rope_.empty()) write_row(rope_[rope], place, row.subspan(columns), unit);
}

void Writer::write(const Group& group) {
  const auto [b, kv, queries, keys] = group.head;
  for (std::int64_t j = 0; j < keys; ++j) {
    write_split(key_, 1, {b, kv, j}, group.key.row(j), 1.0);
    write_row(value_, {b, kv, j}, group.value.row(j), 1.0);
  }
  const std::int64_t heads = plan_->problem.group();
  for (std::int64_t r = 0; r < heads * queries; ++r) {
    const Place place{b, kv * heads + r / queries, r % queries};
    const Row& row = group.rows[static_cast<std::size_t>(r)];
    write_split(query_, 0, place, group.query.row(r), query_unit_);
    write_row(dy_, place, group.dy.row(r), 1.0);
    write_statistics(place, row.choice);
    write_output(place, row, group.value);
  }
}

/// A statistics tensor contains several equal copies of each statistic. Returns the index of a
/// row's first copy.
std::int64_t Writer::statistics_element(const spec::Tensor& tensor, const Place& place) const {
  const Op::Problem& p = plan_->problem;
  const spec::Shape& stride = tensor.strides;
  if (!is_packed(p.input_layout))
    return tensor.offset + place.b * stride[0] + place.n * stride[1] + place.s * stride[2];
  const std::int64_t row = p.statistics_order == spec::StatisticsOrder::heads_first
                               ? queries_.row(place.b, place.n, place.s)
                               : (queries_.start(place.b) + place.s) * p.heads_q + place.n;
  return tensor.offset + row / p.heads_q * stride[0] + row % p.heads_q * stride[1];
}

void Writer::write_statistics(const Place& place, const Choice& choice) {
  const attention::RowStatistics row =
      choice.dead() ? attention::dead_statistics_of(plan_->problem, place.b, seed_)
                    : attention::RowStatistics{
                          .max = choice.maximum,
                          .sum = static_cast<float>(static_cast<double>(choice.keys.size()) *
                                                    std::exp(choice.above_maximum))};
  for (const auto& [tensor, value] :
       {std::pair{&inputs_.softmax_max, row.max}, std::pair{&inputs_.softmax_sum, row.sum}}) {
    const std::int64_t first = statistics_element(*tensor, place);
    for (std::int64_t replica = 0; replica < spec::statistics_replicas; ++replica)
      store_exactly(*tensor, first + replica * tensor->strides.back(), value);
  }
}

void Writer::write_output(const Place& place, const Row& row, const Matrix& value) {
  const auto& [b, n, i] = place;
  const double unit = std::ldexp(1.0, plan_->drop_shift - row.log2_count);
  row_.clear();
  for (std::int64_t d = 0; d < plan_->problem.head_dim_v; ++d) {
    const auto channel = static_cast<std::size_t>(d);
    double output = 0;
    if (row.choice.exact) {
      output = static_cast<double>(row.output[channel]) * unit;
    } else if (!row.choice.dead()) {
      for (const std::int32_t j : row.choice.keys)
        if (dropout_->keeps(b, n, i, j)) output += kept_factor_ * value.row(j)[channel];
      output = spec::round_to(output / static_cast<double>(row.choice.keys.size()),
                              spec::format_of(plan_->problem.dtype));
    }
    row_.push_back(output);
  }
  write_row(output_, place);
}

}  // namespace assay::conformance::exact
