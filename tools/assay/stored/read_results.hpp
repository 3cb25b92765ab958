#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/conformance/report/results.hpp"
#include "stored/kills.hpp"
#include "stored/timeline.hpp"

namespace assay::cli {

/// Returns whether the file is an HDF5 file. Returns false for a pipe, because reading a pipe would
/// consume its data.
bool is_hdf5(const std::string& path);

/// Reads a report file. Errors: UsageError that names the file and the error in it.
conformance::Results read_results(const std::string& path);

/// The contents of the files that `assay report` shows together on one page.
struct Shown {
  std::vector<conformance::Results> runs;
  std::optional<Kills> kills;
  std::optional<Timeline> timeline;
};

/// Reads a file into `shown`: a report, the results of `assay mutants`, or the trace of `assay
/// device plan`. Errors: UsageError that names the file and the error in it. A second file with
/// results of `assay mutants`, or a second trace, is also an error.
void read_shown(const std::string& path, Shown& shown);

}  // namespace assay::cli
