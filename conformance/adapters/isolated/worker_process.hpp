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

/// A child process that answers one message at a time, under limits. It lies in a process group of
/// its own, so that what the terminal sends reaches the judge alone; its output is read, and quoted
/// where it fails; its temporary files go with it.
class WorkerProcess {
 public:
  using Failure = spec::ImplementationFault;

  /// Starts the program and waits for its first message, the greeting. Errors: std::system_error if
  /// it cannot be started; those of `ask`.
  WorkerProcess(const WorkerProgram& program, const WorkerLimits& limits);
  /// Says goodbye, and kills what does not leave soon.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  const std::string& greeting() const { return greeting_; }

  /// Sends a request and waits for the answer. Errors: ImplementationFault where the process ends
  /// or writes what is no message (crash), is slower (timeout) or uses more memory (out_of_memory)
  /// than the limits allow; it is dead then. `file`: what it is lent, `lent_bytes` of it for this
  /// request.
  std::string ask(const std::string& request, int file = -1, std::int64_t lent_bytes = 0);
  /// Waits a moment for what its last answers may have left behind: the first time in any case,
  /// later if more threads or processes live in it than ever before. Then sends a request and gives
  /// the answer; nothing where it was not asked since the last time. Errors: as of `ask`.
  std::optional<std::string> settle(const std::string& request);
  /// Ends it, with all that it started.
  void give_up() {
    if (!is_dead()) reap();
  }
  /// Ends it for an answer that is none.
  Failure talked_nonsense(const std::string& what);
  bool is_dead() const { return pid_ < 0; }

 private:
  using Clock = std::chrono::steady_clock;

  void start(const WorkerProgram& program);
  void wait_for_afterthoughts();
  /// Nothing came, and it lives. Errors: ImplementationFault, as of `ask`.
  void require_quiet();
  bool is_quiet() const;
  std::string answer();
  void require_memory();
  bool has_ended() const;
  /// Whether it ends by itself so soon.
  bool leaves(std::chrono::milliseconds time);
  /// Ends what is left of it and of what it started; its status.
  int reap();
  /// How it ended, or why it was killed, with its last words.
  Failure ended(const std::string& when);
  Failure killed(Failure::Kind kind, const std::string& reason);
  std::string with_last_words(std::string text);

  WorkerLimits limits_;
  std::unique_ptr<Folder> temporary_files_;  ///< none: where no folder can be made, the system's
  std::unique_ptr<Channel> channel_;
  std::unique_ptr<LastWords> words_;
  Descriptor lifeline_;  ///< closed: the worker's guardian ends everything
  pid_t pid_ = -1;
  LentMemory lent_;
  std::int64_t hidden_ = 0;       ///< bytes of memory that it need not map, when last looked at
  bool was_asked_ = false;        ///< since it settled
  bool has_settled_ = false;      ///< at least once
  std::size_t most_threads_ = 0;  ///< of it and of what it started, when it settled
  Clock::time_point next_look_{}, next_close_look_{};  ///< at its memory
  std::string greeting_;
};

}  // namespace assay::adapters
