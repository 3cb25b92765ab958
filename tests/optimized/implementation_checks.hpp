#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "assay/device/ascend.hpp"
#include "assay/optimized/buffer.hpp"
#include "assay/optimized/options.hpp"
#include "assay/optimized/traffic.hpp"
#include "assay/spec/implementation.hpp"

/// Checks properties that our implementations of all operators must have.
namespace assay::test {

/// Returns options that must not change a single bit of the result: each of these numbers of
/// threads, and two threads with each instruction set.
inline std::vector<optimized::Options> ways_to_run(std::initializer_list<int> threads) {
  std::vector<optimized::Options> ways;
  for (const int number : threads) ways.push_back({.threads = number});
  for (const auto instructions : optimized::available_instructions())
    ways.push_back({.threads = 2, .instructions = instructions});
  return ways;
}

inline std::string printed(const optimized::Options& options) {
  return std::to_string(options.threads) + " threads, " +
         std::string(spec::to_string(options.instructions));
}

/// Returns the message with which phase 1 (argument check) refuses a call, or an empty string if it
/// accepts the call.
template <class Call>
std::string refusal_of(void (*refuse_unless_legal)(const Call& call), const Call& call) {
  try {
    refuse_unless_legal(call);
  } catch (const spec::Rejected& rejected) {
    return rejected.what();
  }
  return "";
}

/// Returns how often the kernel took each branch of its tiling ("regime"), by the name of the
/// branch.
inline std::map<std::string, double> times_of(const std::vector<spec::Metric>& regimes) {
  std::map<std::string, double> times;
  for (const spec::Metric& regime : regimes) {
    EXPECT_EQ(regime.unit, spec::regime_unit) << regime.name;
    times[regime.name] = regime.value;
  }
  return times;
}

/// Expects that the kernel reports `count` metrics, among them the memory traffic on the modelled
/// A2. Before the first run there must be no counts of the tiling's branches ("regimes").
template <class Op>
void expect_metrics(spec::Implementation<Op>& implementation, const std::function<void()>& run,
                    std::size_t count, const optimized::Traffic& traffic) {
  EXPECT_EQ(implementation.name(), "optimized-a2");
  EXPECT_TRUE(implementation.metrics().empty());
  run();
  auto metrics = implementation.metrics();
  EXPECT_GT(std::erase_if(metrics, [](const auto& m) { return m.unit == spec::regime_unit; }), 0U);
  EXPECT_EQ(metrics.size(), count);
  std::map<std::string, double> values;
  for (const auto& metric : metrics) {
    EXPECT_GT(metric.value, 0) << metric.name;
    EXPECT_EQ(metric.unit, "B") << metric.name;
    values[metric.name] = metric.value;
  }
  EXPECT_EQ(values["gm_read"], static_cast<double>(traffic.read.count));
  EXPECT_EQ(values["gm_written"], static_cast<double>(traffic.written.count));
}

/// Returns a device on which all quantities that are given in cycles are three times as large.
inline device::Spec slower(device::Spec spec) {
  visit_quantities(spec, [](device::Quantity& quantity) {
    if (quantity.unit.starts_with("cycle")) quantity.value *= 3;
  });
  return spec;
}

/// Returns whether a tiling of attention places its buffers without overlap in the five memories of
/// the device, and whether the buffers of the vector cores have the stated number of rows.
template <class Tiling>
bool has_legal_buffers(const Tiling& tiling, const device::Spec& spec) {
  const auto& m = spec.memories;
  const std::map<std::string, device::Bytes> capacity = {{"L1", bytes_of(m.l1)},
                                                         {"L0A", bytes_of(m.l0a)},
                                                         {"L0B", bytes_of(m.l0b)},
                                                         {"L0C", bytes_of(m.l0c)},
                                                         {"UB", bytes_of(m.ub)}};
  std::map<std::string, device::Bytes> used;
  for (const optimized::Buffer& buffer : tiling.buffers) {
    if (!capacity.contains(buffer.memory)) return false;
    if (buffer.offset < used[buffer.memory] || buffer.size.count <= 0) return false;
    used[buffer.memory] = buffer.offset + buffer.size;
    if (used[buffer.memory] > capacity.at(buffer.memory)) return false;
    if (buffer.what == "scores ping" &&
        buffer.size.count != tiling.vector_rows * tiling.columns * 4)
      return false;
  }
  return used.size() == capacity.size();
}

}  // namespace assay::test
