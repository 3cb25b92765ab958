#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/adapters/command.hpp"
#include "command/line.hpp"
#include "command/process.hpp"
#include "process/folder.hpp"

namespace assay::adapters {

/// Sends requests to one program and reads its answers. The program is started for the first
/// request, and again if it ended before a later request.
class Conversation {
 public:
  Conversation(CommandLine command, CommandLimits limits);

  const CommandLine& command() const { return command_; }
  /// Returns the folder of the case files that the program receives.
  const Folder& folder() const { return folder_; }

  /// Returns the numerics (the program's description of its own arithmetic) as text for
  /// spec::numerics_from_text; empty if the program declares nothing. Errors:
  /// spec::ImplementationFault.
  const std::string& numerics();

  /// Queries the program's numerics if they are unknown, and returns them. The query detects a
  /// program that was called wrongly or cannot start. If the program does not answer, the result is
  /// empty, and the first call reports the problem. Errors: std::invalid_argument if the program
  /// ends with an exit status other than 0 instead of answering.
  std::string greet();

  /// Sends the path of a case file to the program and waits for the answer. Returns the regimes
  /// (branches of the kernel's tiling) that the program reports. Errors: spec::Rejected,
  /// spec::Unsupported or spec::ImplementationFault if the answer is not `done`; std::runtime_error
  /// with the text of an answer `error`.
  std::vector<spec::Metric> work_on(const std::filesystem::path& file);

  /// Checks that the program wrote nothing after its last answer, and that it still runs or ended
  /// with exit status 0. After the first answer of a process, waits a moment for late output.
  /// Errors: spec::ImplementationFault.
  void settle();

 private:
  std::vector<spec::Metric> regimes_of(const std::string& answer);
  std::string ask(const std::filesystem::path& file);
  std::string ask_process(const std::filesystem::path& file);
  std::string ask_once(const std::filesystem::path& file);
  void start(const std::string& path);
  void require_quiet();
  /// Checks the process state. Errors: spec::ImplementationFault if limits, working folder or umask
  /// of the process changed since its first answer.
  void require_unchanged();
  [[noreturn]] void give_up(spec::ImplementationFault::Kind kind, const std::string& what);
  std::string last_words() const;

  CommandLine command_;
  CommandLimits limits_;
  Folder folder_;
  std::unique_ptr<Process> process_;
  bool has_answered_ = false;          ///< true after the first answer of this process
  bool has_settled_ = false;           ///< true after the first `settle` of this process
  std::optional<ProcessState> state_;  ///< state after the first answer of this process
  bool is_greeting_ = false;
  std::optional<std::string> numerics_;
};

}  // namespace assay::adapters
