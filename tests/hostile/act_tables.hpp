#pragma once

#include <unistd.h>

#include <functional>
#include <map>
#include <string>

namespace assay::hostile {

/// What can be done in the midst of a call, by its name.
using Acts = std::map<std::string, std::function<void()>>;

/// Takes more memory, of any kind, than the limit of the tests allows.
Acts thefts();
/// Changes how this thread computes.
Acts arithmetics();

/// Waits until somebody ends this thread.
[[noreturn]] void hang();

/// Runs `work` in a child; the parent goes on.
template <class Work>
void in_a_child(Work&& work) {
  if (fork() == 0) {
    work();
    _exit(0);
  }
}

}  // namespace assay::hostile
