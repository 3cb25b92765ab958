#include "worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <thread>
#include <utility>
#include <vector>

#include "launch.hpp"
#include "messages.hpp"
#include "process_family.hpp"

namespace assay::adapters {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = spec::Misconduct::Kind;
using std::chrono::milliseconds;

static_assert(channel_number <= last_child_number);

/// How often the memory is looked at, and how long a worker may take to leave.
constexpr milliseconds memory_interval{10};
constexpr milliseconds leave_time{2000};

std::string end_text(int status) {
  if (WIFEXITED(status))
    return "the worker ended with exit code " + std::to_string(WEXITSTATUS(status)) +
           " instead of answering";
  const int signal = WTERMSIG(status);
  const char* const name = sigabbrev_np(signal);
  std::string text = "the worker was ended by SIG" + std::string(name == nullptr ? "?" : name) +
                     " (" + strsignal(signal) + ")";
  if (signal == SIGKILL)
    text += ", which the judge did not send: perhaps the machine ran out of memory";
  return text;
}

std::string seconds_text(double seconds) {
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " s";
}

std::string mebibytes_text(std::int64_t bytes) {
  return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerProgram& program, const WorkerLimits& limits)
    : limits_(limits) {
  start(program);
  greeting_ = answer();
}

void WorkerProcess::start(const WorkerProgram& program) {
  Ends connection = make_connection();
  Ends output = make_pipe();
  channel_ = std::make_unique<Channel>(std::move(connection.first));
  words_ = std::make_unique<LastWords>(std::move(output.first));
  Launch launch;
  launch.open("/dev/null", O_RDONLY, STDIN_FILENO);
  launch.connect(output.second, STDOUT_FILENO);
  launch.connect(output.second, STDERR_FILENO);
  launch.connect(connection.second, channel_number);
  std::vector<std::string> words = {"assay"};
  words.insert(words.end(), program.words.begin(), program.words.end());
  pid_ = launch.start(program.path, std::move(words), own_environment());
}

WorkerProcess::~WorkerProcess() {
  if (is_dead()) return;
  channel_->send(goodbye_message());
  leaves();
  reap();
}

bool WorkerProcess::leaves() {
  const auto deadline = Clock::now() + leave_time;
  while (true) {
    siginfo_t state = {};
    if (waitid(P_PID, static_cast<id_t>(pid_), &state, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        state.si_pid == pid_)
      return true;
    if (Clock::now() > deadline) return false;
    words_->listen();
    std::this_thread::sleep_for(milliseconds(1));
  }
}

int WorkerProcess::reap() {
  kill_family(pid_);  // before its number can become another's
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

std::string WorkerProcess::ask(const std::string& request, int file) {
  words_->listen();
  words_->forget();
  if (!channel_->send(request, file)) throw ended();
  return answer();
}

std::string WorkerProcess::answer() {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(limits_.seconds));
  bool talks = true;
  while (true) {
    pollfd polled[] = {{channel_->socket(), POLLIN, 0}, {talks ? words_->pipe() : -1, POLLIN, 0}};
    poll(polled, 2, static_cast<int>(memory_interval.count()));
    if (polled[1].revents != 0) talks = words_->listen();
    if (polled[0].revents != 0) {
      auto message = channel_->receive();
      if (!message) throw ended();
      return std::move(message->text);
    }
    require_memory();
    if (Clock::now() > deadline)
      throw killed(Kind::timeout,
                   "no answer within the time limit of " + seconds_text(limits_.seconds));
  }
}

void WorkerProcess::require_memory() {
  const std::int64_t used = private_bytes(family_of(pid_));
  if (used > limits_.bytes)
    throw killed(Kind::out_of_memory, mebibytes_text(used) +
                                          " of memory beside the tensors, the limit is " +
                                          mebibytes_text(limits_.bytes));
}

WorkerProcess::Failure WorkerProcess::ended() {
  // A closed connection may also be the work of a process that lives on.
  if (!leaves())
    return killed(Kind::crash,
                  "the worker closed its connection to the judge, or wrote into it");
  return {Kind::crash, with_last_words(end_text(reap()))};
}

WorkerProcess::Failure WorkerProcess::killed(Kind kind, const std::string& reason) {
  reap();
  return {kind, with_last_words(reason)};
}

std::string WorkerProcess::with_last_words(std::string text) {
  words_->listen();
  if (const std::string lines = words_->lines(); !lines.empty())
    text += "; its last words: " + lines;
  return text;
}

}  // namespace assay::adapters
