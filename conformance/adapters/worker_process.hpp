#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "assay/adapters/isolated.hpp"
#include "assay/spec/implementation.hpp"
#include "channel.hpp"
#include "last_words.hpp"

namespace assay::adapters {

/// A child process that answers one message at a time, under limits. It lies in a process group of its own, so that
/// what the terminal sends reaches the judge alone; its output is read, and quoted where it fails.
class WorkerProcess {
 public:
  using Failure = spec::Misconduct;

  /// Starts the program and waits for its first message, the greeting. Errors: std::system_error if it cannot be started;
  /// those of `ask`.
  WorkerProcess(const WorkerProgram& program, const WorkerLimits& limits);
  /// Says goodbye, and kills what does not leave soon.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  const std::string& greeting() const { return greeting_; }

  /// Sends a request and waits for the answer. Errors: Misconduct where the process ends (crash), is slower (timeout) or
  /// uses more memory (out_of_memory) than the limits allow; it is dead then.
  std::string ask(const std::string& request, int file = -1);
  bool is_dead() const { return pid_ < 0; }

 private:
  void start(const WorkerProgram& program);
  std::string answer();
  void require_memory();
  /// Whether it ends by itself soon.
  bool leaves();
  /// Kills what is left of it and what it started; its status.
  int reap();
  /// How it ended, or why it was killed, with its last words.
  Failure ended();
  Failure killed(Failure::Kind kind, const std::string& reason);
  std::string with_last_words(std::string text);

  WorkerLimits limits_;
  std::unique_ptr<Channel> channel_;
  std::unique_ptr<LastWords> words_;
  pid_t pid_ = -1;
  std::string greeting_;
};

}  // namespace assay::adapters
