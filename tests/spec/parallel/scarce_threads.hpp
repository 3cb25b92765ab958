#pragma once

namespace assay::test {

/// Limits threads while the object exists. The machine reports this number of cores, and only
/// `startable` more threads can be started; further attempts fail.
class ScarceThreads {
 public:
  explicit ScarceThreads(int startable, int cores = 7);
  ScarceThreads(const ScarceThreads&) = delete;
  ScarceThreads& operator=(const ScarceThreads&) = delete;
  ~ScarceThreads();

  /// Returns how many threads could not be started since this object was constructed.
  int refused() const;
};

}  // namespace assay::test
