#include "process/process_state.hpp"

#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "process/launch.hpp"

namespace assay::adapters {
namespace {

constexpr std::size_t shown_bytes_of_value = 100;  // bytes of a value that a message quotes

struct LimitName {
  int resource;
  const char* name;
};
constexpr LimitName limit_names[] = {
    {RLIMIT_AS, "RLIMIT_AS"},
    {RLIMIT_CORE, "RLIMIT_CORE"},
    {RLIMIT_CPU, "RLIMIT_CPU"},
    {RLIMIT_DATA, "RLIMIT_DATA"},
    {RLIMIT_FSIZE, "RLIMIT_FSIZE"},
    {RLIMIT_LOCKS, "RLIMIT_LOCKS"},
    {RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK"},
    {RLIMIT_MSGQUEUE, "RLIMIT_MSGQUEUE"},
    {RLIMIT_NICE, "RLIMIT_NICE"},
    {RLIMIT_NOFILE, "RLIMIT_NOFILE"},
    {RLIMIT_NPROC, "RLIMIT_NPROC"},
    {RLIMIT_RSS, "RLIMIT_RSS"},
    {RLIMIT_RTPRIO, "RLIMIT_RTPRIO"},
    {RLIMIT_RTTIME, "RLIMIT_RTTIME"},
    {RLIMIT_SIGPENDING, "RLIMIT_SIGPENDING"},
    {RLIMIT_STACK, "RLIMIT_STACK"},
};

/// Returns the umask of the process with this name ("self" or a process number). The function reads
/// /proc, because umask(2) would change the mask for other threads for a moment.
int umask_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/status");
  constexpr std::string_view name = "Umask:";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name)) return std::stoi(line.substr(name.size()), nullptr, 8);
  return -1;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  std::error_code gone;
  for (std::filesystem::directory_iterator at("/proc/self/fd", gone), end; !gone && at != end;
       at.increment(gone))
    ++count;
  return count;
}

/// Returns the number of running timers: interval timers, and the timers of timer_create, which
/// Linux lists in /proc.
std::size_t pending_timers() {
  std::size_t count = 0;
  for (const auto which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval timer{};
    getitimer(which, &timer);
    if (timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0) ++count;
  }
  std::ifstream file("/proc/self/timers");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("ID:")) ++count;
  return count;
}

std::string working_folder() {
  char here[4096] = "";
  return getcwd(here, sizeof here) == nullptr ? "" : here;
}

std::string limit_text(rlim_t value) {
  return value == RLIM_INFINITY ? "unlimited" : std::to_string(value);
}

std::string value_text(std::string text) {
  if (text.size() > shown_bytes_of_value)
    text.replace(shown_bytes_of_value, std::string::npos, "...");
  return "'" + text + "'";
}

std::string octal(int mask) {
  std::string text;
  for (const int shift : {6, 3, 0}) text += static_cast<char>('0' + (mask >> shift & 7));
  return text;
}

/// Returns the state of an environment variable as text: "at VALUE" if it is set, otherwise
/// "unset".
std::string variable_text(const std::vector<std::string>& environment, const std::string& start) {
  const auto found = std::ranges::find_if(
      environment, [&](const std::string& entry) { return entry.starts_with(start); });
  return found == environment.end() ? "unset" : "at " + value_text(found->substr(start.size()));
}

std::string blocked_signal(const sigset_t& before, const sigset_t& after) {
  for (int number = 1; number < NSIG; ++number)
    if (sigismember(&before, number) != sigismember(&after, number)) {
      const char* const name = sigabbrev_np(number);
      return (name == nullptr ? "signal " + std::to_string(number) : "SIG" + std::string(name)) +
             (sigismember(&after, number) == 1 ? " blocked" : " no longer blocked");
    }
  return "";
}

}  // namespace

ProcessState ProcessState::now() {
  ProcessState state;
  for (const auto& [resource, name] : limit_names)
    getrlimit(resource, &state.limits.at(static_cast<std::size_t>(resource)));
  state.folder = working_folder();
  state.locale = std::setlocale(LC_ALL, nullptr);
  state.environment = own_environment();
  pthread_sigmask(SIG_SETMASK, nullptr, &state.blocked);
  state.mask = umask_of("self");
  state.descriptors = open_descriptors();
  state.timers = pending_timers();
  return state;
}

ProcessState ProcessState::of(pid_t process) {
  const std::string number = std::to_string(process);
  ProcessState state;
  for (const auto& [resource, name] : limit_names)
    ::prlimit(process, static_cast<__rlimit_resource>(resource), nullptr,
              &state.limits.at(static_cast<std::size_t>(resource)));
  std::error_code hidden;
  state.folder = std::filesystem::read_symlink("/proc/" + number + "/cwd", hidden).string();
  state.mask = umask_of(number);
  return state;
}

std::string difference(const ProcessState& before, const ProcessState& after) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  for (const auto& [resource, name] : limit_names) {
    const rlimit& old = before.limits.at(static_cast<std::size_t>(resource));
    const rlimit& limit = after.limits.at(static_cast<std::size_t>(resource));
    if (limit.rlim_cur < old.rlim_cur || limit.rlim_max < old.rlim_max)
      add(std::string(name) + " at " + limit_text(std::min(limit.rlim_cur, limit.rlim_max)) +
          ", where it was " + limit_text(old.rlim_cur));
  }
  if (after.folder != before.folder && !after.folder.empty() && !before.folder.empty())
    add("the working folder at " + value_text(after.folder) + ", where it was " +
        value_text(before.folder));
  if (after.mask != before.mask && after.mask >= 0 && before.mask >= 0)
    add("the umask at " + octal(after.mask) + ", where it was " + octal(before.mask));
  if (after.locale != before.locale)
    add("the locale at " + value_text(after.locale) + ", where it was " +
        value_text(before.locale));
  if (const std::string signal = blocked_signal(before.blocked, after.blocked); !signal.empty())
    add(signal);
  for (const std::string& entry : before.environment) {
    if (std::ranges::find(after.environment, entry) != after.environment.end()) continue;
    const std::string start = entry.substr(0, entry.find('=') + 1);
    add("the variable " + value_text(start.substr(0, start.find('='))) + " " +
        variable_text(after.environment, start) + ", where it was " +
        value_text(entry.substr(start.size())));
    break;  // one variable is enough to find the cause
  }
  if (after.descriptors > before.descriptors + most_kept_descriptors)
    add(std::to_string(after.descriptors - before.descriptors) +
        " descriptors open that were not open before");
  if (after.timers > before.timers)
    add(std::to_string(after.timers - before.timers) + " more timer" +
        (after.timers - before.timers == 1 ? "" : "s") + " than before");
  return text;
}

}  // namespace assay::adapters
