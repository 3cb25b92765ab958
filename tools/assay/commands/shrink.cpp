#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands/commands.hpp"
#include "commands/shrinking.hpp"
#include "commands/watched.hpp"
#include "flags/one_case.hpp"
#include "printing/conclusion.hpp"
#include "printing/print_case.hpp"
#include "signals.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;
using conformance::ShrunkCase;

void print(const CaseReport& failing, const ShrunkCase& shrunk, const CaseReport& smallest,
           const Context& context) {
  std::ostream& out = context.out;
  out << fmt::format("{}: {}\n", spec::to_string(failing.verdict.value()),
                     conformance::replay_command(failing, context.typed));
  if (shrunk.shrunk == shrunk.command_line)
    out << end_text(shrunk)
        << (shrunk.end == conformance::ShrinkEnd::unsteady ? "\n"
                                                           : "; no smaller failing case was "
                                                             "found\n");
  else
    out << fmt::format("{}:\n\n", end_text(shrunk));
  if (shrunk.shrunk != shrunk.command_line) print_case(smallest, context.typed, out);
  if (!shrunk.declared.empty()) out << declared_text(shrunk) << '\n';
  out << conclusion(failing)
      << (shrunk.shrunk == shrunk.command_line
              ? "\n"
              : fmt::format(" The smallest failing case found is case {}.\n", smallest.id));
}

template <class Op>
ExitCode shrink(const OneCaseOptions& options, const CLI::App& app, const Context& context) {
  const conformance::Case<Op> c = options.fields.parsed<Op>(app);
  tell_in_process(options.implementation, context.err);
  const auto implementation = make_implementation<Op>(context.registry, options.implementation);
  Recorder<Op> recorder(*implementation,
                        implementation_name<Op>(context.registry, options.implementation));
  const CaseReport report = watched(c, options.implementation, "shrink, the case itself", recorder,
                                    context, [&] { return conformance::judge_case(c, recorder); });
  recorder.take();
  const bool fails = conformance::contribution(report.verdict) == ExitCode::nonconformant;
  if (!fails) {
    if (options.json)
      context.out << nlohmann::ordered_json::parse(conformance::to_json(report)).dump(1) << '\n';
    else
      print_case(report, context.typed, context.out);
    (options.json ? context.err : context.out)
        << conclusion(report) << " Nothing to shrink: only failing cases are shrunk.\n";
    return conformance::contribution(report.verdict);
  }
  stop_on_signals();
  const conformance::MakeFresh<Op> fresh = [&] {
    return make_implementation<Op>(context.registry, options.implementation);
  };
  const conformance::ShrinkBudget budget{.stop = &context.stop};
  context.err << fmt::format("shrinking: at most {} runs or {} s\n", budget.runs, budget.seconds)
              << std::flush;
  const auto [result, summary] =
      watched(c, options.implementation, "shrink, smaller cases", recorder, context, [&] {
        std::vector<std::string> untried;
        auto smallest = shrunk<Op>(c, report, recorder, fresh, budget, untried);
        std::vector<conformance::Case<Op>> failing = {c};
        if (conformance::command_line(c) != conformance::command_line(smallest.smallest))
          failing.insert(failing.begin(), smallest.smallest);
        ShrunkCase said =
            shrunk_case(report, smallest, fitting_numerics(smallest, failing, recorder, budget), 1,
                        std::move(untried));
        return std::pair(std::move(smallest), std::move(said));
      });
  if (options.json)
    context.out << nlohmann::ordered_json{{"case", nlohmann::ordered_json::parse(
                                                       conformance::to_json(report))},
                                          {"shrunk", nlohmann::ordered_json::parse(
                                                         conformance::to_json(result.report))},
                                          {"runs", summary.runs},
                                          {"end", spec::to_string(summary.end)},
                                          {"again", summary.again},
                                          {"failed_again", summary.failed_again},
                                          {"untried", summary.untried},
                                          {"declared", summary.declared}}
                       .dump(1)
                << '\n';
  else
    print(report, summary, result.report, context);
  return ExitCode::nonconformant;
}

}  // namespace

Command shrink_command() {
  return one_case_command(
      "shrink",
      "reduce a failing case, field by field, to the smallest case that still fails (at most 200 "
      "runs or 20 s)",
      []<class Op>(const OneCaseOptions& options, const CLI::App& app, const Context& context) {
        return shrink<Op>(options, app, context);
      });
}

}  // namespace assay::cli
