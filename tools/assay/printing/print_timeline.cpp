#include "printing/print_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "printing/table.hpp"

namespace assay::cli {

void print_timeline(const Timeline& timeline, std::ostream& out) {
  if (!timeline.schedule.empty()) out << timeline.schedule << '\n';
  Table table({"queue", "busy, us", fmt::format("share of {:.4g} us", timeline.microseconds)});
  for (const Timeline::Queue& queue : timeline.queues)
    table.add({queue.name, fmt::format("{:.4g}", queue.busy_microseconds),
               fmt::format("{:.1f} %", timeline.microseconds > 0
                                           ? 100 * queue.busy_microseconds / timeline.microseconds
                                           : 0)});
  table.print(out);
  for (const Timeline::Roof& roof : timeline.roofs)
    out << fmt::format("{} at {:.1f} FLOP/B allows {:.1f} TFLOP/s\n", roof.name, roof.intensity,
                       1e-12 * std::min(timeline.cube_flops, roof.intensity * roof.bandwidth));
  if (timeline.reached_flops > 0)
    out << fmt::format("reached: {:.1f} of {:.1f} TFLOP/s\n", 1e-12 * timeline.reached_flops,
                       1e-12 * timeline.cube_flops);
}

}  // namespace assay::cli
