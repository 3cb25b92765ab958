#include "printing/print_kills.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "printing/table.hpp"

namespace assay::cli {
namespace {

void print_tracks(const Kills& kills, std::ostream& out) {
  std::map<std::string, Kills::Track> tracks;  // number of judged and of detected faults
  for (const Kills::Row& row : kills.rows)
    for (const auto& [track, count] : row.tracks) {
      if (row.healthy) continue;
      ++tracks[track].cases;
      tracks[track].failed += count.failed > 0 ? 1 : 0;
    }
  Table table({"track", "injected faults judged", "noticed"});
  for (const auto& [track, bugs] : tracks)
    table.add({track, std::to_string(bugs.cases), std::to_string(bugs.failed)});
  if (!table.empty()) table.print(out);
}

void print_yardsticks(const Kills& kills, std::ostream& out) {
  Table table({"rule", "injected faults noticed", "healthy variants failed"});
  for (const Kills::Yardstick& rule : kills.yardsticks)
    if (rule.faults_judged + rule.correct_judged > 0)
      table.add({rule.rule, fmt::format("{} of {}", rule.faults_detected, rule.faults_judged),
                 fmt::format("{} of {}", rule.correct_rejected, rule.correct_judged)});
  if (table.empty()) return;
  out << '\n';
  table.print(out);
}

}  // namespace

void print_kills(const Kills& kills, std::ostream& out) {
  print_tracks(kills, out);
  print_yardsticks(kills, out);
  out << '\n';
  const auto count = [&](bool healthy, bool only_expected) {
    return std::ranges::count_if(kills.rows, [&](const Kills::Row& row) {
      return row.healthy == healthy && (!only_expected || row.as_expected);
    });
  };
  for (const Kills::Row& row : kills.rows)
    if (!row.as_expected)
      out << fmt::format("{}{} {}: {}\n", row.name,
                         row.operator_name.empty() ? "" : " of " + row.operator_name,
                         row.healthy ? "fails" : "is not caught", row.bug);
  out << fmt::format("{} of {} injected faults caught, {} of {} healthy variants conform\n",
                     count(false, true), count(false, false), count(true, true),
                     count(true, false));
  if (kills.interrupted) out << "interrupted: not every case was judged\n";
}

}  // namespace assay::cli
