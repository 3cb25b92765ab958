#pragma once

namespace assay::test {

/// While this object exists, the machine reports this number of cores. This number of further
/// threads can be started, then no more.
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
