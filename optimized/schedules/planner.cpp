#include "assay/optimized/schedules/planner.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <type_traits>

#include "assay/device/scratchpad.hpp"

namespace assay::optimized::schedules {
namespace {

using device::ceil_divide;

constexpr std::int64_t edge = 128, half_bytes = 2;

/// The plan of a schedule, where it fits.
template <class Schedule>
std::optional<Plan> plan_of(const std::string& name, const Attention& attention,
                            const Schedule& schedule, const device::Spec& device) {
  try {
    return Plan{name, schedule, model(attention, schedule, device)};
  } catch (const device::DeviceFault&) {
    return std::nullopt;  // A capacity says no: the next candidate may fit.
  }
}

class Search {
 public:
  Search(const Attention& attention, const device::Spec& device) : a_(attention), device_(device) {
    const std::int64_t operand = edge * device::round_up(a_.head_dim, 16) * half_bytes;
    const std::int64_t scores = edge * edge * half_bytes;
    score_tiles_ = [=, l1 = bytes_of(device.memories.l1).count](std::int64_t held) {
      return std::clamp<std::int64_t>((l1 - held * operand) / scores, 0, 6);
    };
  }

  std::vector<Plan> all() {
    for (const std::int64_t rows : extents(a_.seq_q))
      for (const std::int64_t columns : extents(a_.seq_kv)) {
        for (const std::int64_t group : {2, 4, 8}) add_round(rows, columns, group);
        for (const std::int64_t group : {1, 2, 3, 4}) add_woven(rows, columns, group);
      }
    return std::move(found_);
  }

 private:
  /// Extents of rounds in tiles, none beyond the sequence.
  static std::vector<std::int64_t> extents(std::int64_t seq) {
    std::vector<std::int64_t> all;
    for (const std::int64_t extent : {1, 2, 3, 4, 5, 6, 7, 8})
      if (extent <= ceil_divide(seq, edge)) all.push_back(extent);
    return all;
  }

  void add_round(std::int64_t rows, std::int64_t columns, std::int64_t group) {
    if (group > rows && group > 2) return;
    Round round = {
        .rows = rows, .columns = columns, .group = std::min(group, rows), .keys_stay = true};
    round.row_buffers = std::max(rows, round.group);
    round.column_buffers = std::max<std::int64_t>(columns, 2);
    round.score_buffers = score_tiles_(round.row_buffers + round.column_buffers);
    add_both_tiles(round);
  }

  void add_woven(std::int64_t rows, std::int64_t columns, std::int64_t group) {
    if (group > rows) return;
    Woven woven = {.rows = rows, .columns = columns, .group = group};
    woven.score_buffers = score_tiles_(2 * group + 2 + woven.stay());
    add_both_tiles(woven);
  }

  template <class Schedule>
  void add_both_tiles(Schedule schedule) {
    if (schedule.score_buffers < 1) return;
    for (const auto& [buffers, tile] : {std::pair{1, 8192}, {2, 4096}}) {
      schedule.vector_buffers = buffers, schedule.vector_tile = tile;
      constexpr bool woven = std::is_same_v<Schedule, Woven>;
      if (auto plan = plan_of(woven ? "woven" : "rounds", a_, schedule, device_))
        found_.push_back(std::move(*plan));
    }
  }

  const Attention& a_;
  const device::Spec& device_;
  std::function<std::int64_t(std::int64_t)> score_tiles_;
  std::vector<Plan> found_;
};

}  // namespace

std::string Plan::to_text() const {
  return std::visit([](const auto& of) { return of.to_text(); }, schedule);
}

std::vector<Plan> vendor_plans(const Attention& attention, const device::Spec& device) {
  std::vector<Plan> all;
  for (const auto& [name, round] : {std::pair{"basic", basic()}, {"sameAB", same_ab()}})
    if (auto plan = plan_of(name, attention, round, device)) all.push_back(std::move(*plan));
  return all;
}

std::vector<Plan> plans(const Attention& attention, const device::Spec& device) {
  std::vector<Plan> all = Search(attention, device).all();
  for (Plan& plan : vendor_plans(attention, device)) all.push_back(std::move(plan));
  std::stable_sort(all.begin(), all.end(), [](const Plan& x, const Plan& y) {
    return x.modelled.seconds < y.modelled.seconds;
  });
  return all;
}

Bound bound_of(const Modelled& modelled) {
  constexpr const char* names[device::pipe_count] = {"cube MTE2",   "MTE1",   "cube", "FixPipe",
                                                     "vector MTE2", "vector", "MTE3"};
  Bound bound = {"L2", modelled.l2_share};
  for (std::size_t pipe = 0; pipe < device::pipe_count; ++pipe)
    if (modelled.busy[pipe] > bound.share) bound = {names[pipe], modelled.busy[pipe]};
  return bound;
}

}  // namespace assay::optimized::schedules
