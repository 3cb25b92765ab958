#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "build_paths.hpp"
#include "session.hpp"

namespace assay::tests {

/// Starts this program in a child process after calling `prepare` there. The output goes to a file.
class Program {
 public:
  Program(std::vector<std::string> words, std::string output,
          const std::function<void()>& prepare = {})
      : output_(std::move(output)) {
    words.insert(words.begin(), tests::program());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    const int file = open(output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    if (prepare) prepare();
    execv(arguments.front(), arguments.data());
    _exit(127);
  }
  ~Program() {
    if (!ended_) kill(), wait();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void kill(int signal = SIGKILL) const { ::kill(pid_, signal); }
  bool has_ended() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return ended_;
  }
  /// Returns the exit code of the process, or -1 if a signal ended it.
  int wait() {
    if (!ended_) waitpid(pid_, &status_, 0), ended_ = true;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  }
  std::string output() const { return text_of(output_); }
  bool has_child() const {
    const std::string id = std::to_string(pid_);
    return !text_of("/proc/" + id + "/task/" + id + "/children").empty();
  }

 private:
  std::string output_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace assay::tests
