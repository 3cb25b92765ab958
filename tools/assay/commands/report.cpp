#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "assay/conformance/report/results.hpp"
#include "assay/conformance/result/printable.hpp"
#include "commands/commands.hpp"
#include "dashboard.hpp"
#include "flags/deliveries.hpp"
#include "flags/destinations.hpp"
#include "printing/conclusion.hpp"
#include "printing/print_case.hpp"
#include "printing/print_kills.hpp"
#include "printing/print_timeline.hpp"
#include "printing/table.hpp"
#include "stored/changes.hpp"
#include "stored/read_results.hpp"

namespace assay::cli {
namespace {

using conformance::Results;

struct ReportOptions {
  std::string report, html, json;
  Replace replace = Replace::own_results;
  /// Paths of other files to show. `report` is compared with the first earlier report. The HTML
  /// page shows all reports, and may also show the results of `assay mutants` and the trace of
  /// `assay device plan`.
  std::vector<std::string> before;
};

void print_changes(const Changes& changes, const Results& now, const Results& before,
                   const std::string& program, std::ostream& out) {
  Table table({"change", "before", "now", "replay"});
  for (const auto& [change, why, then, today] : changes.cases)
    table.add({fmt::format("{}{}{}", spec::to_string(change), why.empty() ? "" : ": ", why),
               std::string(then == nullptr ? "-" : spec::to_string(then->verdict.value())),
               std::string(spec::to_string(today->verdict.value())),
               conformance::replay_command(*today, program)});
  out << fmt::format(
      "\ncompared with the report of {}, started {}: {} in both, {} only now, {} "
      "only before\n",
      before.environment.implementation, before.environment.started,
      conformance::counted(changes.common, "case"), changes.only_now, changes.only_before.size());
  for (const auto& [when, results] : {std::pair{"now", &now}, std::pair{"before", &before}}) {
    const Tally tally = tally_of(*results);
    out << fmt::format("{}: {} of {} judged cases conform; {} not applicable\n", when,
                       tally.conforming, tally.judged(), tally.not_applicable);
  }
  if (!changes.only_before.empty())
    out << "some cases are missing now; the first missing case is "
        << conformance::replay_command(*changes.only_before.front(), program) << '\n';
  if (changes.common == 0)
    out << "the reports have no case in common: nothing was compared\n";
  else if (table.empty())
    out << "no verdict changed\n";
  if (table.empty()) return;
  table.print(out);
  out << fmt::format("{}, {}\n",
                     conformance::counted(changes.count(Change::regression), "regression"),
                     conformance::counted(changes.count(Change::improvement), "improvement"));
}

/// Prints what changed since the first earlier report. The exit code says whether there is a
/// regression, and whether the reports could be compared.
ExitCode compare(const ReportOptions& options, const Results& results, const Results& before,
                 std::ostream& out, Deliveries& deliveries, const Context& context) {
  const Changes changes = changes_between(results, before);
  print_changes(changes, results, before, replay_program(results, context), out);
  if (const auto write = deliveries.guarded("--json", sink(options.json, context)))
    write(to_json(changes, results, before));
  if (changes.count(Change::regression) > 0) return ExitCode::nonconformant;
  return changes.common > 0 ? ExitCode::conformant : ExitCode::not_conclusive;
}

ExitCode report(const ReportOptions& options, const Context& context) {
  const std::vector<Destination> written = {{"--html", options.html, TextKind::page},
                                            {"--json", options.json, TextKind::changes}};
  std::vector<Destination> read = {{"report", options.report}};
  for (const std::string& before : options.before) read.push_back({"before", before});
  for (const Destination& input : read) require_writable(written, {input}, Replace::anything);
  require_writable(written, {}, options.replace);
  const Context output = context_for(written, context);
  Shown shown;
  read_shown(options.report, shown);
  for (const std::string& before : options.before) read_shown(before, shown);
  const std::vector<Results>& runs = shown.runs;
  if (!options.json.empty() && runs.size() < 2)
    throw UsageError(
        "--json writes the changes since an earlier report, but no earlier report is given");
  if (!runs.empty())
    print_results(runs[0], replay_program(runs[0], context), detail_of(context), output.out);
  if (shown.kills) print_kills(*shown.kills, output.out);
  if (shown.timeline) print_timeline(*shown.timeline, output.out);
  Deliveries deliveries;
  const ExitCode code = runs.size() < 2
                            ? ExitCode::conformant
                            : compare(options, runs[0], runs[1], output.out, deliveries, context);
  if (const auto write = deliveries.guarded("--html", sink(options.html, context)))
    write(dashboard_page(shown, context));
  if (!options.html.empty() && !deliveries.has_failed("--html"))
    output.out << "\npage: " << conformance::printable(options.html) << '\n';
  const ExitCode end = deliveries.conclude(code, context.err);
  if (runs.size() == 1)
    output.out << '\n'
               << conclusion(runs[0],
                             runs[0].summary.ends_with.value_or(runs[0].summary.exit_code()))
               << '\n';
  return end;
}

}  // namespace

Command report_command() {
  return {.name = "report",
          .summary =
              "show a report, or compare it with an earlier one: exit code 1 on a regression, 3 if "
              "the two have no case in common",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            const auto options = std::make_shared<ReportOptions>();
            app.add_option(
                   "report", options->report,
                   "report.json of a sweep, a table of 'assay mutants', or a trace of 'assay "
                   "device plan'")
                ->required();
            app.add_option("before", options->before,
                           "report.json to compare with; the page also shows further reports, "
                           "a table of 'assay mutants' and a trace of 'assay device plan'");
            app.add_option("--html", options->html, "HTML file to write: one page with charts");
            app.add_option("--json", options->json, "write the changes as JSON, for programs");
            declare_force(app, options->replace);
            return [options](const Context& context) { return report(*options, context); };
          }};
}

}  // namespace assay::cli
