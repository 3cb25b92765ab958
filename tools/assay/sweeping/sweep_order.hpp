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

/// Returns the names of the implementations, each once.
std::string implementations(const Parts& parts);

/// A position in the execution order: the index of the operator in the list of parts, and the index
/// of the case.
struct Turn {
  std::size_t part, place;
};

/// The cases in the order of execution, with their expected costs.
struct Order {
  std::vector<Turn> turns;
  std::vector<conformance::ExpectedCost> costs;
};

/// Merges the case lists of the operators. In each step it takes the cheapest of the operators'
/// next cases, so that the first operator cannot use the whole time budget.
Order order_of(const Parts& parts);

/// Merges the case lists of the operators so that each operator gets the same share of the time.
Order balanced_order(const Parts& parts);

/// A part of a sweep as the user writes it: "1/3" is the first of three parts. The function
/// shard_value parses this text. It throws UsageError if the text is invalid.
struct ShardValue {
  std::int64_t number, of;

  std::string text() const { return std::to_string(number) + '/' + std::to_string(of); }
};
ShardValue shard_value(const std::string& text);

/// Removes all cases that are not in this part of the sweep. Returns a description of the part.
conformance::Shard take_shard(Order& order, const ShardValue& value, const Parts& parts);

/// Returns a text that contains everything that can change a result: cases, implementation and the
/// bytes of its files, limits, version of Assay, and bytes of this program. The text does not
/// depend on the machine.
std::string plan_text(const Parts& parts, const ImplementationFlags& flags);

/// Returns the SHA-256 of this program's file.
const std::string& program_digest();

}  // namespace assay::cli
