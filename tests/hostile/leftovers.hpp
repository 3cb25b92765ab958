#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace assay::hostile {

/// Marks all processes that this process starts from now on with an environment variable.
class Mark {
 public:
  Mark() : entry_("ASSAY_MARK=" + std::to_string(getpid()) + "." + std::to_string(++made)) {
    putenv(entry_.data());
  }
  ~Mark() { unsetenv("ASSAY_MARK"); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  /// Returns the running processes that have the mark, in any namespace or session and with any
  /// parent.
  std::vector<pid_t> processes() const {
    std::vector<pid_t> found;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
      const std::string name = entry.path().filename().string();
      if (!std::ranges::all_of(name, [](char c) { return '0' <= c && c <= '9'; })) continue;
      std::ifstream file(entry.path() / "environ", std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      if (text.find(entry_ + '\0') != std::string::npos) found.push_back(std::stoi(name));
    }
    return found;
  }
  /// Returns whether all marked processes end within `time`.
  bool vanishes(std::chrono::milliseconds time = {}) const {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!processes().empty()) {
      if (std::chrono::steady_clock::now() >= end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }

 private:
  static inline int made = 0;
  std::string entry_;  ///< the environment holds its address
};

/// Returns the names of the files in a folder that begin with this text, sorted.
inline std::vector<std::string> names_in(const std::filesystem::path& folder,
                                         const std::string& start = "") {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    if (entry.path().filename().string().starts_with(start))
      names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace assay::hostile
