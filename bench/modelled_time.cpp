#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "assay/optimized/flash_attention_score_grad/estimate.hpp"
#include "assay/optimized/flash_attention_score_grad/tiling.hpp"
#include "assay/optimized/nsa_selected_attention_grad/estimate.hpp"
#include "benchmarks.hpp"
#include "shapes.hpp"

namespace assay::bench {
namespace {

constexpr std::string_view pipes[device::pipe_count] = {"cube_mte2",   "mte1",   "cube", "fixpipe",
                                                        "vector_mte2", "vector", "mte3"};

optimized::Estimate estimate_of(const spec::FlashAttentionScoreGrad::Problem& p,
                                const device::Spec& device) {
  return optimized::estimate(p, optimized::plan(p, device), device);
}

optimized::Estimate estimate_of(const spec::NsaSelectedAttentionGrad::Problem& p,
                                const device::Spec& device) {
  using namespace optimized::selected;
  return estimate(p, plan(p, device), even_demand(p), device);
}

std::string busiest(const optimized::Estimate& estimate) {
  const auto at = std::max_element(estimate.busy.begin(), estimate.busy.end());
  return std::string(pipes[at - estimate.busy.begin()]);
}

/// Every assumed number of the device, in the order of visit_quantities.
std::vector<std::size_t> assumed(const device::Spec& spec) {
  std::vector<std::size_t> positions;
  const auto all = device::quantities(spec);
  for (std::size_t k = 0; k < all.size(); ++k)
    if (all[k].assumed && all[k].low < all[k].high) positions.push_back(k);
  return positions;
}

/// The device with number `position` at one end of its range.
device::Spec moved(device::Spec spec, std::size_t position, double device::Quantity::*end) {
  std::size_t k = 0;
  device::visit_quantities(spec, [&](device::Quantity& quantity) {
    if (k++ == position) quantity.value = quantity.*end;
  });
  return spec;
}

void record(Recorder& recorder, const std::string& problem, const optimized::Estimate& estimate) {
  const Subject subject{"modelled.a2", problem};
  recorder.modelled(subject, {"makespan", "cycle"}, estimate.makespan.count);
  for (std::size_t pipe = 0; pipe < device::pipe_count; ++pipe)
    recorder.modelled(subject, {std::string(pipes[pipe]) + "_busy", "cycle"},
                      estimate.busy[pipe].count);
  recorder.modelled(subject, {"gm_read", "B"}, static_cast<double>(estimate.read.count));
  recorder.modelled(subject, {"gm_written", "B"}, static_cast<double>(estimate.written.count));
  recorder.modelled(subject, {"cube_utilisation", "%"}, 100 * estimate.cube_utilisation);
}

}  // namespace

void modelled_time(Recorder& recorder) {
  for (const auto& p : long_shapes(device_heads))
    record(recorder, name_of(p), estimate_of(p, device::a2()));
  for (const auto& p : selected_shapes(4, 16384))
    record(recorder, name_of(p), estimate_of(p, device::a2()));
}

void sensitivity(Recorder& recorder) {
  const device::Spec device = device::a2();
  const auto numbers = device::quantities(device);
  for (const auto& p : long_shapes(device_heads)) {
    const optimized::Estimate nominal = estimate_of(p, device);
    const Subject subject{"sensitivity.a2", name_of(p) + ", busiest " + busiest(nominal)};
    recorder.modelled(subject, {"time", "us"}, nominal.seconds * 1e6);
    for (const std::size_t position : assumed(device))
      for (const auto end : {&device::Quantity::low, &device::Quantity::high}) {
        const device::Quantity& number = numbers[position];
        if (number.*end == number.value) continue;
        const optimized::Estimate other = estimate_of(p, moved(device, position, end));
        std::string what =
            fmt::format("{} {:g} -> {:g} {}", number.name, number.value, number.*end, number.unit);
        if (busiest(other) != busiest(nominal)) what += ", busiest " + busiest(other);
        recorder.modelled(subject, {what, "% of time"},
                          100 * (other.seconds / nominal.seconds - 1));
      }
  }
}

}  // namespace assay::bench
