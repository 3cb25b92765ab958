#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/conformance/report/results.hpp"
#include "stored/kills.hpp"
#include "stored/timeline.hpp"

namespace assay::cli {

/// Returns whether a regular file has the signature of HDF5. Returns false for a pipe, since
/// reading it would consume the data.
bool is_hdf5(const std::string& path);

/// Reads a report file. Errors: UsageError naming the file and the error in it.
conformance::Results read_results(const std::string& path);

/// The contents of the files that `assay report` shows.
struct Shown {
  std::vector<conformance::Results> runs;
  std::optional<Kills> kills;
  std::optional<Timeline> timeline;
};

/// Reads a report, a kill table or the trace of a plan into `shown`. Errors: UsageError naming the
/// file and the error in it, also if it is a second kill table or a second trace.
void read_shown(const std::string& path, Shown& shown);

}  // namespace assay::cli
