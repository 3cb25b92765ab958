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

/// A program in its own process group. The judge exchanges lines of text with it through its
/// standard input and output.
class Process {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// How a process ended: with an exit status, or by a signal.
  struct End {
    int status = 0, signal = 0;
    bool orderly() const { return status == 0 && signal == 0; }
    std::string text() const;  ///< "exit status 1", "signal 11 (Segmentation fault)"
  };

  /// Starts the program words[0], which is searched in PATH. `environment` is added to the
  /// environment of this process; the program's stderr is appended to the file `errors`. Errors:
  /// std::system_error if the program cannot be started.
  Process(const std::vector<std::string>& words,
          const std::vector<std::pair<std::string, std::string>>& environment,
          const std::filesystem::path& errors);
  /// Closes the program's input, and kills its process group if the program does not end soon.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Writes a line to the program's standard input; returns false if the program no longer accepts
  /// input.
  bool say(const std::string& line);
  /// Returns true if the program has read all bytes that were written to its input, or if the
  /// system cannot report the number of unread bytes.
  bool has_read_all() const;
  /// Closes the program's standard input.
  void hang_up();

  /// The result of waiting for a line of the program's output. line: a line arrived; no_line: the
  /// text is too long for a line; end: the program closed its output; nothing: the deadline passed.
  enum class Heard { line, no_line, end, nothing };
  static constexpr std::size_t longest_line = 1 << 16;  ///< bytes
  /// The treatment of a line that is too long. refused: the line is an error; cut: only the
  /// beginning of the line is kept.
  enum class LongLine { refused, cut };
  /// Waits for the program's next line. Returns `end` if the program closed its output, and
  /// `nothing` if the deadline passed. A line that the program wrote before the deadline is
  /// returned even if it is read later.
  Heard hear(std::string& line, Deadline deadline, LongLine long_line = LongLine::refused);

  /// Returns the incomplete last line: the buffered output after the last line end.
  const std::string& begun_line() const { return heard_; }

  /// Returns resource limits, working folder and umask of the program; nothing if the program has
  /// ended.
  std::optional<ProcessState> state();

  /// Waits until the program tries to read its next line, writes output, or ends. Returns at the
  /// deadline at the latest.
  void rest(Deadline deadline);

  /// Waits for the program to end. Returns nothing if it still runs at the deadline.
  std::optional<End> ended(Deadline deadline);
  void kill();

 private:
  /// Returns whether the first thread of the program is reading standard input; false if the system
  /// cannot report this.
  bool is_reading() const;
  /// Moves the first complete line from the buffered output to `line`; returns false if there is no
  /// complete line.
  bool has_line(std::string& line);
  /// Appends a block of program output to the buffer. If the last line was truncated, skips the
  /// rest of that line.
  void keep(std::string_view block);

  pid_t pid_ = -1;
  Descriptor input_, output_;
  std::string heard_;    ///< text that was read and is not yet a line
  bool is_cut_ = false;  ///< true while the rest of a cut line is discarded
  std::optional<End> end_;
};

}  // namespace assay::adapters
