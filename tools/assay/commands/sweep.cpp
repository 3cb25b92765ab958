#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "assay/cli/main.hpp"
#include "assay/conformance/report/listeners.hpp"
#include "build_facts.hpp"
#include "commands/ahead.hpp"
#include "commands/commands.hpp"
#include "commands/sweep_part.hpp"
#include "dashboard.hpp"
#include "flags/destinations.hpp"
#include "printing/print_case.hpp"
#include "signals.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;
using conformance::Summary;

struct Options {
  std::string operator_name, budget, store, report, html, junit, shrink = "3", least = "0";
  ImplementationFlags implementation;
  PlanFlags plan;
  bool resume = false;
};

/// Time for shrinking all the failures of a sweep that are shrunk.
constexpr double shrink_seconds = 20;

using Parts = std::vector<std::unique_ptr<SweepPart>>;

/// The implementations' names, each once.
std::string implementations(const Parts& parts) {
  std::vector<std::string> names;
  for (const auto& part : parts)
    if (std::ranges::find(names, part->implementation()) == names.end())
      names.push_back(part->implementation());
  return joined(names);
}

std::int64_t case_count(const Parts& parts) {
  std::int64_t count = 0;
  for (const auto& part : parts) count += part->cases();
  return count;
}

/// A case of a part.
struct Turn {
  std::size_t part, place;
};
/// The cases in the order in which they run, and what each is expected to cost.
struct Order {
  std::vector<Turn> turns;
  std::vector<conformance::ExpectedCost> costs;
};

/// Of the cases that are next in their parts always the cheapest, so that a budget is not spent on
/// the first operator.
Order order_of(const Parts& parts) {
  Order order;
  std::vector<std::vector<conformance::ExpectedCost>> costs;
  for (const auto& part : parts) costs.push_back(part->costs());
  std::vector<std::size_t> next(parts.size(), 0);
  for (std::int64_t left = case_count(parts); left > 0; --left) {
    std::size_t cheapest = parts.size();
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (next[k] < costs[k].size() &&
          (cheapest == parts.size() ||
           costs[k][next[k]].seconds < costs[cheapest][next[cheapest]].seconds))
        cheapest = k;
    order.turns.push_back({cheapest, next[cheapest]});
    order.costs.push_back(costs[cheapest][next[cheapest]++]);
  }
  return order;
}

/// Changes with everything that could change a result: cases, implementation and its files, limits,
/// tool, the program itself.
std::string plan_text(const Parts& parts, const ImplementationFlags& flags) {
  std::string lines;
  for (const auto& part : parts) lines += part->lines();
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto written =
      std::filesystem::last_write_time(program, ignored).time_since_epoch().count();
  return fmt::format("{} {}{} {} {} isolated {} {} cases {} program {}", build_facts().version,
                     implementations(parts), fingerprint(flags.name), flags.time_limit,
                     flags.memory_limit, flags.isolated, case_count(parts),
                     conformance::case_id(lines), written);
}

conformance::Environment environment(const Options& options, const Parts& parts,
                                     const Context& context) {
  conformance::Environment result{
      .tool_version = build_facts().version,
      .compiler = build_facts().compiler,
      .command_line = context.command_line,
      .implementation = implementations(parts),
      .program = context.program,
      .started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
      .seed = seed_value("--seed", options.plan.seed),
      .numerics = {}};
  for (const auto& part : parts)
    for (const auto& [key, profile] : part->numerics()) result.numerics[key] = profile;
  return result;
}

/// The reports of an interrupted sweep of the same plan.
std::map<std::string, CaseReport> taken_up(const fixtures::Store& store) {
  std::map<std::string, CaseReport> reports;
  for (const auto& [id, json] : store.finished()) reports[id] = conformance::report_from_json(json);
  return reports;
}

SweepPart& part_of(const Parts& parts, const CaseReport& report) {
  return **std::ranges::find(parts, report.operator_name,
                             [](const auto& part) { return part->operator_name(); });
}

/// The first failures of `wanted` faults with their smallest failing neighbours. A call that breaks
/// a row on purpose is one violation of a small call already, and what does not fail each time has
/// no smaller neighbour: they are left alone.
std::vector<conformance::ShrunkCase> shrunk_failures(const std::vector<CaseReport>& reports,
                                                     std::int64_t wanted, const Parts& parts,
                                                     const Context& context) {
  std::vector<conformance::ShrunkCase> result;
  std::set<std::string> faults;
  const auto start = std::chrono::steady_clock::now();
  for (const CaseReport& report : reports) {
    const auto left = wanted - std::ssize(result);
    if (left <= 0 || context.stop) break;
    if (conformance::contribution(report.verdict) != ExitCode::nonconformant ||
        !report.violated_requirement.empty() || report.findings.empty() ||
        report.findings.front().rule == "repeat" ||
        !faults.insert(conformance::fault_of(report)).second)
      continue;
    if (result.empty()) context.err << "shrinking the first failures\n" << std::flush;
    const double spent =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.push_back(
        part_of(parts, report)
            .shrink(report, {.seconds = (shrink_seconds - spent) / static_cast<double>(left),
                             .stop = &context.stop}));
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

std::int64_t least_judged(const Options& options) {
  return integer_value("--require-judged", options.least, 0, 1'000'000);
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
    context.out << fmt::format("budget of {} spent: {} of {} cases were not run{}\n",
                               options.budget, summary.planned - summary.cases, summary.planned,
                               options.store.empty() ? "" : "; the same command takes them up");
  const ExitCode code = summary.exit_code();
  const std::int64_t least = least_judged(options);
  if (summary.value_cases >= least) return code;
  context.out << fmt::format("only {} of {} cases were judged by numbers; --require-judged is {}\n",
                             summary.value_cases, summary.planned, least);
  return code == ExitCode::conformant ? ExitCode::not_conclusive : code;
}

std::vector<Destination> texts(const Options& options) {
  return {{"--report", options.report}, {"--html", options.html}, {"--junit", options.junit}};
}

/// Where the results go. They are settled before a kernel runs, which may go to another folder.
struct Sinks {
  conformance::Sink report, html, junit;
};

/// Prints the results and writes what is made of all of them at once. A report on standard output
/// cannot be replaced: it is written here alone.
void publish(const conformance::Results& results, const Options& options, const Sinks& sinks,
             const Context& context) {
  const Context told = beside(texts(options), context);
  print_results(results, told.out);
  if (!results.shrunk.empty() || is_standard_output(options.report))
    if (sinks.report) sinks.report(conformance::to_json(results));
  if (sinks.html) sinks.html(dashboard_page(results));
  told.out << '\n';
  print_files(options, told.out);
}

/// The store of the sweep, with what an earlier start of it left. Errors: UsageError where
/// `--resume` finds nothing of it.
fixtures::Store opened_store(const Options& options, const std::filesystem::path& path,
                             const std::string& plan, const Context& context) {
  using Leftover = fixtures::Store::Leftover;
  const Leftover leftover = fixtures::Store::leftover(path, plan);
  if (options.resume && leftover == Leftover::none)
    throw UsageError(
        fmt::format("--resume: no interrupted sweep lies beside {}{}", options.store,
                    std::filesystem::exists(options.store) ? ", which is complete" : ""));
  const std::string another = fmt::format(
      "the sweep beside {} is another one: its cases, its implementation, its limits "
      "or this program differ",
      options.store);
  if (options.resume && leftover == Leftover::other_plan)
    throw UsageError("--resume: " + another + "; without --resume it is discarded");
  if (leftover == Leftover::other_plan) context.err << another << "; it is discarded\n";
  const std::string damaged =
      fmt::format("the journal of the sweep beside {} is damaged from end to end", options.store);
  if (options.resume && leftover == Leftover::damaged)
    throw UsageError("--resume: " + damaged + "; without --resume the sweep starts anew");
  if (leftover == Leftover::damaged) context.err << damaged << "; the sweep starts anew\n";
  fixtures::Store store(path, plan);
  const auto [records, parts] = store.damage();
  if (records > 0 || parts > 0)
    context.err << fmt::format(
        "{} records and {} parts of the sweep beside {} are damaged; what "
        "they held is run again\n",
        records, parts, options.store);
  return store;
}

/// The same. Errors: UsageError also for a place that is not the store's to take.
fixtures::Store own_store(const Options& options, const std::filesystem::path& path,
                          const std::string& plan, const Context& context) {
  try {
    return opened_store(options, path, plan, context);
  } catch (const fixtures::StoreRefused& error) {
    throw UsageError(fmt::format("--store: {}", error.what()));
  }
}

/// What the store makes of its parts at the end; false where it lacks cases.
bool is_stored(fixtures::Store& store, const Summary& summary, const Options& options,
               const Context& context) {
  const std::vector<std::string> left_out =
      summary.cases < summary.planned ? store.snapshot() : store.merge();
  if (left_out.empty()) return true;
  context.err << fmt::format(
      "{} lacks {} cases, the first is {}: what was kept of them was changed "
      "by somebody else; the same command runs them again\n",
      options.store, left_out.size(), left_out.front());
  return false;
}

ExitCode sweep(const Options& options, const Context& context) {
  if (options.resume && options.store.empty())
    throw UsageError("--resume needs --store, the file of the sweep that was interrupted");
  const Destination kept = {"--store", options.store};
  require_case_file(kept, fixtures::CaseFileKind::store);
  require_writable(texts(options), {kept});
  const std::int64_t shrink = integer_value("--shrink", options.shrink, 0, 1000);
  least_judged(options);
  tell_in_process(options.implementation, context.err);
  const Sinks sinks = {.report = sink(options.report, context),
                       .html = sink(options.html, context),
                       .junit = sink(options.junit, context)};
  const std::filesystem::path store_path =
      options.store.empty() ? std::filesystem::path() : std::filesystem::absolute(options.store);
  const Parts parts = sweep_parts(options.operator_name, context.registry, options.implementation,
                                  options.plan, context.err);
  Order order = order_of(parts);

  conformance::ConsoleListener console(
      context.err, context.terminal ? conformance::Progress::bar : conformance::Progress::lines,
      std::move(order.costs));
  conformance::JsonListener json(
      is_standard_output(options.report) ? conformance::Sink() : sinks.report,
      environment(options, parts, context));
  conformance::JunitListener junit(sinks.junit, context.program);
  std::vector<conformance::SweepListener*> listeners = {&console};
  conformance::SweepControl control{.stop = &context.stop};
  if (!options.budget.empty()) control.budget_seconds = seconds_value("--budget", options.budget);

  std::optional<fixtures::Store> store;
  std::optional<conformance::StoreListener> storing;
  std::map<std::string, CaseReport> earlier;
  if (!options.store.empty()) {
    store.emplace(
        own_store(options, store_path, plan_text(parts, options.implementation), context));
    earlier = taken_up(*store);
    if (!earlier.empty())
      context.err << fmt::format("taking up {} finished cases of an interrupted sweep\n",
                                 earlier.size());
    control.finished = [&earlier](const std::string& id) {
      const auto found = earlier.find(id);
      return found == earlier.end() ? nullptr : &found->second;
    };
    listeners.push_back(&storing.emplace(*store, [&parts](const CaseReport& report) {
      return part_of(parts, report).record(report);
    }));
  }
  listeners.push_back(&json);
  if (!options.junit.empty()) listeners.push_back(&junit);

  stop_on_signals();
  conformance::Sweep run(listeners, control);
  for (const auto& part : parts) part->append_coverage(run.summary());
  run.start(case_count(parts), implementations(parts));
  {
    const auto prepare = [&](std::size_t turn) {
      const auto [part, place] = order.turns[turn];
      if (earlier.empty() || !earlier.contains(parts[part]->id(place))) parts[part]->prepare(place);
    };
    // With --in-process nothing else shall go on in this process.
    std::vector<std::int64_t> weights;
    for (const auto& [part, place] : order.turns) weights.push_back(parts[part]->elements(place));
    Ahead ahead(std::move(weights), options.implementation.in_process ? 0 : threads_ahead(),
                prepare);
    for (std::size_t turn = 0; turn < order.turns.size(); ++turn) {
      ahead.judging(turn);
      parts[order.turns[turn].part]->run(run, order.turns[turn].place);
    }
  }
  const Summary& summary = run.finish();
  conformance::Results results = json.results();
  results.shrunk = shrunk_failures(results.cases, shrink, parts, context);
  publish(results, options, sinks, context);
  // Last: after a kill before this line the next start takes everything up. What a stop or a budget
  // left out is taken up as well.
  const bool stored = !store || is_stored(*store, summary, options, context);
  const ExitCode code = conclude(summary, options, beside(texts(options), context));
  return code == ExitCode::conformant && !stored ? ExitCode::not_conclusive : code;
}

}  // namespace

Command sweep_command() {
  return {.name = "sweep",
          .summary = "judge an implementation on many cases: the main job",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            const auto options = std::make_shared<Options>();
            app.add_option("operator", options->operator_name,
                           "one operator, see 'list operators'; by default all");
            options->implementation.declare(app);
            options->plan.declare(app);
            app.add_option("--budget", options->budget, "no case starts later, e.g. 60s, 5min");
            app.add_option("--shrink", options->shrink,
                           "how many faults are reduced to their smallest neighbour");
            app.add_option("--require-judged,--least-judged", options->least,
                           "fewer cases judged by numbers are not conclusive (exit code 3)");
            app.add_option("--store", options->store,
                           "HDF5 file of the cases; an interrupted sweep is taken up from it");
            app.add_flag("--resume", options->resume,
                         "refuse to start anew: go on with the sweep that --store has begun");
            app.add_option("--report", options->report, "report as JSON");
            app.add_option("--html", options->html, "report as one page with pictures");
            app.add_option("--junit", options->junit, "report as JUnit XML");
            return [options](const Context& context) { return sweep(*options, context); };
          }};
}

}  // namespace assay::cli
