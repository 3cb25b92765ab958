#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "assay/cli/command.hpp"

namespace assay::cli {

/// The work of a command, as the progress message describes it.
struct Task {
  std::string what;             ///< "run", "check"
  double expected_seconds = 0;  ///< rough estimate; 0: unknown
  std::int64_t cases = 0;       ///< number of cases; 0: a single case
  bool is_foreign = false;      ///< foreign code runs, so the time is unknown
};

/// During its lifetime, prints the current work and how long it may take: first after 2 seconds,
/// then every 10 seconds, or on a terminal every second in the same line. If Assay's own code
/// should take less than a second, the first message comes after 10 seconds. No other code may
/// write to `context.err` at the same time.
class Waiting {
 public:
  Waiting(const Context& context, Task work);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// Sets the current step: "the implementation runs". Call it from any thread.
  void phase(std::string name);
  /// Sets the number of finished cases.
  void done(std::int64_t cases);
  /// Stops the output. A second call has no effect.
  void stop();

 private:
  void tell();
  std::string text(std::chrono::duration<double> passed) const;

  const Context& context_;
  const Task work_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string phase_;
  std::int64_t done_ = 0;
  bool is_over_ = false, is_drawn_ = false;
  std::jthread thread_;
};

/// Returns for example "12 s", "2 min 05 s", "1 h 02 min".
std::string duration_text(double seconds);

}  // namespace assay::cli
