#pragma once

#include <string>
#include <vector>

#include "assay/device/units.hpp"
#include "assay/optimized/block_plan.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::optimized {

/// The bytes that a run moves between global memory and the cores, including bytes that come from
/// the L2 cache.
struct Traffic {
  device::Bytes read, written;

  Traffic& operator+=(const Traffic& other) {
    read += other.read, written += other.written;
    return *this;
  }
  friend Traffic operator*(std::int64_t times, const Traffic& one) {
    return {times * one.read, times * one.written};
  }
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// Returns the metrics of a run: its global-memory traffic and the peak use of each buffer.
std::vector<spec::Metric> metrics_of(const Traffic& traffic, const BlockPlan& plan);
std::vector<spec::Metric> metrics_of(const Traffic& traffic);

/// Formats the memory traffic in one line for people.
std::string to_text(const Traffic& traffic);

}  // namespace assay::optimized
