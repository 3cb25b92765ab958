#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process/descriptor.hpp"
#include "process/process_state.hpp"

namespace assay::adapters {

/// A program that runs in a process group of its own and is talked to line by line.
class Process {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// How a process ended: an exit status, or the signal that ended it.
  struct End {
    int status = 0, signal = 0;
    bool orderly() const { return status == 0 && signal == 0; }
    std::string text() const;  ///< "exit status 1", "signal 11 (Segmentation fault)"
  };

  /// Starts words[0], looked up on PATH, with `environment` set beside the own one; what it says on
  /// stderr goes to the end of `errors`. Errors: std::system_error where it cannot be started.
  Process(const std::vector<std::string>& words,
          const std::vector<std::pair<std::string, std::string>>& environment,
          const std::filesystem::path& errors);
  /// Closes its input, and kills the group if it does not end by itself soon.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Writes a line to its standard input; false where it does not take one any more.
  bool say(const std::string& line);
  /// Returns true if the program read all its input, or if the system cannot tell.
  bool has_read_all() const;
  /// Closes its standard input.
  void hang_up();

  /// What a wait for its standard output gave: no_line is text that is too long to be one.
  enum class Heard { line, no_line, end, nothing };
  static constexpr std::size_t longest_line = 1 << 16;  ///< bytes
  /// What becomes of a longer line: it is none, or only its beginning is kept.
  enum class LongLine { refused, cut };
  /// Its next line; `end` where it closed its output, `nothing` at the deadline. What it wrote
  /// before is heard behind the deadline, too.
  Heard hear(std::string& line, Deadline deadline, LongLine long_line = LongLine::refused);

  /// What it has written of a line that has no end yet.
  const std::string& begun_line() const { return heard_; }

  /// Its limits, working folder and umask; nothing after it has ended.
  std::optional<ProcessState> state();

  /// Waits until it waits for its next line, says something, or ends, but not beyond the deadline.
  void rest(Deadline deadline);

  /// How it ended; nothing while it runs, unless it ends before the deadline.
  std::optional<End> ended(Deadline deadline);
  void kill();

 private:
  /// Whether its first thread reads its standard input; false also where the system does not tell.
  bool is_reading() const;
  /// Takes a line from what was read.
  bool has_line(std::string& line);
  /// Keeps what was read, but for the rest of a line that was cut.
  void keep(std::string_view block);

  pid_t pid_ = -1;
  Descriptor input_, output_;
  std::string heard_;    ///< read, not yet a line
  bool is_cut_ = false;  ///< what comes up to the end of the line is left out
  std::optional<End> end_;
};

}  // namespace assay::adapters
