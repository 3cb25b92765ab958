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

/// Returns the names of the implementations, each name once.
std::string implementations(const Parts& parts);

/// A case, and the part of the sweep (operator) to which it belongs.
struct Turn {
  std::size_t part, place;
};

/// The cases in execution order, with their expected costs.
struct Order {
  std::vector<Turn> turns;
  std::vector<conformance::ExpectedCost> costs;
};

/// Merges the case lists of the operators: always takes the cheapest of the cases at the front of
/// these lists, so that the first operator cannot use the whole time budget.
Order order_of(const Parts& parts);

/// Merges the case lists of the operators so that all operators get the same share of the time.
Order balanced_order(const Parts& parts);

/// Parses a shard: "1/3" is the first of three. Errors: UsageError.
struct ShardValue {
  std::int64_t number, of;

  std::string text() const { return std::to_string(number) + '/' + std::to_string(of); }
};
ShardValue shard_value(const std::string& text);

/// Removes the cases that are not in the shard, and returns which cases are in it.
conformance::Shard take_shard(Order& order, const ShardValue& value, const Parts& parts);

/// Returns a text that contains everything that could affect a result: cases, implementation and
/// the bytes of its files, limits, the version of Assay, and the bytes of this program. It is the
/// same on every machine.
std::string plan_text(const Parts& parts, const ImplementationFlags& flags);

/// Returns the SHA-256 of the running program.
const std::string& program_digest();

}  // namespace assay::cli
