#include "worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cmath>
#include <system_error>
#include <thread>
#include <vector>

#include "messages.hpp"
#include "process_family.hpp"

namespace assay::adapters {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = spec::Misconduct::Kind;
using std::chrono::milliseconds;

/// How often the memory is looked at, and how long a worker may take to leave.
constexpr milliseconds memory_interval{10};
constexpr milliseconds leave_time{2000};

void require(int error, const std::string& what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

/// Descriptors and attributes of a process to be.
class Preparation {
 public:
  Preparation() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~Preparation() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;

  void connect(int output, int channel) {
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, channel, channel_number);
  }
  pid_t spawn(const WorkerProgram& program) const {
    std::vector<std::string> words = {"assay"};
    words.insert(words.end(), program.words.begin(), program.words.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = -1;
    require(posix_spawn(&pid, program.path.c_str(), &actions_, &attributes_, arguments.data(), environ),
            "a worker, " + program.path + ", cannot be started");
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// Above the standard streams and the number that the worker's end gets.
Descriptor moved_up(int number) {
  const Descriptor low(number);
  return Descriptor(fcntl(number, F_DUPFD_CLOEXEC, channel_number + 1));
}

std::string end_text(int status) {
  if (WIFEXITED(status))
    return "the worker ended with exit code " + std::to_string(WEXITSTATUS(status)) +
           " instead of answering";
  const int signal = WTERMSIG(status);
  const char* const name = sigabbrev_np(signal);
  std::string text = "the worker was ended by SIG" + std::string(name == nullptr ? "?" : name) + " (" +
                     strsignal(signal) + ")";
  if (signal == SIGKILL) text += ", which the judge did not send: perhaps the machine ran out of memory";
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
  int ends[2] = {-1, -1}, pipe_ends[2] = {-1, -1};
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : errno,
          "a connection to a worker cannot be made");
  channel_ = std::make_unique<Channel>(moved_up(ends[0]));
  const Descriptor theirs = moved_up(ends[1]);
  require(pipe2(pipe_ends, O_CLOEXEC) == 0 ? 0 : errno, "a pipe to a worker cannot be made");
  words_ = std::make_unique<LastWords>(moved_up(pipe_ends[0]));
  const Descriptor output = moved_up(pipe_ends[1]);
  fcntl(words_->pipe(), F_SETFL, O_NONBLOCK);
  Preparation preparation;
  preparation.connect(output.number(), theirs.number());
  pid_ = preparation.spawn(program);
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
    throw killed(Kind::out_of_memory, mebibytes_text(used) + " of memory beside the tensors, the limit is " +
                                          mebibytes_text(limits_.bytes));
}

WorkerProcess::Failure WorkerProcess::ended() {
  // A closed connection may also be the work of a process that lives on.
  if (!leaves()) return killed(Kind::crash, "the worker closed its connection to the judge");
  return {Kind::crash, with_last_words(end_text(reap()))};
}

WorkerProcess::Failure WorkerProcess::killed(Kind kind, const std::string& reason) {
  reap();
  return {kind, with_last_words(reason)};
}

std::string WorkerProcess::with_last_words(std::string text) {
  words_->listen();
  if (const std::string lines = words_->lines(); !lines.empty()) text += "; its last words: " + lines;
  return text;
}

}  // namespace assay::adapters
