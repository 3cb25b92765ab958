#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "assay/conformance/case/unread_fields.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/report/results.hpp"
#include "commands/commands.hpp"
#include "commands/watched.hpp"
#include "flags/one_case.hpp"
#include "printing/conclusion.hpp"
#include "printing/print_case.hpp"
#include "stored/recorder.hpp"

namespace assay::cli {
namespace {

template <class Op>
ExitCode run(const OneCaseOptions& options, const CLI::App& app, const Context& context) {
  const conformance::Case<Op> c = options.fields.parsed<Op>(app);
  for (const std::string& sentence : conformance::unread_fields(c))
    context.err << "note: " << sentence << '\n';
  tell_in_process(options.implementation, context.err);
  const auto implementation = make_implementation<Op>(context.registry, options.implementation);
  Recorder<Op> recorder(*implementation,
                        implementation_name<Op>(context.registry, options.implementation));
  const conformance::CaseReport report =
      watched(c, options.implementation, "run", recorder, context,
              [&] { return conformance::judge_case(c, recorder); });
  if (options.json) {
    auto json = nlohmann::ordered_json::parse(conformance::to_json(report));
    for (const auto& [name, digest] : recorder.take().outputs) json["digests"][name] = digest;
    context.out << json.dump(1) << '\n';
  } else {
    print_case(report, context.typed, context.out,
               context.verbose ? Metrics::shown : Metrics::counted);
    for (const auto& [name, digest] : recorder.take().outputs)
      context.out << fmt::format("  digest of {} = {}\n", name, digest);
    context.out << conclusion(report) << '\n';
  }
  return conformance::contribution(report.verdict);
}

}  // namespace

Command run_command() {
  return one_case_command(
      "run", "run one case and judge it; accepts any replay line",
      []<class Op>(const OneCaseOptions& options, const CLI::App& app, const Context& context) {
        return run<Op>(options, app, context);
      });
}

}  // namespace assay::cli
