#include "commands/result_files.hpp"

#include <fmt/format.h>

#include "assay/conformance/result/printable.hpp"
#include "flags/values.hpp"

namespace assay::cli {

void ResultFiles::declare(CLI::App& app, const std::string& store_text) {
  app.add_option("--store", store, store_text);
  app.add_option("--report", report, "report as JSON");
  app.add_option("--html", html, "HTML file for the report: one page with charts");
  app.add_option("--junit", junit, "report as JUnit XML");
  declare_force(app, replace);
}

std::vector<Destination> ResultFiles::texts() const {
  return {{"--report", report, TextKind::report},
          {"--html", html, TextKind::page},
          {"--junit", junit, TextKind::junit}};
}

void ResultFiles::require_writable(const std::vector<Destination>& inputs) const {
  const Destination kept = {"--store", store};
  require_case_file(kept, fixtures::CaseFileKind::store);
  for (const Destination& input : inputs) {
    cli::require_writable(texts(), {input}, Replace::anything);
    cli::require_writable({}, {kept, input});
  }
  cli::require_writable(texts(), {kept}, replace);
}

void ResultFiles::print(std::ostream& out, const Deliveries& deliveries) const {
  struct Written {
    const char *flag, *what;
    const std::string& path;
  };
  for (const auto& [flag, what, path] :
       {Written{"--html", "report, for people", html},
        Written{"--report", "report, for programs", report}, Written{"--junit", "JUnit", junit},
        Written{"--store", "cases", store}})
    if (!path.empty() && !deliveries.has_failed(flag))
      out << fmt::format("{}: {}\n", what, conformance::printable(path));
}

void ExitFlags::declare(CLI::App& app) {
  add_integer(app, "--require-judged", least, 0, 1'000'000,
              "exit 3 (not conclusive) if fewer cases than this were judged numerically");
  add_value(
      app, "--baseline", baseline, [](const std::string& path) { return Baseline(path); },
      "file of known failures, which do not count until their expiry date; each line: date, "
      "verdict, and a replay line or a condition as for --only");
}

ExitCode ExitFlags::code_of(const conformance::Results& results, std::ostream& out) const {
  const ExitCode code = baseline.apply(results, out);
  if (results.summary.value_cases >= least) return code;
  out << fmt::format("only {} of {} cases were judged numerically; --require-judged is {}\n",
                     results.summary.value_cases, results.summary.planned, least);
  return code == ExitCode::conformant ? ExitCode::not_conclusive : code;
}

}  // namespace assay::cli
