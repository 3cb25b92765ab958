#pragma once

#include <unistd.h>

#include <functional>
#include <map>
#include <string>

namespace assay::hostile {

/// The actions that a hostile kernel can do in the middle of a call, by name.
using Acts = std::map<std::string, std::function<void()>>;

/// Actions that take more memory than the limit of the tests allows, in different ways.
Acts thefts();
/// Actions that change the arithmetic of this thread.
Acts arithmetics();

/// Waits until the process is killed.
[[noreturn]] void hang();

/// Runs `work` in a child process; the parent continues immediately.
template <class Work>
void in_a_child(Work&& work) {
  if (fork() == 0) {
    work();
    _exit(0);
  }
}

}  // namespace assay::hostile
