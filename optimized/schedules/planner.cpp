#include "assay/optimized/schedules/planner.hpp"

#include <algorithm>
#include <iomanip>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>

#include "assay/device/scratchpad.hpp"
#include "schedules/gradient_time.hpp"

namespace assay::optimized::schedules {
namespace {

using device::ceil_divide;

constexpr std::int64_t edge = 128;

constexpr const char* pipe_names[device::pipe_count] = {"cube MTE2",   "MTE1",   "cube", "FixPipe",
                                                        "vector MTE2", "vector", "MTE3"};

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

/// "3126.5 us, 62.1 % of the cube, held up most by L2 (94.4 %)".
std::string figures(const Modelled& modelled) {
  const Bound bound = bound_of(modelled);
  return fixed(1e6 * modelled.seconds, 1) + " us, " + fixed(100 * modelled.cube_utilisation, 1) +
         " % of the cube, held up most by " + bound.name + " (" + fixed(100 * bound.share, 1) +
         " %)";
}

std::vector<Buffer> buffers_of_plan(const Attention& attention, const Plan& plan,
                                    const device::Spec& device) {
  return std::visit([&](const auto& of) { return buffers_of(attention, of, device); },
                    plan.schedule);
}

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
  Search(const Attention& attention, const device::Spec& device) : a_(attention), device_(device) {}

  /// Large rounds first: what moves more bytes than a faster one has time for is not tried.
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
    for (const std::int64_t extent : {8, 7, 6, 5, 4, 3, 2, 1})
      if (extent <= ceil_divide(seq, edge)) all.push_back(extent);
    return all;
  }

  /// Tiles of P and dS in L1 beside so many operands, of `parts` of a tile each.
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
    // Halves of key and value go on to L0B at once; of large groups they come rarely.
    const std::int64_t stream = group >= 3 ? 1 : 2;
    Woven woven = {.rows = rows, .columns = columns, .group = group, .stream = stream};
    woven.score_buffers = score_buffers(2 * (2 * group + woven.stay()) + woven.stream, 2);
    add_vector_tiles(woven, {{1, 8192}, {2, 6144}, {4, 2048}});
  }

  /// Whether L2 alone takes longer for the bytes of such rounds than the fastest schedule so far.
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

  /// With few large tiles in the unified buffer, and with more small ones; other tiles do not bring
  /// back what is a tenth slower than the fastest so far.
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
  std::vector<Plan> found_;
  double fastest_ = std::numeric_limits<double>::infinity();
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

std::string report(const Attention& attention, const device::Spec& device) {
  const std::vector<Plan> all = plans(attention, device);
  if (all.empty()) return "no schedule fits\n";
  const Plan& best = all.front();
  std::ostringstream text;
  text << "fastest schedule: " << best.name << ", " << figures(best.modelled) << '\n'
       << "  " << best.to_text() << "\n  busy:";
  for (std::size_t pipe = 0; pipe < device::pipe_count; ++pipe)
    text << ' ' << pipe_names[pipe] << ' ' << fixed(100 * best.modelled.busy[pipe], 1) << " %,";
  text << " L2 " << fixed(100 * best.modelled.l2_share, 1) << " %\n";
  text << "  through L2: " << fixed(best.modelled.l2_bytes, 0) << " B of the busiest core\n";
  const Roofline roofline = roofline_of(attention, best.modelled, device);
  text << "  roofline: " << fixed(1e-12 * roofline.reached, 1) << " of "
       << fixed(1e-12 * roofline.cube, 1) << " TFLOP/s";
  for (const Roof& roof : {roofline.l2, roofline.hbm})
    text << "; " << roof.name << " at " << fixed(roof.intensity, 1) << " FLOP/B allows "
         << fixed(1e-12 * roof.roof, 1);
  text << '\n';
  for (const Buffer& buffer : buffers_of_plan(attention, best, device))
    text << "  " << buffer.memory << ' ' << buffer.what << ": " << buffer.size.count << " B at "
         << buffer.offset.count << '\n';
  if (all.size() > 1)
    text << "next: " << all[1].name << ", " << figures(all[1].modelled) << "\n  "
         << all[1].to_text() << '\n';
  const Floor floor = floor_of(all);
  text << "none of " << all.size() << " schedules moves fewer than " << fixed(floor.l2_bytes, 0)
       << " B through L2 on a core: " << fixed(1e6 * floor.seconds, 1)
       << " us if L2 never stood idle\n";
  for (const Plan& vendor : vendor_plans(attention, device))
    text << "vendor's " << vendor.name << ": " << figures(vendor.modelled) << ", "
         << fixed(vendor.modelled.seconds / best.modelled.seconds, 2) << " times as long\n";
  return text.str();
}

namespace {

/// What a page draws beside the queues.
std::string roofline_json(const Attention& attention, const Plan& plan,
                          const device::Spec& device) {
  const Roofline roofline = roofline_of(attention, plan.modelled, device);
  const double bandwidths[] = {
      device.rates.l2_bandwidth.value,
      device.rates.hbm_bandwidth.value * device.rates.hbm_efficiency.value};
  std::ostringstream json;
  json << R"({"schedule": ")" << plan.name << ": " << plan.to_text() << R"(", "cube_flops": )"
       << roofline.cube << R"(, "reached_flops": )" << roofline.reached << R"(, "roofs": [)";
  const Roof* const roofs[] = {&roofline.l2, &roofline.hbm};
  for (std::size_t k = 0; k < std::size(roofs); ++k)
    json << (k > 0 ? ", " : "") << R"({"name": ")" << roofs[k]->name << R"(", "intensity": )"
         << roofs[k]->intensity << R"(, "bandwidth": )" << bandwidths[k] << '}';
  json << "]}";
  return json.str();
}

}  // namespace

std::string trace(const Attention& attention, const device::Spec& device) {
  const std::vector<Plan> all = plans(attention, device);
  if (all.empty()) return {};
  constexpr std::int64_t rounds = 4;
  const device::Program program =
      std::visit([&](const auto& of) { return program_of(attention, of, device, rounds); },
                 all.front().schedule);
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  const device::Trace turns = run(program, share_of(device, cores));
  std::ostringstream json;
  json << "{\"displayTimeUnit\": \"ns\", \"otherData\": "
       << roofline_json(attention, all.front(), device) << ",\n\"traceEvents\": [";
  for (std::size_t pipe = 0; pipe < device::pipe_count; ++pipe)
    json << (pipe > 0 ? ",\n" : "\n") << R"({"ph": "M", "name": "thread_name", "pid": 0, "tid": )"
         << pipe << R"(, "args": {"name": ")" << pipe_names[pipe] << "\"}}";
  for (std::size_t id = 0; id < program.size(); ++id) {
    const device::Task& task = program.task(static_cast<device::TaskId>(id));
    const auto& turn = turns.turns[id];
    if (turn.end == turn.start) continue;  // a flag
    const double micro = 1e6 / device.cores.clock.value;
    json << ",\n"
         << R"({"ph": "X", "pid": 0, "tid": )" << static_cast<int>(task.pipe) << R"(, "name": ")"
         << pipe_names[static_cast<std::size_t>(task.pipe)] << R"(", "ts": )"
         << micro * turn.start.count << R"(, "dur": )" << micro * (turn.end - turn.start).count
         << R"(, "args": {"l2_bytes": )" << task.l2.count << "}}";
  }
  json << "\n]}\n";
  return json.str();
}

Floor floor_of(const std::vector<Plan>& plans) {
  Floor least = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (const Plan& plan : plans) {
    const Modelled& m = plan.modelled;
    least.l2_bytes = std::min(least.l2_bytes, m.l2_bytes);
    least.seconds = std::min(least.seconds, m.l2_share * m.seconds + m.beside);
  }
  return least;
}

Roofline roofline_of(const Attention& a, const Modelled& m, const device::Spec& device) {
  const double flop = 2 * multiply_adds(a);
  const double cube =
      2 * peak_rate(device, a.element) * device.cores.cube.value * device.cores.clock.value;
  const auto roof = [&](const char* name, double bytes, double bandwidth) -> Roof {
    return {name, flop / bytes, std::min(cube, flop / bytes * bandwidth)};
  };
  const double l2 = device.rates.l2_bandwidth.value;
  const double hbm = device.rates.hbm_bandwidth.value * device.rates.hbm_efficiency.value;
  return {.cube = cube,
          .reached = flop / m.seconds,
          .l2 = roof("L2", m.l2_share * m.seconds * l2, l2),
          .hbm = roof("HBM", static_cast<double>(compulsory_bytes(a).count), hbm)};
}

Bound bound_of(const Modelled& modelled) {
  Bound bound = {"L2", modelled.l2_share};
  for (std::size_t pipe = 0; pipe < device::pipe_count; ++pipe)
    if (modelled.busy[pipe] > bound.share) bound = {pipe_names[pipe], modelled.busy[pipe]};
  return bound;
}

}  // namespace assay::optimized::schedules
