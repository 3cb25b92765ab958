#pragma once

#include <unistd.h>

#include <functional>
#include <map>
#include <string>

namespace assay::hostile {

/// The hostile actions that a kernel can perform in the middle of a call, by name.
using Acts = std::map<std::string, std::function<void()>>;

/// Actions that take more memory than the tests' limit allows, each in a different way.
Acts thefts();
/// Actions that change how this thread computes, for example the rounding mode.
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
