#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "assay/conformance/report/listeners.hpp"
#include "commands/commands.hpp"
#include "flags/deliveries.hpp"
#include "flags/destinations.hpp"
#include "printing/case_printer.hpp"
#include "printing/conclusion.hpp"
#include "signals.hpp"
#include "sweeping/asked_line.hpp"
#include "sweeping/environment.hpp"
#include "sweeping/run_cases.hpp"
#include "sweeping/sweep_order.hpp"

namespace assay::cli {
namespace {

struct GateOptions {
  std::string operator_name, report;
  double budget = 5;  ///< seconds; no case starts after this time
  ImplementationFlags implementation{.flag = "KERNEL"};
  PlanFlags plan{.strongest = true};
  Replace replace = Replace::own_results;
  std::string asked;  ///< the words of the command, see asked_line()
};

/// Time limit for running a failing case again, to see whether it always fails (seconds).
constexpr double repeat_seconds = 1;

/// Returns the operators that the kernel supports. Prints the unsupported operators only with
/// --verbose.
Parts parts_of(const GateOptions& options, const Context& context) {
  std::ostream silence(nullptr);
  return sweep_parts(options.operator_name, context.registry, options.implementation, options.plan,
                     context.verbose ? context.err : silence);
}

/// Judges the cases one by one and stops after the first failure.
conformance::Results judged(const GateOptions& options, const Parts& parts,
                            const Context& context) {
  SlowCasePrinter slow;
  CasePrinter printer(context.err);
  conformance::JsonListener collected({},
                                      environment_of(parts, options.asked, options.plan, context));
  std::vector<conformance::SweepListener*> listeners = {&slow, &collected};
  if (context.verbose) listeners.push_back(&printer);
  const auto fails = [](const conformance::CaseReport& report) {
    return conformance::contribution(report.verdict) == ExitCode::nonconformant;
  };
  conformance::Sweep run(listeners, {.stop = &context.stop,
                                     .budget_seconds = options.budget,
                                     .ends_after = fails,
                                     .finished = {},
                                     .repeat_seconds = repeat_seconds});
  const Order order = balanced_order(parts);
  run.start(std::ssize(order.turns), implementations(parts));
  const auto none = [](const std::string&) { return false; };
  run_cases(parts, order.turns, run, none, options.implementation.in_process, slow, context);
  run.finish();
  return collected.results();
}

/// Returns the exit code. If no case was judged numerically, the result is not conclusive, even if
/// nothing failed.
ExitCode code_of(const conformance::Summary& summary) {
  const ExitCode code = summary.exit_code();
  if (summary.interrupted) return ExitCode::not_conclusive;
  const bool is_untried = code == ExitCode::conformant && summary.value_cases == 0;
  return is_untried ? ExitCode::not_conclusive : code;
}

ExitCode gate(const GateOptions& options, const Context& context) {
  const std::vector<Destination> files = {{"--report", options.report, TextKind::report}};
  require_writable(files, {}, options.replace);
  Deliveries deliveries;
  const conformance::Sink write = deliveries.guarded("--report", sink(options.report, context));
  tell_in_process(options.implementation, context.err);
  stop_on_signals();
  const Parts parts = parts_of(options, context);
  conformance::Results results = judged(options, parts, context);
  const ExitCode code = code_of(results.summary);
  results.summary.ends_with = code;
  if (write) write(conformance::to_json(results));
  context_for(files, context).out << first_answer(results, code, context.typed) << '\n';
  return deliveries.conclude(code, context.err);
}

}  // namespace

Command gate_command() {
  return {.name = "gate",
          .summary =
              "judge a kernel on the strongest cases for a few seconds, up to the first failure; "
              "prints one line, for an editor or a CI step",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            const auto options = std::make_shared<GateOptions>();
            app.add_option("kernel", options->implementation.name,
                           "the implementation to judge: see 'list implementations', or "
                           "aclnn:LIBRARIES, plugin:LIBRARY, command:PROGRAM")
                ->required()
                ->transform(with_absolute_paths);
            app.add_option("operator", options->operator_name,
                           "one operator, see 'list operators' [all]");
            options->implementation.declare_process(app);
            add_seconds(app, "--budget", options->budget,
                        "do not start new cases after this time [5s]");
            app.add_option("--report", options->report,
                           "report as JSON, in the format of a sweep's report");
            declare_force(app, options->replace);
            return [options, &app](const Context& context) {
              options->asked = asked_line(app);
              return gate(*options, context);
            };
          }};
}

}  // namespace assay::cli
