#include "schedules/report.hpp"

#include <algorithm>
#include <iomanip>
#include <limits>
#include <sstream>

namespace assay::optimized::schedules {
namespace {

constexpr const char* pipe_names[device::pipe_count] = {"cube MTE2",   "MTE1",   "cube", "FixPipe",
                                                        "vector MTE2", "vector", "MTE3"};

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

/// Formats the time and the utilization of a schedule, for example "3126.5 us, 62.1 % of the cube,
/// limited most by L2 (94.4 %)".
std::string figures(const Workload& work, const Modelled& modelled) {
  const Bound bound = bound_of(modelled);
  const double reached = work.flop / modelled.seconds / work.peak;
  return fixed(1e6 * modelled.seconds, 1) + " us, " + fixed(100 * reached, 1) + " % of the " +
         std::string(work.utilised) + ", limited most by " + bound.name + " (" +
         fixed(100 * bound.share, 1) + " %)";
}

Floor floor_of_candidates(const std::vector<Candidate>& all) {
  std::vector<ModelledSchedule> plans;
  for (const Candidate& one : all) plans.push_back({one.name, {}, one.modelled});
  return floor_of(plans);
}

/// Returns the roofline data for the trace page, as JSON.
std::string roofline_json(const Workload& work, const Candidate& best, const device::Spec& device) {
  const Roofline roofline = roofline_of(work, best.modelled, device);
  const double bandwidths[] = {
      device.rates.l2_bandwidth.value,
      device.rates.hbm_bandwidth.value * device.rates.hbm_efficiency.value};
  std::ostringstream json;
  json << std::setprecision(std::numeric_limits<double>::max_digits10) << R"({"schedule": ")"
       << best.name << ": " << best.text << R"(", "cube_flops": )" << roofline.cube
       << R"(, "reached_flops": )" << roofline.reached << R"(, "roofs": [)";
  const Roof* const roofs[] = {&roofline.l2, &roofline.hbm};
  for (std::size_t k = 0; k < std::size(roofs); ++k)
    json << (k > 0 ? ", " : "") << R"({"name": ")" << roofs[k]->name << R"(", "intensity": )"
         << roofs[k]->intensity << R"(, "bandwidth": )" << bandwidths[k] << '}';
  json << "]}";
  return json.str();
}

}  // namespace

std::string report_of(const Workload& work, const std::vector<Candidate>& all,
                      const std::vector<Candidate>& vendors, const device::Spec& device) {
  if (all.empty()) return "no schedule fits\n";
  const Candidate& best = all.front();
  std::ostringstream text;
  if (work.direction == Direction::forward)
    text << "global memory: at least " << work.compulsory.read.count << " B read, "
         << work.compulsory.written.count << " B written\n";
  text << "fastest schedule, in the event model: " << best.name << ", "
       << figures(work, best.modelled) << '\n'
       << "  " << best.text << "\n  busy:";
  for (std::size_t pipe = 0; pipe < device::pipe_count; ++pipe)
    text << ' ' << pipe_names[pipe] << ' ' << fixed(100 * best.modelled.busy[pipe], 1) << " %,";
  text << " L2 " << fixed(100 * best.modelled.l2_share, 1) << " %\n";
  text << "  busiest core: " << fixed(best.modelled.rounds, 1) << " rounds, "
       << fixed(best.modelled.l2_bytes, 0) << " B through L2\n";
  const Roofline roofline = roofline_of(work, best.modelled, device);
  text << "  roofline, with full tiles counted: " << fixed(1e-12 * roofline.reached, 1) << " of "
       << fixed(1e-12 * roofline.cube, 1) << " TFLOP/s";
  for (const Roof& roof : {roofline.l2, roofline.hbm})
    text << "; " << roof.name << " at " << fixed(roof.intensity, 1) << " FLOP/B allows "
         << fixed(1e-12 * roof.roof, 1);
  text << '\n';
  for (const Buffer& buffer : best.buffers())
    text << "  " << buffer.memory << ' ' << buffer.what << ": " << buffer.size.count << " B at "
         << buffer.offset.count << '\n';
  if (all.size() > 1)
    text << "next: " << all[1].name << ", " << figures(work, all[1].modelled) << "\n  "
         << all[1].text << '\n';
  const Floor floor = floor_of_candidates(all);
  text << "each of the " << all.size() << " schedules moves at least " << fixed(floor.l2_bytes, 0)
       << " B through L2 on its busiest core: at least " << fixed(1e6 * floor.seconds, 1)
       << " us at full L2 bandwidth\n";
  for (const Candidate& vendor : vendors)
    text << "vendor's " << vendor.name << ": " << figures(work, vendor.modelled) << ", "
         << fixed(vendor.modelled.seconds / best.modelled.seconds, 2) << " times as long"
         << (vendor.not_taken.empty() ? "" : "; the vendor uses it only for " + vendor.not_taken)
         << '\n';
  if (vendors.empty())
    text << (work.published ? "none of the modelled vendor schedules fits\n"
                            : "no schedule of the vendor is known\n");
  text << "On " << device.name << " the fastest of " << all.size() << " modelled schedules takes "
       << fixed(1e6 * best.modelled.seconds, 1) << " us (" << best.name << ").\n";
  return text.str();
}

std::string trace_of(const Workload& work, const Candidate& best, const device::Spec& device) {
  const device::Program program = best.program();
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  const device::Trace turns = run(program, share_of(device, cores));
  std::ostringstream json;
  json << "{\"displayTimeUnit\": \"ns\", \"otherData\": " << roofline_json(work, best, device)
       << ",\n\"traceEvents\": [";
  for (std::size_t pipe = 0; pipe < device::pipe_count; ++pipe)
    json << (pipe > 0 ? ",\n" : "\n") << R"({"ph": "M", "name": "thread_name", "pid": 0, "tid": )"
         << pipe << R"(, "args": {"name": ")" << pipe_names[pipe] << "\"}}";
  for (std::size_t id = 0; id < program.size(); ++id) {
    const device::Task& task = program.task(static_cast<device::TaskId>(id));
    const auto& turn = turns.turns[id];
    if (turn.end == turn.start) continue;  // a flag without duration
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

Floor floor_of(const std::vector<ModelledSchedule>& plans) {
  Floor least = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (const ModelledSchedule& plan : plans) {
    const Modelled& m = plan.modelled;
    least.l2_bytes = std::min(least.l2_bytes, m.l2_bytes);
    least.seconds = std::min(least.seconds, m.l2_share * m.seconds + m.extra);
  }
  return least;
}

Roofline roofline_of(const Workload& work, const Modelled& m, const device::Spec& device) {
  const auto roof = [&](const char* name, double bytes, double bandwidth) -> Roof {
    return {name, work.flop / bytes, std::min(work.peak, work.flop / bytes * bandwidth)};
  };
  const double l2 = device.rates.l2_bandwidth.value;
  const double hbm = device.rates.hbm_bandwidth.value * device.rates.hbm_efficiency.value;
  return {
      .cube = work.peak,
      .reached = work.flop / m.seconds,
      .l2 = roof("L2", m.l2_share * m.seconds * l2, l2),
      .hbm = roof(
          "HBM", static_cast<double>((work.compulsory.read + work.compulsory.written).count), hbm)};
}

Bound bound_of(const Modelled& modelled) {
  Bound bound = {"L2", modelled.l2_share};
  for (std::size_t pipe = 0; pipe < device::pipe_count; ++pipe)
    if (modelled.busy[pipe] > bound.share) bound = {pipe_names[pipe], modelled.busy[pipe]};
  return bound;
}

}  // namespace assay::optimized::schedules
