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

/// The talk with one program, which is started when it is first asked and again after it has ended.
class Conversation {
 public:
  Conversation(CommandLine command, CommandLimits limits);

  const CommandLine& command() const { return command_; }
  /// Where files for the program are written.
  const Folder& folder() const { return folder_; }

  /// What the program declares of its arithmetic, for spec::numerics_from_text; empty where it
  /// declares nothing.
  /// Errors: spec::ImplementationFault.
  const std::string& numerics();

  /// Asks for the numerics where they are not known, so that a program that was called wrongly, or
  /// that cannot begin, is noticed. Other trouble is left for the first case. Errors:
  /// std::invalid_argument for a program that ends with an exit status other than 0 instead of
  /// answering. Returns the numerics, empty where they are not known yet.
  std::string greet();

  /// Has the program work on a case file. Errors: spec::Rejected, spec::Unsupported,
  /// spec::ImplementationFault for answers other than `done`; std::runtime_error with the text of
  /// an answer `error`. Returns the regimes that it told of.
  std::vector<spec::Metric> work_on(const std::filesystem::path& file);

  /// Nothing came behind the last answer, and what has ended since did so with exit status 0.
  /// Behind the first answer of a process it is given a moment to come. Errors:
  /// spec::ImplementationFault.
  void settle();

 private:
  std::vector<spec::Metric> regimes_of(const std::string& answer);
  std::string ask(const std::filesystem::path& file);
  std::string ask_process(const std::filesystem::path& file);
  std::string ask_once(const std::filesystem::path& file);
  void start(const std::string& path);
  void require_quiet();
  /// Errors: spec::ImplementationFault if limits, working folder or umask of the process changed
  /// since its first answer.
  void require_unchanged();
  [[noreturn]] void give_up(spec::ImplementationFault::Kind kind, const std::string& what);
  std::string last_words() const;

  CommandLine command_;
  CommandLimits limits_;
  Folder folder_;
  std::unique_ptr<Process> process_;
  bool has_answered_ = false;          ///< this process, at least once
  bool has_settled_ = false;           ///< likewise
  std::optional<ProcessState> state_;  ///< after the first answer of this process
  bool is_greeting_ = false;
  std::optional<std::string> numerics_;
};

}  // namespace assay::adapters
