#include "sweeping/sweep_order.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "build_facts.hpp"
#include "flags/values.hpp"

namespace assay::cli {
namespace {

constexpr std::int64_t most_shards = 100'000;

template <class T>
std::vector<T> at(const std::vector<T>& values, const std::vector<std::int64_t>& places) {
  std::vector<T> chosen;
  for (const std::int64_t place : places) chosen.push_back(values[static_cast<std::size_t>(place)]);
  return chosen;
}

/// Merges the case lists of the operators into one list. In each step it takes the next case of one
/// operator: the operator with the smallest `rank(spent, next)`. `spent` is the expected cost of
/// this operator's cases in the merged list, and `next` the expected cost of its next case.
template <class Rank>
Order merged(const Parts& parts, const Rank& rank) {
  Order order;
  std::vector<std::vector<conformance::ExpectedCost>> costs;
  std::int64_t left = 0;
  for (const auto& part : parts) costs.push_back(part->costs()), left += part->cases();
  std::vector<std::size_t> next(parts.size(), 0);
  std::vector<double> spent(parts.size(), 0);
  const auto rank_of = [&](std::size_t k) { return rank(spent[k], costs[k][next[k]].seconds); };
  for (; left > 0; --left) {
    std::size_t first = parts.size();
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (next[k] < costs[k].size() && (first == parts.size() || rank_of(k) < rank_of(first)))
        first = k;
    order.turns.push_back({first, next[first]});
    order.costs.push_back(costs[first][next[first]++]);
    spent[first] += order.costs.back().seconds;
  }
  return order;
}

}  // namespace

std::string implementations(const Parts& parts) {
  std::vector<std::string> names;
  for (const auto& part : parts)
    if (std::ranges::find(names, part->implementation()) == names.end())
      names.push_back(part->implementation());
  return joined(names);
}

Order order_of(const Parts& parts) {
  return merged(parts, [](double, double next) { return next; });
}

Order balanced_order(const Parts& parts) {
  return merged(parts, [](double spent, double) { return spent; });
}

ShardValue shard_value(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  try {
    const std::int64_t of = integer_value("n", text.substr(slash).erase(0, 1), 1, most_shards);
    return {.number = integer_value("i", text.substr(0, slash), 1, of), .of = of};
  } catch (const UsageError&) {
    throw UsageError(fmt::format(
        "--shard is '{}'; expected i/n, part i of n: n from 1 to {} and i from 1 to n, such as 1/3",
        text, most_shards));
  }
}

conformance::Shard take_shard(Order& order, const ShardValue& value, const Parts& parts) {
  conformance::Shard shard{.number = value.number, .of = value.of};
  shard.program = program_digest();
  for (const auto& part : parts) shard.operators.emplace_back(part->operator_name());
  shard.planned = std::ssize(order.turns);
  std::vector<double> costs;
  for (const conformance::ExpectedCost& cost : order.costs) costs.push_back(cost.seconds);
  shard.places = conformance::shard_places(costs, value.number, value.of);
  order = {.turns = at(order.turns, shard.places), .costs = at(order.costs, shard.places)};
  for (const auto& [part, place] : order.turns) shard.ids.push_back(parts[part]->id(place));
  return shard;
}

std::string plan_text(const Parts& parts, const ImplementationFlags& flags) {
  std::string lines;
  std::int64_t cases = 0;
  for (const auto& part : parts) lines += part->lines(), cases += part->cases();
  return fmt::format("{} {}{} {} {} isolated {} {} cases {} program {}", build_facts().version,
                     implementations(parts), fingerprint(flags.name), flags.time_limit.value_or(0),
                     flags.memory_limit.value_or(0), flags.isolated, cases,
                     conformance::case_id(lines), program_digest());
}

const std::string& program_digest() {
  static const std::string digest = content_digest("/proc/self/exe");
  return digest;
}

}  // namespace assay::cli
