#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "assay/cli/main.hpp"
#include "assay/conformance/listeners.hpp"
#include "build_facts.hpp"
#include "choose.hpp"
#include "commands.hpp"
#include "dashboard.hpp"
#include "expected_cost.hpp"
#include "plan_flags.hpp"
#include "print_case.hpp"
#include "recorder.hpp"
#include "shrinking.hpp"
#include "signals.hpp"
#include "stored_case.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;
using conformance::Summary;

struct Options {
  std::string operator_name, budget, store, report, html, junit, shrink = "3";
  ImplementationFlags implementation;
  PlanFlags plan;
};

/// Largest number of query and key elements of a failing case whose tensors are stored, and how
/// many such cases.
constexpr std::int64_t evidence_elements = 1 << 20;
constexpr int evidence_cases = 8;

/// Time for shrinking all the failures of a sweep that are shrunk.
constexpr double shrink_seconds = 20;

/// Changes with everything that could change a result: cases, implementation, tool, the program
/// itself.
template <class Op>
std::string plan_text(const std::vector<conformance::Case<Op>>& cases,
                      const std::string& implementation) {
  std::string lines;
  for (const auto& c : cases) lines += conformance::command_line(c) + '\n';
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto written =
      std::filesystem::last_write_time(program, ignored).time_since_epoch().count();
  return fmt::format("{} {} {} cases {} program {}", build_facts().version, implementation,
                     cases.size(), conformance::case_id(lines), written);
}

template <class Op>
conformance::Environment environment(const Options& options,
                                     const std::vector<conformance::Case<Op>>& cases,
                                     const spec::Implementation<Op>& implementation,
                                     const Context& context) {
  conformance::Environment result{
      .tool_version = build_facts().version,
      .compiler = build_facts().compiler,
      .command_line = context.command_line,
      .implementation = implementation.name(),
      .started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
      .seed = seed_value("--seed", options.plan.seed),
      .numerics = {}};
  for (const auto& c : cases) {
    const std::string dtype(spec::to_string(c.problem.dtype));
    if (!result.numerics.contains(dtype) && spec::is_fp16_bf16_fp32(c.problem.dtype))
      result.numerics[dtype] = conformance::to_json(implementation.numerics(c.problem));
  }
  return result;
}

/// The reports of an interrupted sweep of the same plan.
std::map<std::string, CaseReport> taken_up(const fixtures::Store& store) {
  std::map<std::string, CaseReport> reports;
  for (const auto& [id, json] : store.finished()) reports[id] = conformance::report_from_json(json);
  return reports;
}

/// Makes what is stored of each case: its recipe with digests, and the tensors of the first few
/// small failures.
template <class Op>
conformance::StoreListener::RecordOf record_maker(Recorder<Op>& recorder) {
  return [&recorder, left = evidence_cases](const CaseReport& report) mutable {
    const auto c =
        conformance::parse_case<Op>(conformance::case_words(report.command_line, Op::name));
    const auto run = recorder.take();
    const bool small = elements(c) <= evidence_elements;
    if (!report.value_case || without_tensors(c) || !small || left == 0 ||
        conformance::contribution(report.verdict) != ExitCode::nonconformant) {
      fixtures::CaseRecord record = conformance::recipe(c);
      record.digests = {run.inputs.begin(), run.inputs.end()};
      return record;
    }
    --left;
    fixtures::CaseRecord record =
        stored_case(c, recorder.numerics(c.problem), report.implementation, Contents::tensors);
    try {
      add_actual(record, c, recorder);
      recorder.take();
    } catch (const std::exception&) {
      record.actual.clear();  // a kernel that crashes has no outputs; its report says so
    }
    return record;
  };
}

/// The first `wanted` failures with their smallest failing neighbours. A call that breaks a row on purpose is one
/// violation of a small call already: it is left alone.
template <class Op>
std::vector<conformance::ShrunkCase> shrunk_failures(const std::vector<CaseReport>& reports,
                                                     std::int64_t wanted, Recorder<Op>& recorder,
                                                     const Context& context) {
  std::vector<conformance::ShrunkCase> result;
  const auto start = std::chrono::steady_clock::now();
  for (const CaseReport& report : reports) {
    const auto left = wanted - std::ssize(result);
    if (left <= 0 || context.stop) break;
    if (conformance::contribution(report.verdict) != ExitCode::nonconformant ||
        !report.violated_row.empty())
      continue;
    if (result.empty()) context.err << "shrinking the first failures\n" << std::flush;
    const double spent =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto c =
        conformance::parse_case<Op>(conformance::case_words(report.command_line, Op::name));
    result.push_back(
        told(report, shrunk(c, report, recorder,
                            {.seconds = (shrink_seconds - spent) / static_cast<double>(left),
                             .stop = &context.stop})));
  }
  return result;
}

void print_files(const Options& options, std::ostream& out) {
  const std::pair<const char*, const std::string&> files[] = {
      {"report, to look at", options.html},
      {"report, for programs", options.report},
      {"JUnit", options.junit},
      {"cases", options.store}};
  for (const auto& [what, path] : files)
    if (!path.empty()) out << fmt::format("{}: {}\n", what, path);
}

/// Exit code and last words of a sweep that ended, was stopped or ran out of its budget.
ExitCode conclude(const Summary& summary, const Options& options, const Context& context) {
  if (summary.interrupted) {
    context.err << fmt::format("stopped after {} of {} cases; {}\n", summary.cases, summary.planned,
                               options.store.empty()
                                   ? "without --store nothing can be taken up again"
                                   : "the same command takes up the rest");
    return ExitCode::not_conclusive;
  }
  if (summary.cases < summary.planned)
    context.out << fmt::format("budget of {} spent: {} of {} cases were not run{}\n", options.budget,
                               summary.planned - summary.cases, summary.planned,
                               options.store.empty() ? "" : "; the same command takes them up");
  return summary.exit_code();
}

/// Prints the results and writes what is made of all of them at once.
void publish(const conformance::Results& results, const Options& options, const Context& context) {
  print_results(results, context.out);
  if (!results.shrunk.empty() && !options.report.empty())
    conformance::replace_file(options.report, conformance::to_json(results));
  if (!options.html.empty()) conformance::replace_file(options.html, dashboard_page(results));
  context.out << '\n';
  print_files(options, context.out);
}

/// A file that cannot be written is named before the first case, not after the last.
void require_writable(const Options& options) {
  for (const std::string& path : {options.report, options.html, options.junit}) {
    if (path.empty()) continue;
    const std::string probe = path + ".probe";
    conformance::replace_file(probe, "");
    std::filesystem::remove(probe);
  }
}

template <class Op>
ExitCode sweep(const Options& options, const Context& context) {
  require_writable(options);
  const std::int64_t shrink = integer_value("--shrink", options.shrink, 0, 1000);
  const Planned<Op> planned = planned_cases<Op>(options.plan);
  const std::vector<conformance::Case<Op>>& cases = planned.cases;
  tell_left_out(planned, options.plan, context.err);
  const auto implementation = make_implementation<Op>(context.registry, options.implementation);
  Recorder<Op> recorder(*implementation, chosen<Op>(context.registry, options.implementation).name);
  std::vector<double> weights;
  for (const auto& c : cases) weights.push_back(expected_cost(c));

  conformance::ConsoleListener console(
      context.err, context.terminal ? conformance::Progress::bar : conformance::Progress::lines,
      std::move(weights));
  conformance::JsonListener json(options.report, environment(options, cases, recorder, context));
  conformance::JunitListener junit(options.junit);
  std::vector<conformance::SweepListener*> listeners = {&console};
  conformance::SweepControl control{.stop = &context.stop};
  if (!options.budget.empty()) control.budget_seconds = seconds_value("--budget", options.budget);

  std::optional<fixtures::Store> store;
  std::optional<conformance::StoreListener> storing;
  std::map<std::string, CaseReport> earlier;
  if (!options.store.empty()) {
    store.emplace(options.store, plan_text(cases, recorder.name()));
    earlier = taken_up(*store);
    if (!earlier.empty())
      context.err << fmt::format("taking up {} finished cases of an interrupted sweep\n",
                                 earlier.size());
    control.finished = [&earlier](const std::string& id) {
      const auto found = earlier.find(id);
      return found == earlier.end() ? nullptr : &found->second;
    };
    listeners.push_back(&storing.emplace(*store, record_maker(recorder)));
  }
  listeners.push_back(&json);
  if (!options.junit.empty()) listeners.push_back(&junit);

  stop_on_signals();
  const Summary summary = conformance::sweep<Op>(cases, recorder, listeners, control);
  // What a stop or a budget left out is taken up by the next start.
  if (store) summary.cases < summary.planned ? store->snapshot() : store->merge();
  conformance::Results results = json.results();
  results.shrunk = shrunk_failures(results.cases, shrink, recorder, context);
  publish(results, options, context);
  return conclude(summary, options, context);
}

}  // namespace

Command sweep_command() {
  return {.name = "sweep",
          .summary = "judge an implementation on many cases: the main job",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            const auto options = std::make_shared<Options>();
            app.add_option("operator", options->operator_name, "operator, see 'list operators'");
            options->implementation.declare(app);
            options->plan.declare(app);
            app.add_option("--budget", options->budget, "no case starts later, e.g. 60s, 5min");
            app.add_option("--shrink", options->shrink,
                           "how many failures are reduced to their smallest neighbour");
            app.add_option("--store", options->store,
                           "HDF5 file of the cases; an interrupted sweep is taken up from it");
            app.add_option("--report", options->report, "report as JSON");
            app.add_option("--html", options->html, "report as one page with pictures");
            app.add_option("--junit", options->junit, "report as JUnit XML");
            return [options](const Context& context) {
              return with_operator(options->operator_name,
                                   [&]<class Op> { return sweep<Op>(*options, context); });
            };
          }};
}

}  // namespace assay::cli
