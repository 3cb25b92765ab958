#include "assay/optimized/schedules/modelled.hpp"

#include <algorithm>
#include <cmath>

namespace assay::optimized::schedules {
namespace {

using device::Bytes;
using device::Cycles;

double l2_bytes(const device::Program& program) {
  double bytes = 0;
  for (std::size_t id = 0; id < program.size(); ++id)
    bytes += static_cast<double>(program.task(static_cast<device::TaskId>(id)).l2.count);
  return bytes;
}

Rounds run_all(const device::Spec& device, const device::Share& share, std::int64_t rounds,
               const Writer& write) {
  device::Instructions code(device);
  write(code, rounds);
  const device::Trace trace = run(code.program(), share);
  return {.makespan = trace.makespan,
          .busy = trace.busy,
          .l2_bytes = l2_bytes(code.program()),
          .count = static_cast<double>(rounds)};
}

}  // namespace

Rounds run_rounds(const device::Spec& device, const device::Share& share, double rounds,
                  std::int64_t most, const Writer& write) {
  const auto whole = static_cast<std::int64_t>(std::ceil(rounds));
  if (whole == 1 || (whole <= most && static_cast<double>(whole) == rounds))
    return run_all(device, share, whole, write);
  const std::int64_t upper = std::min(whole, most);
  const std::int64_t lower = whole <= most ? upper - 1 : most / 2;
  const Rounds some = run_all(device, share, lower, write),
               more = run_all(device, share, upper, write);
  const double times = (rounds - static_cast<double>(upper)) / static_cast<double>(upper - lower);
  Rounds all = more;
  all.makespan += times * (more.makespan - some.makespan);
  for (std::size_t pipe = 0; pipe < device::pipe_count; ++pipe)
    all.busy[pipe] += times * (more.busy[pipe] - some.busy[pipe]);
  all.l2_bytes += times * (more.l2_bytes - some.l2_bytes);
  all.count = rounds;
  return all;
}

std::int64_t shown_rounds(const Modelled& modelled, std::int64_t most) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(modelled.rounds)), 1, most);
}

Modelled finished(const Rounds& rounds, double more, const device::Share& share, double steps,
                  const device::Spec& device) {
  Modelled result;
  result.seconds = seconds_of(device, rounds.makespan) + more;
  result.extra = more;
  result.rounds = rounds.count;
  const double cycles = cycles_of(device, result.seconds).count;
  for (std::size_t pipe = 0; pipe < device::pipe_count; ++pipe)
    result.busy[pipe] = rounds.busy[pipe].count / cycles;
  result.l2_bytes = rounds.l2_bytes;
  result.l2_share = rounds.l2_bytes / (share.l2 * cycles);
  result.cube_utilisation = steps / (cycles * device.cores.cube.value);
  return result;
}

double pass_seconds(const device::Spec& device, Bytes read, Bytes written, Bytes missing) {
  const auto cores = static_cast<std::int64_t>(device.cores.vector.value);
  const Bytes in = {device::ceil_divide(read.count, cores)};
  const Bytes out = {device::ceil_divide(written.count, cores)};
  const Cycles longest = std::max({gm_to_ub(device, in), ub_to_gm(device, out),
                                   l2_time(device, read + written), hbm_time(device, missing)});
  return seconds_of(device, longest) + device.overheads.sync_all.value;
}

}  // namespace assay::optimized::schedules
