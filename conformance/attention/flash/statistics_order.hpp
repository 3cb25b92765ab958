#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/flash/statistics_index.hpp"
#include "attention/flash/traits.hpp"

/// The memory order of the statistics in TND. The documents contradict each other about this order
/// (contradiction FAS-Q1, requirement FAG-C83a).
namespace assay::conformance::attention::flash {

using spec::DeclaredOrder;
using spec::StatisticsOrder;

constexpr FactKind kind_of(StatisticsOrder order) {
  return order == StatisticsOrder::tokens_first ? FactKind::tokens_first : FactKind::heads_first;
}

/// A member of Numerics that declares a memory order of the statistics. There are three such
/// members.
struct Declaration {
  std::string_view name;
  DeclaredOrder spec::Numerics::*member;
};

inline constexpr std::array<Declaration, 3> declarations{
    {{"statistics_order", &spec::Numerics::statistics_order},
     {"statistics_order_empty", &spec::Numerics::statistics_order_empty},
     {"statistics_order_same_as_input", &spec::Numerics::statistics_order_same_as_input}}};

/// Returns the member of the kernel's numerics that declares the memory order of the statistics in
/// this case.
template <class Op>
const Declaration& own_declaration(const Case<Op>& c) {
  if (!has_softmax_in_layout(c.entry_point)) return declarations[0];
  return declarations[c.problem.softmax_in_layout == spec::SoftmaxInLayout::empty ? 1 : 2];
}

constexpr DeclaredOrder declared(StatisticsOrder order) {
  return order == StatisticsOrder::heads_first ? DeclaredOrder::heads_first
                                               : DeclaredOrder::tokens_first;
}

inline OtherReading reading_of(spec::Numerics numerics,
                               const std::vector<std::pair<Declaration, StatisticsOrder>>& orders,
                               FactKind use) {
  std::string words;
  for (const auto& [declaration, order] : orders) {
    numerics.*declaration.member = declared(order);
    words += (words.empty() ? "" : ",") + std::string(declaration.name) + "=" +
             std::string(spec::to_string(order));
  }
  return {numerics, {use, words, Fact(kind_of(orders.front().second))}};
}

inline void move_statistics(const Problem& from, const Problem& to, spec::Tensor& tensor) {
  const spec::Tensor given = tensor;
  const StatisticsIndex source(given, from), place(tensor, to);
  const std::int64_t rows = query_extents(from).rows();
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t replica = 0; replica < spec::statistics_replicas; ++replica)
      tensor.store(place(row) + replica * tensor.strides.back(),
                   given.load(source(row) + replica * given.strides.back()));
}

template <class EntryPoint>
Problem as_declared(const Problem& problem, EntryPoint entry_point,
                    const spec::Numerics& numerics) {
  Problem other = problem;
  if (!is_order_of_statistics_seen(problem)) return other;
  const auto order = declared_order(numerics, entry_point, problem.softmax_in_layout);
  if (order) other.statistics_order = *order;
  return other;
}

/// Returns a small call: one sequence of three queries and five keys, without bias and dropout, and
/// without a mask if the entry point allows it.
template <class Op>
std::optional<Case<Op>> small_call(const Case<Op>& c) {
  const Problem& p = c.problem;
  Case<Op> small{.entry_point = c.entry_point, .product = c.product};
  small.problem = {
      .input_layout = p.input_layout,
      .dtype = p.dtype,
      .heads_q = p.heads_q,
      .heads_kv = p.heads_kv,
      .seq_q = 3,
      .seq_kv = 5,
      .head_dim = p.head_dim,
      .head_dim_v = p.head_dim_v,
      .head_dim_rope = p.head_dim_rope,
      .scale_value = p.scale_value,
      .atten_mask = p.head_dim_rope > 0 ? spec::MaskShape::ss : spec::MaskShape::absent,
      .softmax_in_layout = p.softmax_in_layout,
      .statistics_order = p.statistics_order};
  small.patterns.mask = "open";
  if (small == c || !spec::violations(Op::requirements(), conformance::call_of(small)).empty())
    return std::nullopt;
  return small;
}

/// The runs of a relation (comparison of several runs) may use several entry points. If the kernel
/// does not declare a memory order for one of them, the judge tries both orders.
template <class Op>
std::vector<OtherReading> other_readings(const Case<Op>& c, const spec::Numerics& numerics) {
  if (!is_order_of_statistics_seen(c.problem)) return {};
  constexpr FactKind use =
      Traits<Op>::reads_statistics ? FactKind::statistics_read : FactKind::statistics_written;
  const Declaration& own = own_declaration(c);
  const StatisticsOrder asked = c.problem.statistics_order;
  const auto other = asked == StatisticsOrder::heads_first ? StatisticsOrder::tokens_first
                                                           : StatisticsOrder::heads_first;
  const auto is_missing = [&](const Declaration& declaration) {
    return numerics.*declaration.member == DeclaredOrder::undeclared;
  };
  std::vector<OtherReading> readings;
  if (is_missing(own)) readings.push_back(reading_of(numerics, {{own, other}}, use));
  if (c.track != Track::relation) return readings;
  std::vector<Declaration> missing;
  for (const Declaration& declaration : declarations)
    if (is_missing(declaration)) missing.push_back(declaration);
  for (unsigned orders = 0; !missing.empty() && orders < 1u << missing.size(); ++orders) {
    std::vector<std::pair<Declaration, StatisticsOrder>> all;
    for (std::size_t k = 0; k < missing.size(); ++k)
      all.emplace_back(missing[k], orders >> k & 1u ? other : asked);
    readings.push_back(reading_of(numerics, all, use));
  }
  return readings;
}

}  // namespace assay::conformance::attention::flash
