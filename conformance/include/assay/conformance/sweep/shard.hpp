#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assay/spec/requirement.hpp"

namespace assay::conformance {

/// Describes the part of a sweep that a report contains, with the data for merging the parts.
struct Shard {
  std::int64_t number = 1, of = 1;     ///< from 1
  std::string program;                 ///< digest of the judging program
  std::string plan;                    ///< digest of everything that affects results
  std::vector<std::string> operators;  ///< of the whole sweep
  spec::Policy policy = {};            ///< of the whole sweep
  std::int64_t shrink = 0;             ///< faults to reduce
  std::int64_t planned = 0;            ///< cases of the whole sweep
  /// The positions of this part's cases in the whole sweep, in ascending order. The first position
  /// is 0.
  std::vector<std::int64_t> places;
  std::vector<std::string> ids;
};

/// Returns the positions of the cases in part `number` of `of` parts, in ascending order. Every
/// position is in exactly one part. All parts have about the same expected cost. `costs`: the
/// expected cost of each case of the whole sweep, in its order. The result depends only on the
/// arguments, so all machines compute the same parts.
std::vector<std::int64_t> shard_places(std::span<const double> costs, std::int64_t number,
                                       std::int64_t of);

}  // namespace assay::conformance
