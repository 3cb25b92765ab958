#include <algorithm>

#include "assay/device/scratchpad.hpp"
#include "schedules/report.hpp"
#include "schedules/selected_work.hpp"

namespace assay::optimized::schedules {
namespace {

constexpr std::int64_t narrowest = 64;  // fewest keys of a block that is split

template <class Schedule>
void add_plan(std::vector<SelectedPlan>& all, const char* name, const Selection& s,
              const Schedule& schedule, const device::Spec& device) {
  try {
    all.push_back({name, schedule, model(s, schedule, device)});
  } catch (const device::DeviceFault&) {
    return;  // A buffer is too small: the next candidate may fit.
  }
}

std::vector<SelectedPlan> forward_plans(const Selection& s, const device::Spec& device) {
  std::vector<SelectedPlan> all;
  for (std::int64_t blocks = 1; blocks <= s.count; ++blocks)
    for (const std::int64_t ahead : {1, 2, 3, 4})
      for (const std::int64_t buffers : {1, 2, 4})
        if (s.count % blocks == 0)
          add_plan(all, "by token", s, ByList{blocks, ahead, buffers}, device);
  return all;
}

std::vector<SelectedPlan> sorted(std::vector<SelectedPlan> all) {
  std::stable_sort(all.begin(), all.end(), [](const SelectedPlan& x, const SelectedPlan& y) {
    return x.modelled.seconds < y.modelled.seconds;
  });
  return all;
}

}  // namespace

std::string SelectedPlan::to_text() const {
  return std::visit([](const auto& of) { return of.to_text(); }, schedule);
}

std::vector<SelectedPlan> vendor_plans(const Selection& s, const device::Spec& device) {
  std::vector<SelectedPlan> all;
  if (s.direction == Direction::forward) return all;
  for (std::int64_t chunk = std::min<std::int64_t>(8, s.count); chunk > 0 && all.empty();
       chunk /= 2)
    add_plan(all, "basic", s, ByToken{.chunk = chunk}, device);
  return all;
}

std::vector<SelectedPlan> plans(const Selection& s, const device::Spec& device) {
  if (s.direction == Direction::forward) return sorted(forward_plans(s, device));
  std::vector<SelectedPlan> all = vendor_plans(s, device);
  for (const std::int64_t chunk : {1, 2, 4, 8, 16})
    if (chunk <= s.count) add_plan(all, "by token", s, ByToken{chunk, 2}, device);
  constexpr std::int64_t most_rows = 128;
  for (std::int64_t tokens = 1; tokens <= s.queries && tokens * s.group <= 2 * most_rows;
       tokens *= 2)
    for (const std::int64_t parts : {1, 2, 3, 4, 6, 8})
      for (const std::int64_t ahead : {1, 2, 3})
        for (const std::int64_t cuts : {1, 2})
          if (s.block / cuts >= narrowest || cuts == 1)
            add_plan(all, "by block", s, ByBlock{tokens, parts, ahead, cuts}, device);
  return sorted(std::move(all));
}

Workload work_of(const Selection& s, const device::Spec& device) {
  return {
      .flop = flop_of(s),
      .peak = 2 * peak_rate(device, s.element) * device.cores.cube.value * device.cores.clock.value,
      .compulsory = compulsory_bytes(s),
      .utilised = "cube",
      .direction = s.direction,
      .published = s.direction == Direction::gradient};
}

namespace {

Candidate candidate(const Selection& s, const SelectedPlan& plan, const device::Spec& device) {
  const auto buffers = [&] {
    return std::visit([&](const auto& of) { return buffers_of(s, of, device); }, plan.schedule);
  };
  const auto program = [&, rounds = shown_rounds(plan.modelled, 8)] {
    return std::visit([&](const auto& of) { return program_of(s, of, device, rounds); },
                      plan.schedule);
  };
  return {plan.name, plan.to_text(), plan.modelled, buffers, program, s.not_taken};
}

std::vector<Candidate> candidates(const Selection& s, const std::vector<SelectedPlan>& plans,
                                  const device::Spec& device) {
  std::vector<Candidate> all;
  for (const SelectedPlan& plan : plans) all.push_back(candidate(s, plan, device));
  return all;
}

}  // namespace

std::string report(const Selection& s, const device::Spec& device) {
  const std::vector<SelectedPlan> all = plans(s, device), vendors = vendor_plans(s, device);
  return report_of(work_of(s, device), candidates(s, all, device), candidates(s, vendors, device),
                   device);
}

std::string trace(const Selection& s, const device::Spec& device) {
  const std::vector<SelectedPlan> all = plans(s, device);
  if (all.empty()) return {};
  return trace_of(work_of(s, device), candidate(s, all.front(), device), device);
}

}  // namespace assay::optimized::schedules
