#include "assay/optimized/schedules/planner.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>

#include "assay/device/scratchpad.hpp"
#include "schedules/gradient_time.hpp"
#include "schedules/report.hpp"

namespace assay::optimized::schedules {
namespace {

using device::ceil_divide;

constexpr std::int64_t edge = 128, fractal = 16;

/// Returns a schedule with its modelled time, or nothing if the schedule does not fit the device.
template <class Schedule>
std::optional<ModelledSchedule> plan_of(const std::string& name, const Attention& attention,
                                        const Schedule& schedule, const device::Spec& device) {
  try {
    return ModelledSchedule{name, schedule, model(attention, schedule, device)};
  } catch (const device::DeviceFault&) {
    return std::nullopt;  // A buffer is too small: the next candidate may fit.
  }
}

class Search {
 public:
  Search(const Attention& attention, const device::Spec& device) : a_(attention), device_(device) {}

  /// Tries large iterations first. Skips a later candidate if its L2 traffic alone takes longer
  /// than the fastest schedule so far.
  std::vector<ModelledSchedule> all() {
    for (const std::int64_t rows : extents(a_.seq_q))
      for (const std::int64_t columns : extents(a_.seq_kv)) {
        for (const std::int64_t group : {2, 4, 8}) add_round(rows, columns, group);
        for (const std::int64_t group : {1, 2, 3, 4}) add_woven(rows, columns, group);
      }
    return std::move(found_);
  }

 private:
  /// Returns the extents of iterations to try, in tiles. No extent is longer than the sequence.
  static std::vector<std::int64_t> extents(std::int64_t seq) {
    std::vector<std::int64_t> all;
    for (const std::int64_t extent : {8, 7, 6, 5, 4, 3, 2, 1})
      if (extent <= ceil_divide(seq, edge)) all.push_back(extent);
    return all;
  }

  /// Returns the number of buffers for P and dS that fit in L1 in addition to `operands` operand
  /// tiles. The argument and the result are in units of 1 / `parts` tile.
  std::int64_t score_buffers(std::int64_t operands, std::int64_t parts) const {
    const std::int64_t l1 = bytes_of(device_.memories.l1).count;
    const std::int64_t left = parts * l1 - operands * operand_tile(a_).count;
    return std::clamp<std::int64_t>(left / (edge * edge * a_.element.count), 0, 6 * parts);
  }

  void add_round(std::int64_t rows, std::int64_t columns, std::int64_t group) {
    if ((group > rows && group > 2) || is_too_slow(rows, columns, group)) return;
    Round round = {
        .rows = rows, .columns = columns, .group = std::min(group, rows), .keys_stay = true};
    round.row_buffers = std::max(rows, round.group);
    round.column_buffers = std::max<std::int64_t>(columns, 2);
    round.score_buffers = score_buffers(round.row_buffers + round.column_buffers, 1);
    add_vector_tiles(round, {{1, 8192}, {2, 4096}});
  }

  void add_woven(std::int64_t rows, std::int64_t columns, std::int64_t group) {
    if (group > rows || is_too_slow(rows, columns, group)) return;
    // Half tiles of key and value stay in L1 only until they are copied to L0B, so they need few L1
    // buffers. A larger group uses each half tile for more row tiles, so it is loaded less often.
    const std::int64_t stream = group >= 3 ? 1 : 2;
    Woven woven = {.rows = rows, .columns = columns, .group = group, .stream = stream};
    woven.score_buffers = score_buffers(2 * (2 * group + woven.stay()) + woven.stream, 2);
    add_vector_tiles(woven, {{1, 8192}, {2, 6656}, {4, 2048}});
  }

  /// Returns whether the L2 traffic of iterations of this size alone takes longer than the fastest
  /// schedule so far.
  bool is_too_slow(std::int64_t rows, std::int64_t columns, std::int64_t group) const {
    const auto of = [](std::int64_t numbers, std::int64_t shared_by) {
      return static_cast<double>(edge * numbers) / static_cast<double>(shared_by);
    };
    const std::int64_t key = a_.channels(), value = a_.channels_v(), both = key + value;
    const double stored = 2 * of(edge, 1), read = 3 * of(edge, 1);
    const double operands = of(both, std::min(group, rows)) + 2 * of(both, columns) + of(key, rows);
    const double sums = device_.rates.atomic_traffic.value * (of(key, columns) + of(both, rows));
    const double bytes = static_cast<double>(a_.element.count) * (stored + read + operands) +
                         4 * (4 * of(edge, 1) + sums);
    return bytes * static_cast<double>(a_.blocks()) / device_.rates.l2_bandwidth.value > fastest_;
  }

  struct VectorTile {
    std::int64_t buffers, numbers;
  };

  /// First tries few large tiles in the unified buffer, then more and smaller ones. Stops if a
  /// tiling is more than 10 % slower than the fastest one so far, because other tile sizes do not
  /// save that much time.
  template <class Schedule>
  void add_vector_tiles(Schedule schedule, std::initializer_list<VectorTile> tiles) {
    if (schedule.score_buffers < 1) return;
    for (const VectorTile& tile : tiles) {
      schedule.vector_buffers = tile.buffers, schedule.vector_tile = tile.numbers;
      const char* name = std::is_same_v<Schedule, Woven> ? "woven" : "rounds";
      auto plan = plan_of(name, a_, schedule, device_);
      if (!plan) continue;
      const double seconds = plan->modelled.seconds;
      found_.push_back(std::move(*plan));
      fastest_ = std::min(fastest_, seconds);
      if (seconds > 1.1 * fastest_) return;
    }
  }

  const Attention& a_;
  const device::Spec& device_;
  std::vector<ModelledSchedule> found_;
  double fastest_ = std::numeric_limits<double>::infinity();
};

/// Returns the columns of a tile that covers the keys of a sequence, but at most `most`.
std::int64_t widest(const Attention& a, std::int64_t most) {
  return std::min(most, device::round_up(a.seq_kv, edge));
}

/// Chooses the largest buffers that fit, and adds the schedule with them. Adds nothing if even the
/// smallest buffers do not fit.
void add_forward(std::vector<ModelledSchedule>& all, const char* name, const Attention& attention,
                 Forward schedule, const device::Spec& device) {
  for (const std::int64_t keys : {128, 64, 32, 16})
    for (const std::int64_t buffers : {2, 1})
      for (const std::int64_t vector_tile : {8192, 4096, 2048}) {
        schedule.keys = keys, schedule.buffers = buffers, schedule.vector_tile = vector_tile;
        if (auto plan = plan_of(name, attention, schedule, device))
          return all.push_back(std::move(*plan));
      }
}

std::vector<ModelledSchedule> forward_plans(const Attention& a, const device::Spec& device) {
  std::vector<ModelledSchedule> all;
  for (const std::int64_t rows : {128, 64, 32, 16}) {
    if (rows > 16 && rows / 2 >= a.seq_q) continue;
    for (std::int64_t columns = edge; columns <= widest(a, 2048); columns *= 2)
      for (const std::int64_t ahead : {1, 2, 3})
        for (const std::int64_t group : {1, 2})
          if (group == 1 || rows < a.seq_q)
            add_forward(all, "row blocks", a,
                        {.rows = rows, .columns = columns, .ahead = ahead, .group = group}, device);
  }
  return all;
}

}  // namespace

std::string ModelledSchedule::to_text() const {
  return std::visit([](const auto& of) { return of.to_text(); }, schedule);
}

std::vector<ModelledSchedule> vendor_plans(const Attention& attention, const device::Spec& device) {
  std::vector<ModelledSchedule> all;
  if (attention.direction == Direction::forward) {
    const Forward tiles = {.rows = std::min(edge, device::round_up(attention.seq_q, fractal)),
                           .columns = widest(attention, 1024)};
    add_forward(all, "128 x 1024", attention, tiles, device);
    return all;
  }
  std::vector<std::pair<std::string, Round>> families = {{"sameAB", same_ab()}};
  // The schedule "sameAB" supports neither a position bias nor dropout nor a user mask.
  if (!attention.features.any()) families.insert(families.begin(), {"basic", basic()});
  for (const auto& [name, round] : families)
    if (auto plan = plan_of(name, attention, round, device)) all.push_back(std::move(*plan));
  return all;
}

std::vector<ModelledSchedule> plans(const Attention& attention, const device::Spec& device) {
  std::vector<ModelledSchedule> all = attention.direction == Direction::forward
                                          ? forward_plans(attention, device)
                                          : Search(attention, device).all();
  for (ModelledSchedule& plan : vendor_plans(attention, device)) all.push_back(std::move(plan));
  std::stable_sort(all.begin(), all.end(),
                   [](const ModelledSchedule& x, const ModelledSchedule& y) {
                     return x.modelled.seconds < y.modelled.seconds;
                   });
  return all;
}

namespace {

Candidate candidate(const Attention& a, const ModelledSchedule& plan, const device::Spec& device) {
  const std::int64_t rounds = shown_rounds(plan.modelled, 4);
  const auto elsewhere = a.not_taken.find(plan.name);
  return {.name = plan.name,
          .text = plan.to_text(),
          .modelled = plan.modelled,
          .buffers =
              [&] {
                return std::visit([&](const auto& of) { return buffers_of(a, of, device); },
                                  plan.schedule);
              },
          .program =
              [&, rounds] {
                return std::visit([&](const auto& of) { return program_of(a, of, device, rounds); },
                                  plan.schedule);
              },
          .not_taken = elsewhere == a.not_taken.end() ? "" : elsewhere->second};
}

std::vector<Candidate> candidates(const Attention& a, const std::vector<ModelledSchedule>& plans,
                                  const device::Spec& device) {
  std::vector<Candidate> all;
  for (const ModelledSchedule& plan : plans) all.push_back(candidate(a, plan, device));
  return all;
}

}  // namespace

std::string report(const Attention& attention, const device::Spec& device) {
  const std::vector<ModelledSchedule> all = plans(attention, device),
                                      vendors = vendor_plans(attention, device);
  return report_of(work_of(attention, device), candidates(attention, all, device),
                   candidates(attention, vendors, device), device);
}

std::string trace(const Attention& attention, const device::Spec& device) {
  const std::vector<ModelledSchedule> all = plans(attention, device);
  if (all.empty()) return {};
  return trace_of(work_of(attention, device), candidate(attention, all.front(), device), device);
}

Roofline roofline_of(const Attention& a, const Modelled& modelled, const device::Spec& device) {
  return roofline_of(work_of(a, device), modelled, device);
}

}  // namespace assay::optimized::schedules
