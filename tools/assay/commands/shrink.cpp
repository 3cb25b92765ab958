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

/// Reports that the case does not fail, so there is nothing to shrink.
ExitCode refuse_conforming(const CaseReport& report, bool as_json, const Context& context) {
  if (as_json)
    context.out << nlohmann::ordered_json::parse(conformance::to_json(report)).dump(1) << '\n';
  else
    print_case(report, context.typed, context.out);
  (as_json ? context.err : context.out)
      << conclusion(report) << " Nothing to shrink: only failing cases are shrunk.\n";
  return conformance::contribution(report.verdict);
}

void print_json(const CaseReport& failing, const ShrunkCase& shrunk, const CaseReport& smallest,
                std::ostream& out) {
  const auto json_of = [](const CaseReport& report) {
    return nlohmann::ordered_json::parse(conformance::to_json(report));
  };
  out << nlohmann::ordered_json{{"case", json_of(failing)},  {"shrunk", json_of(smallest)},
                                {"runs", shrunk.runs},       {"end", spec::to_string(shrunk.end)},
                                {"again", shrunk.again},     {"failed_again", shrunk.failed_again},
                                {"untried", shrunk.untried}, {"declared", shrunk.declared}}
             .dump(1)
      << '\n';
}

/// Finds the smallest similar case that fails. Also searches for numerics (rounding behaviour) that
/// explain the failure.
template <class Op>
auto smallest_of(const conformance::Case<Op>& c, const CaseReport& failing,
                 const OneCaseOptions& options, Recorder<Op>& recorder, const Context& context) {
  const conformance::MakeFresh<Op> fresh = [&] {
    return make_implementation<Op>(context.registry, options.implementation);
  };
  const conformance::ShrinkBudget budget{.stop = &context.stop};
  context.err << fmt::format("shrinking: at most {} runs or {} s\n", budget.runs, budget.seconds)
              << std::flush;
  return watched(c, options.implementation, "shrink, smaller cases", recorder, context, [&] {
    std::vector<std::string> untried;
    auto smallest = shrunk<Op>(c, failing, recorder, fresh, budget, untried);
    std::vector<conformance::Case<Op>> alike = {c};
    if (conformance::command_line(c) != conformance::command_line(smallest.smallest))
      alike.insert(alike.begin(), smallest.smallest);
    ShrunkCase said =
        shrunk_case(failing, smallest, fitting_numerics(smallest, alike, recorder, budget), 1,
                    std::move(untried));
    return std::pair(std::move(smallest), std::move(said));
  });
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
  if (conformance::contribution(report.verdict) != ExitCode::nonconformant)
    return refuse_conforming(report, options.json, context);
  stop_on_signals();
  const auto [smallest, summary] = smallest_of<Op>(c, report, options, recorder, context);
  if (options.json)
    print_json(report, summary, smallest.report, context.out);
  else
    print(report, summary, smallest.report, context);
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
