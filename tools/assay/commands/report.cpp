#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "assay/conformance/report/results.hpp"
#include "commands/commands.hpp"
#include "dashboard.hpp"
#include "flags/destinations.hpp"
#include "printing/print_case.hpp"
#include "printing/table.hpp"
#include "stored/read_results.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;
using conformance::Results;

struct Options {
  std::string report, before, html;
};

void print_changes(const Results& results, const Results& before, std::ostream& out) {
  const std::string& program = results.environment.program;
  std::map<std::string, const CaseReport*> earlier;
  for (const CaseReport& report : before.cases) earlier[report.id] = &report;
  Table table({"before", "now", "replay"});
  std::int64_t common = 0;
  for (const CaseReport& report : results.cases) {
    const auto found = earlier.find(report.id);
    if (found == earlier.end()) continue;
    ++common;
    if (found->second->verdict != report.verdict)
      table.add({std::string(spec::to_string(found->second->verdict.value)),
                 std::string(spec::to_string(report.verdict.value)),
                 conformance::replay_command(report, program)});
  }
  const auto total = static_cast<std::int64_t>(results.cases.size());
  out << fmt::format("\ncompared with {} of {}: {} cases in both, {} only now, {} only before\n",
                     before.environment.implementation, before.environment.started, common,
                     total - common, static_cast<std::int64_t>(before.cases.size()) - common);
  if (table.empty())
    out << "no verdict changed\n";
  else
    table.print(out);
}

ExitCode report(const Options& options, const Context& context) {
  const std::vector<Destination> page = {{"--html", options.html}};
  require_writable(page, {{"report", options.report}});
  require_writable(page, {{"before", options.before}});
  const Context told = beside(page, context);
  const auto write = sink(options.html, context);
  const Results results = read_results(options.report);
  if (options.before.empty()) {
    print_results(results, told.out);
    if (write) write(dashboard_page(results));
  } else {
    const Results before = read_results(options.before);
    print_results(results, told.out);
    print_changes(results, before, told.out);
    if (write) write(dashboard_page(results, before));
  }
  if (write) told.out << "\npage: " << options.html << '\n';
  return ExitCode::conformant;
}

}  // namespace

Command report_command() {
  return {.name = "report",
          .summary = "show a report, or compare it with an earlier one",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            const auto options = std::make_shared<Options>();
            app.add_option("report", options->report, "report.json of a sweep")->required();
            app.add_option("before", options->before, "report.json to compare it with");
            app.add_option("--html", options->html, "write one page with pictures");
            return [options](const Context& context) { return report(*options, context); };
          }};
}

}  // namespace assay::cli
