#pragma once

namespace assay::test {

/// While this object exists, the machine reports this number of cores. `threads` more threads can
/// be started; after that, starting a thread fails.
class ScarceThreads {
 public:
  explicit ScarceThreads(int startable, int cores = 7);
  ScarceThreads(const ScarceThreads&) = delete;
  ScarceThreads& operator=(const ScarceThreads&) = delete;
  ~ScarceThreads();

  /// The number of threads that could not be started since the construction of this object.
  int refused() const;
};

}  // namespace assay::test
