#include "process_family.hpp"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace assay::adapters {
namespace {

std::string folder_of(pid_t process) { return "/proc/" + std::to_string(process); }

}  // namespace

std::vector<pid_t> family_of(pid_t process) {
  std::vector<pid_t> family = {process};
  for (std::size_t k = 0; k < family.size(); ++k) {
    std::error_code gone;
    for (const auto& thread :
         std::filesystem::directory_iterator(folder_of(family[k]) + "/task", gone)) {
      std::ifstream children(thread.path() / "children");
      for (pid_t child = 0; children >> child;) family.push_back(child);
    }
  }
  return family;
}

std::int64_t private_bytes(const std::vector<pid_t>& processes) {
  std::int64_t pages = 0;
  for (const pid_t process : processes) {
    std::ifstream file(folder_of(process) + "/statm");
    std::int64_t total = 0, resident = 0, shared = 0;
    if (file >> total >> resident >> shared) pages += resident - shared;
  }
  return pages * sysconf(_SC_PAGESIZE);
}

void kill_family(pid_t leader) {
  for (const pid_t process : family_of(leader))
    if (process != leader) kill(process, SIGKILL);
  kill(-leader, SIGKILL);
}

}  // namespace assay::adapters
