#pragma once

#include <functional>
#include <vector>

#include "recorder.hpp"

namespace assay::bench {

/// Measures two peak rates of this host on all cores: fused multiply-adds in registers, and copies
/// of memory larger than any cache. These runs alternate with runs of the workload that is compared
/// with the peaks.
class HostLimits {
 public:
  HostLimits();

  void multiply_add();
  void copy();

  /// Alternates runs of `work` with the two peak measurements, and returns the seconds of `work`.
  /// Records both peak rates, and the share of each peak that `work` reaches with `flop` operations
  /// and `bytes` bytes. The larger share shows which peak limits `work`.
  std::vector<double> measure(Recorder& recorder, const Subject& subject,
                              const std::function<void()>& work, double flop, double bytes,
                              std::size_t runs);
  /// Records the peak rate of multiply-adds and the fraction of this rate that a workload reaches.
  /// `seconds`: times of the workload; `of_peak`: times of the multiply-add measurement, from
  /// alternating runs.
  void record_share(Recorder& recorder, const Subject& subject, double flop,
                    const std::vector<double>& seconds, const std::vector<double>& of_peak) const;

 private:
  std::vector<char> from_, to_;
  double operations_ = 0;
};

}  // namespace assay::bench
