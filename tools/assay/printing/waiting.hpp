#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "assay/cli/command.hpp"

namespace assay::cli {

/// What a command is busy with, for somebody who waits.
struct Task {
  std::string what;             ///< "run", "check"
  double expected_seconds = 0;  ///< rough; 0: nobody knows
  std::int64_t cases = 0;       ///< how many there are to do; 0: one
  bool is_foreign = false;      ///< code of somebody else runs, of which no cost is known
};

/// While it lives, prints what is being waited for and how long that may take: first after 2
/// seconds, then every 10, or on a terminal every second in one line. Where our own code has less
/// than a second to do, first after 10. Nothing else may be written to `context.err` meanwhile.
class Waiting {
 public:
  Waiting(const Context& context, Task work);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// What is done now: "the implementation runs". From any thread.
  void phase(std::string name);
  /// How many cases are done.
  void done(std::int64_t cases);
  /// Nothing is printed any more. May be called twice.
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

/// "12 s", "2 min 05 s", "1 h 02 min".
std::string duration_text(double seconds);

}  // namespace assay::cli
