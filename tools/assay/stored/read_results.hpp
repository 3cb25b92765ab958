#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/conformance/report/results.hpp"
#include "stored/kills.hpp"
#include "stored/timeline.hpp"

namespace assay::cli {

/// Whether a regular file begins as HDF5 files do. A pipe is none: what is read of it is gone.
bool is_hdf5(const std::string& path);

/// A report file. Errors: UsageError naming the file and what is wrong with it.
conformance::Results read_results(const std::string& path);

/// What files say that `assay report` shows.
struct Shown {
  std::vector<conformance::Results> runs;
  std::optional<Kills> kills;
  std::optional<Timeline> timeline;
};

/// Reads a report, a kill table or the trace of a plan, whichever the file is, into `shown`.
/// Errors: UsageError naming the file and what is wrong with it, or that it is a second kill table
/// or trace.
void read_shown(const std::string& path, Shown& shown);

}  // namespace assay::cli
