#include "isolated/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "isolated/messages.hpp"
#include "process/launch.hpp"
#include "process/process_family.hpp"

namespace assay::adapters {
namespace {

using Kind = spec::ImplementationFault::Kind;
using std::chrono::milliseconds;

static_assert(channel_number <= last_child_number && lifeline_number <= last_child_number);

/// memory_interval and close_interval: the times between two quick, and between two thorough,
/// memory checks. leave_time and crash_time: how long a worker may take to end by itself, in the
/// normal case and after a crash.
constexpr milliseconds memory_interval{10}, close_interval{100};
constexpr milliseconds leave_time{2000}, crash_time{5000};
/// How long the judge waits for late effects of a call. settling_time: for effects that the judge
/// cannot observe. threads_time: the limit while the worker has more threads than before.
constexpr milliseconds settling_time{2}, threads_time{20};
constexpr std::chrono::microseconds settling_interval{500};

/// Describes how the worker ended. `when` says at which moment, for example "instead of answering".
std::string end_text(int status, const std::string& when) {
  std::string text = "the worker " + describe_end(status) + " " + when;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    text += "; the judge did not send that signal: perhaps the machine ran out of memory";
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

/// Prevents other processes of the same user from reading the memory of this process, which
/// contains the expected results of a case before the kernel computes it. Sanitizers need this
/// access, so they are exempt.
void hide_own_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  prctl(PR_SET_DUMPABLE, 0);
#endif
}

std::unique_ptr<Folder> folder_if_possible() {
  try {
    return std::make_unique<Folder>();
  } catch (const std::system_error&) {
    return nullptr;
  }
}

/// Returns the environment for the worker: the environment of this process, with a private folder
/// for temporary files, and without the variables in which a test runner describes the running
/// test.
std::vector<std::string> environment_in(const Folder* folder) {
  std::vector<std::string> entries = own_environment();
  std::erase_if(entries,
                [](const std::string& entry) { return entry.starts_with("PYTEST_CURRENT_TEST="); });
  if (folder == nullptr) return entries;
  std::erase_if(entries, [](const std::string& entry) { return entry.starts_with("TMPDIR="); });
  entries.push_back("TMPDIR=" + (*folder / "").string());
  return entries;
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerProgram& program, const WorkerLimits& limits)
    : limits_(limits), temporary_files_(folder_if_possible()) {
  start(program);
  greeting_ = answer();
  most_threads_ = threads_of(family_of(pid_));
}

void WorkerProcess::start(const WorkerProgram& program) {
  hide_own_memory();
  Ends connection = make_connection();
  Ends output = make_pipe(), lifeline = make_pipe();
  channel_ = std::make_unique<Channel>(std::move(connection.first), Channel::Files::refused);
  words_ = std::make_unique<LastWords>(std::move(output.first));
  lifeline_ = std::move(lifeline.second);
  Launch launch;
  launch.open("/dev/null", O_RDONLY, STDIN_FILENO);
  launch.connect(output.second, STDOUT_FILENO);
  launch.connect(output.second, STDERR_FILENO);
  launch.connect(connection.second, channel_number);
  launch.connect(lifeline.first, lifeline_number);
  std::vector<std::string> words = {"main"};  // a neutral name
  words.insert(words.end(), program.words.begin(), program.words.end());
  pid_ = launch.start(program.path, std::move(words), environment_in(temporary_files_.get()));
}

WorkerProcess::~WorkerProcess() {
  if (is_dead()) return;
  channel_->post(goodbye_message());
  channel_->advance();  // a worker that does not read it is killed
  leaves(leave_time);
  reap();
}

bool WorkerProcess::has_ended() const {
  siginfo_t state = {};
  return waitid(P_PID, static_cast<id_t>(pid_), &state, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         state.si_pid == pid_;
}

bool WorkerProcess::leaves(milliseconds time) {
  const auto deadline = Clock::now() + time;
  while (!has_ended()) {
    if (Clock::now() > deadline) return false;
    words_->listen();
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

int WorkerProcess::reap() {
  lifeline_.close();
  leaves(leave_time);  // waits until all its child processes are gone
  kill_family(pid_);   // before its number is reused
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

std::string WorkerProcess::ask(const std::string& request, int file, std::int64_t borrowed_bytes) {
  require_quiet();
  words_->listen();
  words_->forget();
  was_asked_ = true;
  lent_ = {.inode = inode_of(file), .bytes = borrowed_bytes};
  channel_->post(request, file);
  return answer();
}

std::optional<std::string> WorkerProcess::settle(const std::string& request) {
  if (!was_asked_) return std::nullopt;
  wait_for_afterthoughts();
  std::string answer = ask(request);
  was_asked_ = false;
  return answer;
}

void WorkerProcess::wait_for_afterthoughts() {
  const auto start = Clock::now();
  const auto at_least = std::exchange(has_settled_, true) ? start : start + settling_time;
  std::size_t threads = threads_of(family_of(pid_));
  while (is_quiet() && (Clock::now() < at_least ||
                        (threads > most_threads_ && Clock::now() < start + threads_time))) {
    std::this_thread::sleep_for(settling_interval);
    threads = threads_of(family_of(pid_));
  }
  most_threads_ = std::max(most_threads_, threads);
}

bool WorkerProcess::is_quiet() const {
  pollfd polled = {channel_->socket(), POLLIN, 0};
  return poll(&polled, 1, 0) == 0 && !has_ended();
}

void WorkerProcess::require_quiet() {
  pollfd polled = {channel_->socket(), POLLIN, 0};
  if (poll(&polled, 1, 0) == 0 && !has_ended()) return;
  if ((polled.revents & POLLHUP) != 0 || has_ended()) throw ended("after it had answered");
  throw killed(Kind::crash,
               "the worker wrote to the judge, or closed its connection, without "
               "being asked");
}

std::string WorkerProcess::answer() {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(limits_.seconds));
  bool talks = true;
  while (true) {
    const short sending = channel_->is_sending() ? POLLOUT : 0;
    pollfd polled[] = {{channel_->socket(), static_cast<short>(POLLIN | sending), 0},
                       {talks ? words_->pipe() : -1, POLLIN, 0}};
    poll(polled, 2, static_cast<int>(memory_interval.count()));
    if (polled[1].revents != 0) talks = words_->listen();
    const bool was_alive = !has_ended();  // checked before reading: afterwards no more data can
                                          // arrive
    const Channel::State state = channel_->advance();
    require_memory();
    if (auto message = channel_->take()) return std::move(message->text);
    if (state == Channel::State::nonsense)
      throw talked_nonsense("a message of more than " + mebibytes_text(longest_message));
    if (state == Channel::State::closed || !was_alive) throw ended("instead of answering");
    if (Clock::now() > deadline)
      throw killed(Kind::timeout,
                   "no answer within the time limit of " + seconds_text(limits_.seconds));
  }
}

void WorkerProcess::require_memory() {
  const auto now = Clock::now();
  if (now < next_look_) return;
  next_look_ = now + memory_interval;
  const std::vector<pid_t> family = family_of(pid_);
  if (now >= next_close_look_) {
    next_close_look_ = now + close_interval;
    hidden_ = hidden_bytes(family, lent_);
  }
  const std::int64_t own = own_bytes(family);
  if (own + mapped_bytes(family) - lent_.bytes + hidden_ <= limits_.bytes) return;
  const std::int64_t used = own + std::max(shared_bytes(family) - lent_.bytes, hidden_);
  if (used > limits_.bytes)
    throw killed(Kind::out_of_memory, mebibytes_text(used) +
                                          " of memory in addition to the tensors, the limit is " +
                                          mebibytes_text(limits_.bytes));
}

WorkerProcess::Failure WorkerProcess::talked_nonsense(const std::string& what) {
  return killed(Kind::crash, "the worker sent an invalid answer: " + what);
}

WorkerProcess::Failure WorkerProcess::ended(const std::string& when) {
  // Here the worker still runs, or the worker ended but one of its descendants still runs.
  if (!leaves(crash_time))
    return killed(Kind::crash, "the worker closed its connection to the judge, or wrote into it");
  return {Kind::crash, with_last_words(end_text(reap(), when))};
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
