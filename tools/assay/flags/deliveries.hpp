#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/listeners.hpp"

namespace assay::cli {

/// Writes results to several destinations. If one destination fails, the others are still written.
class Deliveries {
 public:
  /// Calls `write`, which writes the file that the flag names. If `write` throws, stores the error.
  /// A later successful write for the same flag removes the error. Errors: std::bad_alloc.
  void attempt(std::string_view flag, const std::function<void()>& write);
  /// Returns a function that calls `sink` and stores its errors as `attempt` does. Returns an empty
  /// function if `sink` is empty.
  conformance::Sink guarded(std::string_view flag, conformance::Sink sink);

  bool has_failed(std::string_view flag) const { return errors_.contains(flag); }
  bool has_failed() const { return !errors_.empty(); }
  /// Returns the exit code of the command: `code`, the exit code of the results, or "not
  /// conclusive" if a destination failed. Prints the failed destinations to `err`.
  ExitCode conclude(ExitCode code, std::ostream& err) const;

 private:
  std::map<std::string, std::string, std::less<>> errors_;  ///< flag -> error
};

}  // namespace assay::cli
