#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "assay/cli/command.hpp"

namespace assay::cli {

/// Describes the work of a command for the progress message.
struct Task {
  std::string what;             ///< "run", "check"
  double expected_seconds = 0;  ///< rough estimate; 0: unknown
  std::int64_t cases = 0;       ///< number of cases; 0: a single case
  bool is_foreign = false;      ///< foreign code runs, so the time is unknown
};

/// Prints progress messages about one work after the other: what runs, and how long it may take.
/// The first message comes after 2 seconds, the next ones every 10 seconds; on a terminal, one line
/// is redrawn every second. If Assay's own code should take less than a second, the first message
/// comes after 10 seconds. No other code may write to `context.err` between `begin` and `stop`.
class Waiting {
 public:
  /// Starts a thread, and begins the messages about `work`.
  Waiting(const Context& context, Task work);
  /// Stops the messages.
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// Begins the messages about the next work, after `stop`. This takes less time than a new thread,
  /// because the thread of this object remains.
  void begin(Task work);
  /// Sets the current step, such as "the implementation runs". Any thread may call this function.
  void phase(std::string name);
  /// Sets the number of finished cases in the message.
  void done(std::int64_t cases);
  /// Stops the progress messages. A second call has no effect.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;

  void tell();
  std::string text(std::chrono::duration<double> passed) const;

  const Context& context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Task work_;
  Clock::time_point start_;
  std::optional<Clock::time_point> next_;  ///< time of the next message; none after `stop`
  Clock::time_point wakes_ = Clock::time_point::max();  ///< when the thread wakes without a signal
  std::string phase_;
  std::int64_t done_ = 0;
  bool is_over_ = false, is_drawn_ = false;
  std::jthread thread_;
};

/// Formats a duration, for example "12 s", "2 min 05 s", "1 h 02 min".
std::string duration_text(double seconds);

}  // namespace assay::cli
