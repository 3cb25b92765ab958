#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/sweep/shard.hpp"
#include "sweeping/sweep_part.hpp"

namespace assay::cli {

using Parts = std::vector<std::unique_ptr<SweepPart>>;

/// The implementations' names, each once.
std::string implementations(const Parts& parts);

/// A case of a part.
struct Turn {
  std::size_t part, place;
};

/// The cases in the order in which they run, and what each is expected to cost.
struct Order {
  std::vector<Turn> turns;
  std::vector<conformance::ExpectedCost> costs;
};

/// Of the cases that are next in their parts always the cheapest, so that a budget is not spent on
/// the first operator.
Order order_of(const Parts& parts);

/// "1/3": the first of three. Errors: UsageError.
struct ShardValue {
  std::int64_t number, of;

  std::string text() const { return std::to_string(number) + '/' + std::to_string(of); }
};
ShardValue shard_value(const std::string& text);

/// Keeps of the order what the shard takes, and says which cases these are.
conformance::Shard take_shard(Order& order, const ShardValue& value, const Parts& parts);

/// Changes with everything that could change a result: cases, implementation and the bytes of its
/// files, limits, tool, the bytes of the program itself. The same on every machine.
std::string plan_text(const Parts& parts, const ImplementationFlags& flags);

/// SHA-256 of the program that runs.
const std::string& program_digest();

}  // namespace assay::cli
