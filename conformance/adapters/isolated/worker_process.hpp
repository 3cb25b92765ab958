#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "assay/adapters/isolated.hpp"
#include "assay/spec/implementation.hpp"
#include "isolated/channel.hpp"
#include "isolated/last_words.hpp"
#include "process/folder.hpp"
#include "process/process_family.hpp"

namespace assay::adapters {

/// A child process that answers one message at a time, under time and memory limits. It has its own
/// process group, so that terminal signals reach only the judge. If the process fails, the error
/// message quotes its output. Its temporary files are removed when it ends.
class WorkerProcess {
 public:
  using Failure = spec::ImplementationFault;

  /// Starts the program and waits for its greeting (first message). Errors: std::system_error if it
  /// cannot be started; the errors of `ask`.
  WorkerProcess(const WorkerProgram& program, const WorkerLimits& limits);
  /// Sends the goodbye message, and kills the process if it does not end soon.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  const std::string& greeting() const { return greeting_; }

  /// Sends a request and waits for the answer. Errors: ImplementationFault if the process ends or
  /// writes an invalid message (crash), exceeds the time limit (timeout) or exceeds the memory
  /// limit (out_of_memory). In all these cases the process is killed. `file`: the shared memory of
  /// this request; `borrowed_bytes`: how many bytes of it the request uses.
  std::string ask(const std::string& request, int file = -1, std::int64_t borrowed_bytes = 0);
  /// First waits briefly for late effects of earlier calls: at the first call, and later only if
  /// the process and its descendants have more threads than at any earlier call. Then sends the
  /// request and returns the answer. Returns nothing if no request was sent since the last call.
  /// Errors: the errors of `ask`.
  std::optional<std::string> settle(const std::string& request);
  /// Ends the process and all its descendants.
  void give_up() {
    if (!is_dead()) reap();
  }
  /// Ends the process because its answer was invalid; returns this failure.
  Failure talked_nonsense(const std::string& what);
  bool is_dead() const { return pid_ < 0; }

 private:
  using Clock = std::chrono::steady_clock;

  void start(const WorkerProgram& program);
  void wait_for_afterthoughts();
  /// Checks that the process sent no message and still runs. Errors: ImplementationFault.
  void require_quiet();
  bool is_quiet() const;
  std::string answer();
  void require_memory();
  bool has_ended() const;
  /// Waits this long for the process to end by itself; returns whether it ended.
  bool leaves(std::chrono::milliseconds time);
  /// Ends the process and its descendants; returns the exit status of the process.
  int reap();
  /// Describes how the process ended, or why it was killed, with its last output.
  Failure ended(const std::string& when);
  Failure killed(Failure::Kind kind, const std::string& reason);
  std::string with_last_words(std::string text);

  WorkerLimits limits_;
  std::unique_ptr<Folder> temporary_files_;  ///< null if no folder can be made: it uses the
                                             ///< system's
  std::unique_ptr<Channel> channel_;
  std::unique_ptr<LastWords> words_;
  Descriptor lifeline_;  ///< if closed, the worker's guardian ends everything
  pid_t pid_ = -1;
  BorrowedMemory lent_;
  std::int64_t hidden_ = 0;       ///< bytes of memory that it need not map, at the last check
  bool was_asked_ = false;        ///< true if a request was sent since it settled
  bool has_settled_ = false;      ///< true after the first settle
  std::size_t most_threads_ = 0;  ///< of it and its descendants, when it settled
  Clock::time_point next_look_{}, next_close_look_{};  ///< time of the next check of its memory
  std::string greeting_;
};

}  // namespace assay::adapters
