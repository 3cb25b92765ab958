#include "signals.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>

namespace assay::cli {
namespace {

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

/// Signals within this time count as one request: the program `timeout` signals its child and then
/// the whole process group (nanoseconds).
constexpr std::int64_t same_request_ns = 1'000'000'000;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

std::atomic<std::int64_t> first_request_ns = 0;
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a signal handler sets it");

/// Signal handler. The first signal requests a stop; a signal at least a second later kills the
/// process.
extern "C" void request_stop(int number) {
  const int error = errno;
  const std::int64_t now = now_ns();
  std::int64_t first = 0;
  if (first_request_ns.compare_exchange_strong(first, now)) {
    stop = true;
    constexpr std::string_view message =
        "\nassay: stopping after the work in progress; to kill the program, press Ctrl-C again\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
  } else if (now - first >= same_request_ns) {
    signal(number, SIG_DFL);
    raise(number);
  }
  errno = error;
}

/// The signals by which users and systems ask a program to end.
constexpr int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// Returns whether this process must continue after its terminal closes, for example if nohup
/// started the process.
bool outlives_terminal() {
  static const bool ignored = [] {
    struct sigaction before = {};
    return sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
  }();
  return ignored;
}

/// Sets the signal handler of every ending signal. Keeps SIGHUP ignored if the process must survive
/// its terminal.
void on_ending(const struct sigaction& action) {
  for (const int number : ending)
    if (number != SIGHUP || !outlives_terminal()) sigaction(number, &action, nullptr);
}

}  // namespace

const std::atomic<bool>& stop_requested() { return stop; }

void stop_on_signals() {
  struct sigaction action = {};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  on_ending(action);
}

void die_on_signals() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  on_ending(action);
}

void fail_writes_beyond_limits() { signal(SIGXFSZ, SIG_IGN); }

}  // namespace assay::cli
