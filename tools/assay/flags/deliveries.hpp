#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/listeners.hpp"

namespace assay::cli {

/// Writes results to several destinations: one that fails does not keep the others from theirs.
class Deliveries {
 public:
  /// Calls `write`, which writes what the flag names, and keeps its error if there is one. An
  /// earlier error of the same flag is forgotten where it succeeds. Errors: std::bad_alloc.
  void attempt(std::string_view flag, const std::function<void()>& write);
  /// The sink that does the same; empty where `sink` is.
  conformance::Sink guarded(std::string_view flag, conformance::Sink sink);

  bool has_failed(std::string_view flag) const { return errors_.contains(flag); }
  bool has_failed() const { return !errors_.empty(); }
  /// The exit code of the command, whose results have `code`: not conclusive where a destination
  /// failed. Names these on `err`.
  ExitCode conclude(ExitCode code, std::ostream& err) const;

 private:
  std::map<std::string, std::string, std::less<>> errors_;  ///< by flag
};

}  // namespace assay::cli
