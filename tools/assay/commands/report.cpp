#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "assay/conformance/report/results.hpp"
#include "commands/commands.hpp"
#include "dashboard.hpp"
#include "flags/destinations.hpp"
#include "printing/print_case.hpp"
#include "printing/table.hpp"
#include "stored/changes.hpp"
#include "stored/read_results.hpp"

namespace assay::cli {
namespace {

using conformance::Results;

struct Options {
  std::string report, before, html, json;
};

void print_changes(const Changes& changes, const Results& results, const Results& before,
                   std::ostream& out) {
  Table table({"change", "before", "now", "replay"});
  for (const auto& [change, then, now] : changes.cases)
    table.add({std::string(spec::to_string(change)),
               std::string(spec::to_string(then->verdict.value)),
               std::string(spec::to_string(now->verdict.value)),
               conformance::replay_command(*now, results.environment.program)});
  out << fmt::format("\ncompared with {} of {}: {} cases in both, {} only now, {} only before\n",
                     before.environment.implementation, before.environment.started, changes.common,
                     changes.only_now, changes.only_before);
  if (table.empty()) {
    out << "no verdict changed\n";
    return;
  }
  table.print(out);
  out << fmt::format("{} regressions, {} improvements\n", changes.count(Change::regression),
                     changes.count(Change::improvement));
}

/// Shows what changed; the exit code says whether something became worse.
ExitCode compare(const Options& options, const Results& results, std::ostream& out,
                 const Context& context) {
  const Results before = read_results(options.before);
  const Changes changes = changes_between(results, before);
  print_changes(changes, results, before, out);
  if (const auto write = sink(options.html, context)) write(dashboard_page(results, before));
  if (const auto write = sink(options.json, context)) write(to_json(changes, results, before));
  return changes.count(Change::regression) > 0 ? ExitCode::nonconformant : ExitCode::conformant;
}

ExitCode report(const Options& options, const Context& context) {
  if (!options.json.empty() && options.before.empty())
    throw UsageError("--json: says what changed, and no earlier report is named");
  const std::vector<Destination> written = {{"--html", options.html}, {"--json", options.json}};
  require_writable(written, {{"report", options.report}});
  require_writable(written, {{"before", options.before}});
  const Context told = beside(written, context);
  const Results results = read_results(options.report);
  print_results(results, told.out);
  ExitCode code = ExitCode::conformant;
  if (!options.before.empty())
    code = compare(options, results, told.out, context);
  else if (const auto write = sink(options.html, context))
    write(dashboard_page(results));
  if (!options.html.empty()) told.out << "\npage: " << options.html << '\n';
  return code;
}

}  // namespace

Command report_command() {
  return {
      .name = "report",
      .summary = "show a report, or compare it with an earlier one: exit code 1 on a regression",
      .declare = [](CLI::App& app, const Registry&) -> Action {
        const auto options = std::make_shared<Options>();
        app.add_option("report", options->report, "report.json of a sweep")->required();
        app.add_option("before", options->before, "report.json to compare it with");
        app.add_option("--html", options->html, "write one page with pictures");
        app.add_option("--json", options->json, "write what changed, for programs");
        return [options](const Context& context) { return report(*options, context); };
      }};
}

}  // namespace assay::cli
