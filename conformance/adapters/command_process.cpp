#include "command_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

namespace assay::adapters {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t longest_line = 1 << 16;
constexpr auto farewell = 2s;     // for a program to end by itself when its input is closed
constexpr auto nap = 2ms;         // between two looks whether it has ended

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

void close_end(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

/// Two ends of a pipe that no other child inherits.
struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno, "a pipe cannot be made");
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& set) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string word = *entry;
    const bool replaced = std::ranges::any_of(
        set, [&](const auto& pair) { return word.starts_with(pair.first + "="); });
    if (!replaced) all.push_back(word);
  }
  for (const auto& [name, value] : set) all.push_back(name + "=" + value);
  return all;
}

/// What posix_spawn is told: standard streams, a group of its own, no blocked signals.
class Launch {
 public:
  Launch(int input, int output, const std::filesystem::path& errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, errors.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawnattr_init(&attributes_);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                               POSIX_SPAWN_SETSIGDEF);
  }
  ~Launch() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  pid_t start(std::vector<std::string> words, std::vector<std::string> environment) const {
    pid_t pid = -1;
    const int error = posix_spawnp(&pid, words.front().c_str(), &actions_, &attributes_,
                                   pointers(words).data(), pointers(environment).data());
    if (error != 0) fail(error, "'" + words.front() + "' cannot be started");
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Keeps a write to a pipe that nobody reads from ending this process, in this thread alone.
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
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
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
  Pipe to, from;
  pid_ = Launch(to.read_end, from.write_end, errors).start(words, environment_with(environment));
  input_ = std::exchange(to.write_end, -1);
  output_ = std::exchange(from.read_end, -1);
}

Process::~Process() {
  hang_up();
  if (!ended(std::chrono::steady_clock::now() + farewell)) kill();
  close_end(output_);
}

bool Process::say(const std::string& line) {
  const NoBrokenPipe guard;
  const std::string bytes = line + '\n';
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = ::write(input_, bytes.data() + at, bytes.size() - at);
    if (written > 0)
      at += static_cast<std::size_t>(written);
    else if (errno != EINTR)
      return false;
  }
  return true;
}

void Process::hang_up() { close_end(input_); }

Process::Heard Process::hear(std::string& line, Deadline deadline) {
  for (;;) {
    if (const std::size_t end = heard_.find('\n'); end != std::string::npos) {
      line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return Heard::line;
    }
    if (heard_.size() > longest_line) return Heard::end;
    pollfd waiting{.fd = output_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, milliseconds_until(deadline));
    if (ready == 0) return Heard::nothing;
    if (ready < 0) continue;  // a signal to this process is no concern of the program
    std::array<char, 4096> block{};
    const ssize_t size = ::read(output_, block.data(), block.size());
    if (size > 0) {
      heard_.append(block.data(), static_cast<std::size_t>(size));
    } else if (size == 0) {
      if (heard_.empty()) return Heard::end;
      heard_ += '\n';  // a last line without its end
    }
  }
}

std::optional<Process::End> Process::ended(Deadline deadline) {
  while (!end_) {
    int state = 0;
    const pid_t found = ::waitpid(pid_, &state, WNOHANG);
    if (found == pid_)
      end_ = WIFSIGNALED(state) ? End{.status = 0, .signal = WTERMSIG(state)}
                                : End{.status = WEXITSTATUS(state), .signal = 0};
    else if (std::chrono::steady_clock::now() >= deadline)
      return std::nullopt;
    else
      std::this_thread::sleep_for(nap);
  }
  return end_;
}

void Process::kill() {
  if (end_) return;
  ::kill(-pid_, SIGKILL);
  ended(Deadline::max());
}

}  // namespace assay::adapters
