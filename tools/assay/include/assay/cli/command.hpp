#pragma once

#include <atomic>
#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>

#include "assay/conformance/result/verdict.hpp"

namespace CLI {
class App;
}

namespace assay::cli {

using conformance::ExitCode;

class Registry;

/// An error in the command line, or in a file that the command line names. The message contains the
/// wrong flag or file, its value, and the accepted values. Exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The streams and settings that a command uses.
struct Context {
  const Registry& registry;
  std::ostream& out;              ///< results
  std::ostream& err;              ///< progress and messages
  const std::atomic<bool>& stop;  ///< set by the first SIGINT or SIGTERM
  bool terminal = false;          ///< `err` is a terminal
  std::string command_line;       ///< as typed
  std::string program = "assay";  ///< first word of replay lines in reports
  std::string typed = "assay";    ///< first word on the terminal: argv[0], as a shell word
  bool verbose = false;           ///< print details that are otherwise summarized
  std::function<std::uint64_t()> entropy = {};  ///< returns a random number; empty: no fresh data
};

using Action = std::function<ExitCode(const Context&)>;

/// One subcommand of the program. `declare` adds its flags to `app` and returns the action that
/// runs after parsing. If the action throws UsageError, the exit code is 2. Any other exception
/// counts as a failure of the tool: exit code 3.
struct Command {
  std::string name, summary;
  std::function<Action(CLI::App& app, const Registry& registry)> declare;
};

}  // namespace assay::cli
