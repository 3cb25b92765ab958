#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/conformance/report/results.hpp"

namespace assay::conformance {

/// The results of one part of a sweep, and what messages call them: their file.
struct SweepShard {
  std::string name;
  Results results;
};

/// Whether a part may hold only the first of its cases, as one whose budget was spent.
enum class Unfinished : std::uint8_t { refused, accepted };

/// The results of the whole sweep, as one process would have found them; only times differ:
/// `seconds` are those of all parts, and it started when the first of them did. Of unfinished parts
/// it has what they hold.
/// Errors: std::invalid_argument naming the part, or the two of them, that cannot be joined: it is
/// no part; of another program, seed, implementation or plan; twice there, missing or unfinished.
Results merged(const std::vector<SweepShard>& shards, Unfinished unfinished = Unfinished::refused);

}  // namespace assay::conformance
