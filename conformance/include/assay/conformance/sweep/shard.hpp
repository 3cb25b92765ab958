#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assay/spec/requirement.hpp"

namespace assay::conformance {

/// Which part of a sweep a report is about, and of which sweep: what joins it with the other parts.
struct Shard {
  std::int64_t number = 1, of = 1;     ///< from 1
  std::string program;                 ///< digest of the program that judged
  std::string plan;                    ///< digest of everything that could change a result
  std::vector<std::string> operators;  ///< of the whole sweep
  spec::Policy policy = {};            ///< of the whole sweep
  std::int64_t shrink = 0;             ///< faults that were to be reduced
  std::int64_t planned = 0;            ///< cases of the whole sweep
  /// The cases of this part: their places in the order of the whole sweep, from 0 and ascending.
  std::vector<std::int64_t> places;
  std::vector<std::string> ids;
};

/// The places of the cases that part `number` of `of` takes, ascending. Every place is in one part;
/// the parts are expected to cost about the same. `costs`: of the cases of the whole sweep, in its
/// order. A pure function: every machine finds the same parts.
std::vector<std::int64_t> shard_places(std::span<const double> costs, std::int64_t number,
                                       std::int64_t of);

}  // namespace assay::conformance
