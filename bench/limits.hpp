#pragma once

#include <functional>
#include <vector>

#include "recorder.hpp"

namespace assay::bench {

/// What this host can do at most, measured in turns with what is held against it: fused
/// multiply-adds in registers, and copies of memory that no cache holds, on every core.
class HostLimits {
 public:
  HostLimits();

  void multiply_add();
  void copy();

  /// Takes turns with both. Records the limits, and the shares of them that so many operations and
  /// bytes a run reach: the larger is of the limit that binds.
  std::vector<double> measure(Recorder& recorder, const Subject& subject,
                              const std::function<void()>& work, double flop, double bytes,
                              std::size_t runs);
  /// The same of multiply-adds alone, from seconds of runs and of multiply_add in turns.
  void record_share(Recorder& recorder, const Subject& subject, double flop,
                    const std::vector<double>& seconds, const std::vector<double>& of_peak) const;

 private:
  std::vector<char> from_, to_;
  double operations_ = 0;
};

}  // namespace assay::bench
