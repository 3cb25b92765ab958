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

/// The command line, or a file that it names, is wrong: culprit, value, and what is accepted. Exit
/// code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a command may use.
struct Context {
  const Registry& registry;
  std::ostream& out;              ///< results
  std::ostream& err;              ///< progress and messages
  const std::atomic<bool>& stop;  ///< set by the first SIGINT or SIGTERM
  bool terminal = false;          ///< `err` is a terminal
  std::string command_line;       ///< as typed
  std::string program = "assay";  ///< with which replay lines start in reports
  std::string typed = "assay";    ///< with which they start on the terminal: argv[0], as a word
  bool verbose = false;           ///< tell what is otherwise summed up
  std::function<std::uint64_t()> entropy = {};  ///< draws a number; none: every sweep is the same
};

using Action = std::function<ExitCode(const Context&)>;

/// One subcommand: `declare` adds its flags to `app` and returns what runs once they are parsed.
/// Errors of the action: UsageError; anything else that escapes is a failure of the tool, exit
/// code 3.
struct Command {
  std::string name, summary;
  std::function<Action(CLI::App& app, const Registry& registry)> declare;
};

}  // namespace assay::cli
