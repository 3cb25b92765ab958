#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/conformance/report/results.hpp"

namespace assay::conformance {

/// The results of one part of a sweep that was divided among machines. `name`: the file name, for
/// messages.
struct SweepShard {
  std::string name;
  Results results;
};

/// Policy for an incomplete part, which lacks its last cases, for example because its budget was
/// spent.
enum class Unfinished : std::uint8_t { refused, accepted };

/// Merges the parts of a sweep. The results equal those of the whole sweep in one process, except
/// for times: `seconds` is the sum over all parts, and the start is that of the earliest part.
/// Unfinished parts contribute the cases that they contain. Errors: std::invalid_argument with the
/// part (or two parts) that cannot be merged: the file is not a part; program, seed, implementation
/// or plan differ; a part is duplicate, missing or unfinished.
Results merged(const std::vector<SweepShard>& shards, Unfinished unfinished = Unfinished::refused);

}  // namespace assay::conformance
