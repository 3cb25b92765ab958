#pragma once

namespace assay::test {

/// As long as it lives, the machine says that it has so many cores, and starts so many threads more
/// and then none.
class ScarceThreads {
 public:
  explicit ScarceThreads(int startable, int cores = 7);
  ScarceThreads(const ScarceThreads&) = delete;
  ScarceThreads& operator=(const ScarceThreads&) = delete;
  ~ScarceThreads();

  /// How many could not be started since.
  int refused() const;
};

}  // namespace assay::test
