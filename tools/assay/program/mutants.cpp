#include "program/mutants.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "assay/cli/registry.hpp"
#include "assay/mutants/kill_table.hpp"
#include "assay/mutants/mutant.hpp"
#include "flags/choose.hpp"
#include "flags/destinations.hpp"
#include "flags/values.hpp"
#include "printing/table.hpp"
#include "printing/waiting.hpp"
#include "signals.hpp"
#include "stored/kills.hpp"

namespace assay::cli {
namespace {

using mutants::KillRow;
using mutants::KillTable;

struct Flags {
  std::string operator_name, only, report;
  std::optional<std::int64_t> threads;
  Replace replace = Replace::own_results;
  bool json = false, list = false, by_case = false;
};

/// The checks that can detect an injected fault, in the order of the printed columns. Each pair
/// contains the internal name and the column heading.
constexpr std::array<std::pair<const char*, const char*>, 9> columns = {{{"structure", "struct"},
                                                                         {"exact_case", "A"},
                                                                         {"bound", "B bound"},
                                                                         {"tile_sum", "B tiles"},
                                                                         {"rms", "B rms"},
                                                                         {"bias", "B bias"},
                                                                         {"several", "several"},
                                                                         {"determinism", "determ"},
                                                                         {"status", "status"}}};

std::int64_t caught_by(const KillRow& row, const std::string& rule) {
  const auto entry = row.caught_by.find(rule);
  return entry == row.caught_by.end() ? 0 : entry->second;
}

std::string verdicts(const KillRow& row) {
  std::string text;
  for (const auto& [verdict, count] : row.verdicts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, spec::to_string(verdict));
  return text;
}

using Rows = std::span<const KillRow>;

void print_injected(Rows rows, std::ostream& out) {
  std::vector<std::string> head = {"injected fault", "cases", "caught"};
  for (const auto& [rule, title] : columns) head.emplace_back(title);
  head.emplace_back("first caught by");
  Table text(head);
  for (const KillRow& row : rows) {
    if (row.mutant.healthy) continue;
    std::vector<std::string> cells = {row.mutant.name, std::to_string(row.cases),
                                      row.failed == 0 ? "NO" : std::to_string(row.failed)};
    for (const auto& [rule, title] : columns) {
      const std::int64_t count = caught_by(row, rule);
      cells.push_back(count == 0 ? "." : std::to_string(count));
    }
    cells.push_back(row.replay.empty() ? verdicts(row) : row.replay);
    text.add(std::move(cells));
  }
  if (text.empty()) return;
  text.print(out);
  out << '\n';
}

void print_healthy(Rows rows, std::ostream& out) {
  Table text({"healthy variant", "cases", "failed", "worst error/tau", "verdicts"});
  for (const KillRow& row : rows)
    if (row.mutant.healthy)
      text.add({row.mutant.name, std::to_string(row.cases), std::to_string(row.failed),
                fmt::format("{:.3f}", row.worst), verdicts(row)});
  if (text.empty()) return;
  text.print(out);
  out << '\n';
}

/// Prints the mutants grouped by operator. The rows of one operator are adjacent in the input.
void print_operators(Rows rows, std::ostream& out) {
  while (!rows.empty()) {
    const std::string& name = rows.front().mutant.operator_name;
    const auto end = std::ranges::find_if(
        rows, [&](const KillRow& row) { return row.mutant.operator_name != name; });
    const Rows own(rows.begin(), end);
    out << name << '\n';
    print_injected(own, out);
    print_healthy(own, out);
    rows = rows.subspan(own.size());
  }
}

void print_unexpected(const KillTable& table, std::ostream& out) {
  for (const KillRow& row : table.rows) {
    if (row.as_expected()) continue;
    const char* fact = row.cases == 0       ? "was not judged on any case"
                       : row.mutant.healthy ? "has no injected fault, but not every case conforms"
                                            : "was not caught";
    out << fmt::format("{} of {} {}: {}\n", row.mutant.name, row.mutant.operator_name, fact,
                       row.mutant.bug);
    if (!row.replay.empty()) out << fmt::format("  {}\n  {}\n", row.replay, row.text);
  }
}

/// Prints how many of the injected faults the tolerance rules of other projects detect in the same
/// runs. Omits runs with unusual values (very large or very small).
void print_yardsticks(const KillTable& table, std::ostream& out) {
  Table text({"rule (on the same cases, but only those with ordinary values)",
              "injected faults that it detects", "correct variants that it rejects"});
  for (const mutants::YardstickRow& row : table.yardsticks())
    if (row.faults_judged + row.correct_judged > 0)
      text.add({row.name, fmt::format("{} of {}", row.faults_detected, row.faults_judged),
                fmt::format("{} of {}", row.correct_rejected, row.correct_judged)});
  if (text.empty()) return;
  text.print(out);
  out << '\n';
}

void print(const KillTable& table, std::ostream& out) {
  const auto healthy = [](const KillRow& row) { return row.mutant.healthy; };
  const auto all_healthy = std::ranges::count_if(table.rows, healthy);
  const auto expected = std::ranges::count_if(table.rows, &KillRow::as_expected);
  const auto caught = std::ranges::count_if(
      table.rows, [&](const KillRow& row) { return !healthy(row) && row.as_expected(); });
  print_operators(table.rows, out);
  print_yardsticks(table, out);
  print_unexpected(table, out);
  out << fmt::format("{} of {} injected faults caught, {} of {} healthy variants conform", caught,
                     std::ssize(table.rows) - all_healthy, expected - caught, all_healthy)
      << fmt::format(" ({} cases, {:.1f} s on {} threads)\n", table.cases, table.seconds,
                     table.threads);
  if (table.interrupted) out << "interrupted: not every case was judged\n";
}

nlohmann::json to_json(const KillRow& row) {
  nlohmann::json verdict_counts = nlohmann::json::object();
  for (const auto& [verdict, count] : row.verdicts)
    verdict_counts[std::string(spec::to_string(verdict))] = count;
  nlohmann::json tracks = nlohmann::json::object();
  for (const auto& [track, count] : row.by_track)
    tracks[track] = {{"cases", count.cases}, {"failed", count.failed}};
  return {{"operator", row.mutant.operator_name},
          {"name", row.mutant.name},
          {"bug", row.mutant.bug},
          {"healthy", row.mutant.healthy},
          {"cases", row.cases},
          {"failed", row.failed},
          {"verdicts", std::move(verdict_counts)},
          {"caught_by", row.caught_by},
          {"tracks", std::move(tracks)},
          {"cases_to_kill", row.cases_to_kill},
          {"seconds_to_kill", row.seconds_to_kill},
          {"worst", row.worst},
          {"replay", row.replay},
          {"finding", row.text},
          {"cause", row.cause},
          {"as_expected", row.as_expected()}};
}

nlohmann::json to_json(const mutants::Detection& detection) {
  return {{"operator", detection.operator_name},
          {"replay", detection.replay},
          {"expected_seconds", detection.expected_seconds},
          {"mutants", detection.mutants}};
}

nlohmann::json to_json(const KillTable& table, bool by_case) {
  nlohmann::json rows = nlohmann::json::array();
  for (const KillRow& row : table.rows) rows.push_back(to_json(row));
  nlohmann::json yardsticks = nlohmann::json::array();
  for (const mutants::YardstickRow& row : table.yardsticks())
    yardsticks.push_back({{"rule", row.name},
                          {"faults_detected", row.faults_detected},
                          {"faults_judged", row.faults_judged},
                          {"correct_rejected", row.correct_rejected},
                          {"correct_judged", row.correct_judged}});
  nlohmann::json json = {{"schema", kills_schema},
                         {"cases", table.cases},
                         {"threads", table.threads},
                         {"seconds", table.seconds},
                         {"interrupted", table.interrupted},
                         {"rows", std::move(rows)},
                         {"yardsticks", std::move(yardsticks)},
                         {"as_expected", table.as_expected()}};
  if (!by_case) return json;
  json["seen_by_case"] = nlohmann::json::array();
  for (const mutants::Detection& one : table.detections)
    json["seen_by_case"].push_back(to_json(one));
  return json;
}

/// Calls use.template operator()<Op>(mutants) for each selected operator. `mutants` are the mutants
/// (kernels with injected faults, and correct variants) that --only selects by name.
template <class Use>
void with_mutants(const Flags& flags, const Use& use) {
  with_operators(flags.operator_name, [&]<class Op> {
    auto chosen = every_mutant<Op>();
    std::erase_if(chosen, [&](const auto& mutant) {
      return mutant.name.find(flags.only) == std::string::npos;
    });
    if (!chosen.empty()) use.template operator()<Op>(chosen);
  });
}

UsageError none_of_that_name(const Flags& flags) {
  return UsageError(
      fmt::format("--only is '{}', but no name of a mutant{} contains this text; "
                  "without --only, the command prints all names",
                  flags.only, flags.operator_name.empty() ? "" : " of " + flags.operator_name));
}

constexpr std::string_view subject_name(mutants::Subject subject) {
  switch (subject) {
    case mutants::Subject::arguments:
      return "arguments";
    case mutants::Subject::forward:
      return "forward";
    case mutants::Subject::many_calls:
      return "many_calls";
    case mutants::Subject::numbers:
      break;
  }
  return "numbers";
}

/// Lists the names of the mutants. Users can pass each name to --implementation, for example in a
/// sweep.
ExitCode list(const Flags& flags, const Context& context) {
  if (!flags.report.empty() || flags.threads)
    throw UsageError(
        "--list judges nothing: it can be combined only with an operator, --only and --json");
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  Table table({"implementation", "operator", "healthy", "subject", "what it does"});
  with_mutants(flags, [&]<class Op>(const std::vector<mutants::MutantOf<Op>>& chosen) {
    for (const auto& mutant : chosen) {
      const std::string name = implementation_prefix + mutant.name;
      const std::string subject(subject_name(mutant.subject));
      all.push_back({{"implementation", name},
                     {"operator", Op::name},
                     {"healthy", mutant.healthy},
                     {"subject", subject},
                     {"bug", mutant.bug}});
      table.add({name, std::string(Op::name), mutant.healthy ? "yes" : "no", subject, mutant.bug});
    }
  });
  if (all.empty()) throw none_of_that_name(flags);
  if (flags.json)
    context.out << all.dump(1) << '\n';
  else
    table.print(context.out);
  return ExitCode::conformant;
}

/// Appends the results of another operator to the table.
void append(KillTable& table, KillTable other) {
  std::ranges::move(other.rows, std::back_inserter(table.rows));
  std::ranges::move(other.detections, std::back_inserter(table.detections));
  table.cases += other.cases;
  table.seconds += other.seconds;
  table.threads = other.threads;
  table.interrupted = table.interrupted || other.interrupted;
}

ExitCode judge(const Flags& flags, const Context& context) {
  require_writable({{"--report", flags.report, TextKind::kills}}, {}, flags.replace);
  const Context output = context_for({{"--report", flags.report}}, context);
  stop_on_signals();
  mutants::KillControl control = {.stop = &context.stop};
  if (flags.threads) control.threads = *flags.threads;
  KillTable table;
  with_mutants(flags, [&]<class Op>(const std::vector<mutants::MutantOf<Op>>& mutants) {
    if (context.stop) return;
    const auto cases = mutants::kill_cases<Op>();
    Waiting waiting(context, {.what = std::string(Op::name), .cases = std::ssize(cases)});
    control.progress = [&](std::int64_t done, std::int64_t) { waiting.done(done); };
    append(table, mutants::kill_table(mutants, cases, control));
  });
  if (table.rows.empty() && !context.stop) throw none_of_that_name(flags);
  const nlohmann::json json = to_json(table, flags.by_case);
  if (flags.json)
    output.out << json.dump(2) << '\n';
  else
    print(table, output.out);
  if (const auto write = sink(flags.report, context)) write(json.dump(1) + '\n');
  if (table.interrupted) return ExitCode::not_conclusive;
  return table.as_expected() ? ExitCode::conformant : ExitCode::nonconformant;
}

}  // namespace

Command mutants_command() {
  return {.name = "mutants",
          .summary =
              "judge injected faults and healthy (correct) variants; exit 0 if all verdicts "
              "are as expected",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            const auto flags = std::make_shared<Flags>();
            app.add_option("operator", flags->operator_name,
                           "one operator, see 'list operators' [all]");
            app.add_option("--only", flags->only, "mutants whose name contains this text");
            add_integer(app, "--threads", flags->threads, 1, 1024, "host threads that judge cases");
            app.add_option("--report", flags->report,
                           "write the table as JSON, which 'assay report' shows");
            declare_force(app, flags->replace);
            app.add_flag("--json", flags->json, "print the table as JSON");
            app.add_flag("--by-case", flags->by_case,
                         "add to the JSON which mutants each case detects");
            app.add_flag("--list", flags->list,
                         "only list their names, which --implementation accepts");
            return [flags](const Context& context) {
              return flags->list ? list(*flags, context) : judge(*flags, context);
            };
          }};
}

}  // namespace assay::cli
