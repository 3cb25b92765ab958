#include "command/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "process/containment.hpp"
#include "process/launch.hpp"

namespace assay::adapters {
namespace {

using namespace std::chrono_literals;

constexpr auto farewell = 2s;         // grace period after its input is closed
constexpr auto look_interval = 20ms;  // interval between two checks whether it still runs
constexpr auto look_at_rest = 1ms;    // interval between two checks whether it waits
constexpr auto nap = 2ms;             // interval between two checks whether it has ended

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& set) {
  std::vector<std::string> all = own_environment();
  std::erase_if(all, [&](const std::string& entry) {
    return std::ranges::any_of(
        set, [&](const auto& pair) { return entry.starts_with(pair.first + "="); });
  });
  for (const auto& [name, value] : set) all.push_back(name + "=" + value);
  return all;
}

/// Blocks SIGPIPE in this thread while the object exists, so that a write to a closed pipe returns
/// an error.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~NoBrokenPipe() {
    const timespec now{};
    while (sigtimedwait(&set_, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  sigset_t set_{}, before_{};
};

int milliseconds_until(Process::Deadline deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000'000));
}

}  // namespace

std::string Process::End::text() const {
  if (signal == 0) return "exit status " + std::to_string(status);
  return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

Process::Process(const std::vector<std::string>& words,
                 const std::vector<std::pair<std::string, std::string>>& environment,
                 const std::filesystem::path& errors) {
  Ends to = make_pipe(), from = make_pipe();
  Launch launch;
  launch.connect(to.first, STDIN_FILENO);
  launch.connect(from.second, STDOUT_FILENO);
  launch.open(errors.string(), O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO);
  pid_ = launch.start(words.front(), words, environment_with(environment));
  input_ = std::move(to.second);
  output_ = std::move(from.first);
}

Process::~Process() {
  hang_up();
  if (!ended(std::chrono::steady_clock::now() + farewell)) kill();
}

bool Process::say(const std::string& line) {
  const NoBrokenPipe guard;
  const std::string bytes = line + '\n';
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = ::write(input_.number(), bytes.data() + at, bytes.size() - at);
    if (written > 0)
      at += static_cast<std::size_t>(written);
    else if (errno != EINTR)
      return false;
  }
  return true;
}

bool Process::has_read_all() const {
  int left = 0;
  return ::ioctl(input_.number(), FIONREAD, &left) != 0 || left == 0;
}

void Process::hang_up() { input_.close(); }

bool Process::has_line(std::string& line) {
  const std::size_t end = heard_.find('\n');
  if (end == std::string::npos) return false;
  line = heard_.substr(0, end);
  heard_.erase(0, end + 1);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

void Process::keep(std::string_view block) {
  if (is_cut_) block.remove_prefix(std::min(block.find('\n'), block.size()));
  if (block.empty()) return;
  is_cut_ = false;
  heard_ += block;
}

Process::Heard Process::hear(std::string& line, Deadline deadline, LongLine long_line) {
  while (!has_line(line)) {
    if (heard_.size() > longest_line && long_line == LongLine::refused) {
      heard_.clear();
      return Heard::no_line;
    }
    if (heard_.size() > longest_line) {
      heard_.resize(longest_line);
      is_cut_ = true;
    }
    // Checks whether the program has ended before it reads the pipe. If the program has ended, the
    // pipe already contains all its output. The end of the pipe does not prove that the program
    // ended, because child processes may keep the pipe open.
    const auto now = std::chrono::steady_clock::now();
    const bool is_over = ended(now).has_value();
    const auto look = is_over ? now : std::min<Deadline>(deadline, now + look_interval);
    pollfd waiting{.fd = output_.number(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, milliseconds_until(look));
    if (ready == 0 && !is_over && std::chrono::steady_clock::now() >= deadline)
      return Heard::nothing;
    if (ready == 0 && !is_over) continue;
    std::array<char, 4096> block{};
    const ssize_t size = ready <= 0 ? -1 : ::read(output_.number(), block.data(), block.size());
    if (ready != 0 && size < 0 && errno == EINTR)
      continue;  // a signal to this process does not concern the program
    if (size > 0) {
      keep({block.data(), static_cast<std::size_t>(size)});
    } else {
      if (heard_.empty()) return Heard::end;
      keep("\n");  // a last line without newline
    }
  }
  return Heard::line;
}

bool Process::is_reading() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/syscall");
  long call = -1;
  std::string descriptor;
  return file >> call >> descriptor && call == SYS_read && descriptor == "0x0";
}

std::optional<ProcessState> Process::state() {
  const ProcessState state = ProcessState::of(pid_);
  // Checks that the program still runs, after the process state was read. If the program has ended,
  // the state may be incomplete.
  if (ended(std::chrono::steady_clock::now())) return std::nullopt;
  return state;
}

void Process::rest(Deadline deadline) {
  pollfd waiting{.fd = output_.number(), .events = POLLIN, .revents = 0};
  while (heard_.empty() && std::chrono::steady_clock::now() < deadline && !is_reading() &&
         ::poll(&waiting, 1, static_cast<int>(look_at_rest.count())) == 0) {
  }
  // A program that closed its output usually ends soon, but waitpid reports the end a little later.
  if ((waiting.revents & POLLHUP) != 0) ended(deadline);
}

std::optional<Process::End> Process::ended(Deadline deadline) {
  const bool was_over = end_.has_value();
  while (!end_) {
    int state = 0;
    const pid_t found = ::waitpid(pid_, &state, WNOHANG);
    if (found == pid_)
      end_ = WIFSIGNALED(state) ? End{.status = 0, .signal = WTERMSIG(state)}
                                : End{.status = WEXITSTATUS(state), .signal = 0};
    else if (found < 0 && errno == ECHILD)
      end_ = End{};  // other code has reaped the process
    else if (std::chrono::steady_clock::now() >= deadline)
      return std::nullopt;
    else
      std::this_thread::sleep_for(nap);
  }
  if (!was_over) end_descendants();  // a worker has no other descendants
  return end_;
}

void Process::kill() {
  if (end_) return;
  ::kill(-pid_, SIGKILL);
  ended(Deadline::max());
}

}  // namespace assay::adapters
