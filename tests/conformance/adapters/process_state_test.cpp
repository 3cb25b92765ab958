#include "process/process_state.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace assay::adapters {
namespace {

/// Starts a child process that calls `act` and then waits until it is killed.
class Child {
 public:
  explicit Child(const std::function<void()>& act) {
    int ends[2];
    if (pipe(ends) != 0) return;
    number_ = fork();
    if (number_ == 0) {
      act();
      close(ends[0]);
      close(ends[1]);
      pause();
      _exit(0);
    }
    close(ends[1]);
    char none = 0;
    static_cast<void>(!read(ends[0], &none, 1));  // returns after the child has acted or ended
    close(ends[0]);
  }
  ~Child() {
    kill(number_, SIGKILL);
    waitpid(number_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  ProcessState state() const { return ProcessState::of(number_); }

 private:
  pid_t number_ = -1;
};

TEST(StateOfAnotherProcess, IsWhatItChanged) {
  const Child healthy([] {});
  const Child moved([] {
    if (chdir("/") != 0) _exit(1);
    umask(0777);
  });
  EXPECT_EQ(difference(healthy.state(), healthy.state()), "");
  const std::string changes = difference(healthy.state(), moved.state());
  EXPECT_NE(changes.find("the working folder at '/'"), std::string::npos) << changes;
  EXPECT_NE(changes.find("the umask at 777"), std::string::npos) << changes;
}

/// The child has ended, but its parent has not called wait, so the process id is still in use.
TEST(StateOfAnotherProcess, EndedProcessIsNotAChange) {
  const Child healthy([] {}), ended([] { _exit(0); });
  EXPECT_EQ(difference(healthy.state(), ended.state()), "");
}

}  // namespace
}  // namespace assay::adapters
