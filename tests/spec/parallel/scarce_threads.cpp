#include "scarce_threads.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/sysinfo.h>

#include <atomic>
#include <cerrno>
#include <limits>

namespace {

constexpr int any_number = std::numeric_limits<int>::max();

std::atomic<int> threads_left = any_number, threads_refused = 0, cores_told = 0;

/// Returns the function of the C library that our function with the same name replaces.
template <class Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

namespace assay::test {

ScarceThreads::ScarceThreads(int startable, int cores) {
  threads_refused = 0, cores_told = cores, threads_left = startable;
}
ScarceThreads::~ScarceThreads() { threads_left = any_number, cores_told = 0; }
int ScarceThreads::refused() const { return threads_refused; }

}  // namespace assay::test

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) noexcept {
  if (threads_left != any_number && threads_left-- <= 0) {
    ++threads_refused;
    return EAGAIN;
  }
  return original<decltype(pthread_create)>("pthread_create")(thread, attributes, run, argument);
}

int get_nprocs() noexcept {
  if (cores_told > 0) return cores_told;
  return original<decltype(get_nprocs)>("get_nprocs")();
}
