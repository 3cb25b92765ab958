#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <sstream>

#include "assay/cli/main.hpp"
#include "assay/conformance/causes/causes.hpp"
#include "assay/conformance/report/listeners.hpp"
#include "assay/conformance/result/printable.hpp"
#include "build_facts.hpp"
#include "commands/commands.hpp"
#include "commands/result_files.hpp"
#include "dashboard.hpp"
#include "flags/destinations.hpp"
#include "printing/case_teller.hpp"
#include "printing/conclusion.hpp"
#include "printing/print_case.hpp"
#include "signals.hpp"
#include "stored/read_results.hpp"
#include "sweeping/asked_line.hpp"
#include "sweeping/fresh_seed.hpp"
#include "sweeping/guarded_store.hpp"
#include "sweeping/run_cases.hpp"
#include "sweeping/sweep_order.hpp"
#include "sweeping/sweep_part.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;
using conformance::Summary;

struct SweepOptions {
  std::string operator_name, budget, shard, shrink = "3";
  ImplementationFlags implementation;
  PlanFlags plan;
  ResultFiles files;
  ExitFlags exit;
  std::string lines, last_failed, fresh;
  bool resume = false, fail_fast = false;
  std::string asked;  ///< the command line but for where results go, see `asked_line`
};

/// Limits of the time for all shrinking of a sweep, which is that of its budget; without a budget,
/// the most.
constexpr double least_shrink_seconds = 10, most_shrink_seconds = 40;

/// Seconds after which no case starts; 0: all cases run.
double budget_of(const SweepOptions& options) {
  return options.budget.empty() ? 0 : seconds_value("--budget", options.budget);
}

conformance::Environment environment(const SweepOptions& options, const Parts& parts,
                                     const Context& context) {
  conformance::Environment result{
      .tool_version = build_facts().version,
      .compiler = build_facts().compiler,
      .command_line = context.program + options.asked,
      .implementation = implementations(parts),
      .program = context.program,
      .started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
      .seed = seed_value("--seed", options.plan.seed),
      .fresh_seed = options.plan.fresh_seed,
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

/// The first failures of `wanted` faults with their smallest failing neighbours.
std::vector<conformance::ShrunkCase> shrunk_failures(const std::vector<CaseReport>& reports,
                                                     std::int64_t wanted, double seconds,
                                                     const Parts& parts, const Context& context) {
  std::vector<conformance::ShrunkCase> result;
  const auto start = std::chrono::steady_clock::now();
  const std::vector<const CaseReport*> faults = conformance::first_faults(reports, wanted);
  if (faults.empty()) return result;
  const std::vector<conformance::Cause> causes = conformance::causes_of(reports, {});
  for (const CaseReport* report : faults) {
    if (context.stop) break;
    if (result.empty()) context.err << "shrinking the first failures\n" << std::flush;
    const double spent =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto left = static_cast<double>(wanted - std::ssize(result));
    result.push_back(part_of(parts, *report)
                         .shrink(*report, conformance::others_of_cause(reports, causes, *report),
                                 {.seconds = (seconds - spent) / left, .stop = &context.stop}));
  }
  return result;
}

/// How a sweep ended, was stopped or ran out of its budget. The report has the code: it is known
/// before the words are due, which come last.
struct Conclusion {
  ExitCode code;
  std::string words, warning;  ///< for standard output, and standard error
};

Conclusion conclude(const conformance::Results& results, const SweepOptions& options,
                    const Baseline& baseline) {
  const Summary& summary = results.summary;
  if (summary.interrupted)
    return {
        ExitCode::not_conclusive, "",
        fmt::format("stopped after {} of {} cases; {}\n", summary.cases, summary.planned,
                    options.files.store.empty() ? "without --store nothing can be taken up again"
                                                : "the same command takes up the rest")};
  std::ostringstream words;
  const ExitCode code = options.exit.code_of(results, baseline, words);
  const bool failed = options.fail_fast && code == ExitCode::nonconformant;
  if (summary.cases < summary.planned)
    words << fmt::format(
        "{}: {} of {} cases were not run{}\n",
        failed ? "ended behind the first failure" : "budget of " + options.budget + " spent",
        summary.planned - summary.cases, summary.planned,
        options.files.store.empty() || failed ? "" : "; the same command takes them up");
  return {code, words.str(), ""};
}

/// Where the results go. They are settled before a kernel runs, which may go to another folder.
struct Sinks {
  conformance::Sink report, html, junit;
};

/// Prints the results and writes what is made of all of them at once, the report where it says more
/// than at the end of the cases. One on standard output cannot be replaced: it is written here
/// alone.
void publish(const conformance::Results& results, const SweepOptions& options, const Sinks& sinks,
             const Deliveries& deliveries, const Context& context) {
  const Context told = beside(options.files.texts(), context);
  print_results(results, context.typed, told.out);
  const bool says_more = !results.shrunk.empty() || results.shard ||
                         results.summary.ends_with != results.summary.exit_code();
  if (sinks.report && (says_more || is_standard_output(options.files.report)))
    sinks.report(conformance::to_json(results));
  if (sinks.html) sinks.html(dashboard_page(results, context));
  told.out << '\n';
  options.files.print(told.out, deliveries);
}

/// What the store of one part says beside its cases: its report, without the cases that it holds.
std::string description(conformance::Results results, const fixtures::Store& store) {
  std::erase_if(results.cases,
                [&](const CaseReport& report) { return store.finished().contains(report.id); });
  std::string text = conformance::to_json(results);
  std::ranges::replace(text, '\n', ' ');  // a text in a file of ours is one line
  return text;
}

/// The store of the sweep, with what an earlier start of it left. Errors: UsageError where
/// `--resume` finds nothing of it.
fixtures::Store opened_store(const SweepOptions& options, const std::filesystem::path& path,
                             const std::string& plan, const Context& context) {
  using Leftover = fixtures::Store::Leftover;
  const Leftover leftover = fixtures::Store::leftover(path, plan);
  if (options.resume && leftover == Leftover::none)
    throw UsageError(
        fmt::format("--resume: no interrupted sweep lies beside {}{}", options.files.store,
                    std::filesystem::exists(options.files.store) ? ", which is complete" : ""));
  const std::string another = fmt::format(
      "the sweep beside {} is another one: its cases, its implementation, its limits "
      "or this program differ",
      options.files.store);
  if (options.resume && leftover == Leftover::other_plan)
    throw UsageError("--resume: " + another + "; without --resume it is discarded");
  if (leftover == Leftover::other_plan)
    context.err << conformance::printable(another) << "; it is discarded\n";
  const std::string damaged = fmt::format(
      "the journal of the sweep beside {} is damaged from end to end", options.files.store);
  if (options.resume && leftover == Leftover::damaged)
    throw UsageError("--resume: " + damaged + "; without --resume the sweep starts anew");
  if (leftover == Leftover::damaged)
    context.err << conformance::printable(damaged) << "; the sweep starts anew\n";
  fixtures::Store store(path, plan);
  const auto [records, parts] = store.damage();
  if (records > 0 || parts > 0)
    context.err << fmt::format(
        "{} records and {} parts of the sweep beside {} are damaged; what "
        "they held is run again\n",
        records, parts, conformance::printable(options.files.store));
  return store;
}

/// The same. Errors: UsageError also for a place that is not the store's to take.
fixtures::Store own_store(const SweepOptions& options, const std::filesystem::path& path,
                          const std::string& plan, const Context& context) {
  try {
    return opened_store(options, path, plan, context);
  } catch (const fixtures::StoreRefused& error) {
    throw UsageError(fmt::format("--store: {}", error.what()));
  }
}

/// What the store makes of its parts at the end; false where it lacks cases.
bool is_stored(fixtures::Store& store, const Summary& summary, const SweepOptions& options,
               const Context& context) {
  const std::vector<std::string> left_out =
      summary.cases < summary.planned ? store.snapshot() : store.merge();
  if (left_out.empty()) return true;
  context.err << fmt::format(
      "{} lacks {} cases, the first is {}: what was kept of them was changed "
      "by somebody else; the same command runs them again\n",
      conformance::printable(options.files.store), left_out.size(),
      conformance::printable(left_out.front()));
  return false;
}

/// Errors: UsageError for flags that do not go together, or whose values are none.
void require_usable(const SweepOptions& options) {
  if (options.resume && options.files.store.empty())
    throw UsageError("--resume needs --store, the file of the sweep that was interrupted");
  const std::int64_t least = options.exit.require_judged();
  if (!options.shard.empty() && least > 0)
    throw UsageError("--require-judged is about all cases: give it to 'merge', not with --shard");
  if (!options.shard.empty()) shard_value(options.shard);
  const bool ends_early = !options.budget.empty() || options.fail_fast;
  std::error_code apart;
  if (ends_early && !options.last_failed.empty() && !options.files.report.empty() &&
      std::filesystem::equivalent(options.last_failed, options.files.report, apart))
    throw UsageError(
        "--report is the file of --last-failed: failures that --budget or --fail-fast leaves out "
        "would be forgotten; write another one");
  options.files.require_writable({{"--lines", options.lines},
                                  {"--cases", options.plan.cases},
                                  {"--baseline", options.exit.baseline_path}});
}

/// What is run, what the store knows the sweep by, and of which whole sweep it is a part.
struct SweepPlan {
  Order order;
  std::string text;
  std::optional<conformance::Shard> shard;
};

/// Errors: UsageError.
SweepPlan plan_of(const Parts& parts, const SweepOptions& options) {
  SweepPlan plan{.order = order_of(parts), .text = {}, .shard = {}};
  if (options.shard.empty() && options.files.store.empty()) return plan;
  plan.text = plan_text(parts, options.implementation);
  if (options.shard.empty()) return plan;
  conformance::Shard shard = take_shard(plan.order, shard_value(options.shard), parts);
  shard.plan = fixtures::digest(std::as_bytes(std::span(plan.text)));
  shard.policy = policy_value(options.plan);
  shard.shrink = integer_value("--shrink", options.shrink, 0, 1000);
  plan.text += " shard " + options.shard;
  plan.shard = std::move(shard);
  return plan;
}

/// The cases that failed, or were not conclusive, in a report, as a text of lines.
conformance::CaseText failed_lines(const std::string& path, const conformance::Results& results) {
  conformance::CaseText failed{.name = path, .text = {}};
  for (const CaseReport& report : results.cases)
    if (conformance::contribution(report.verdict) != ExitCode::conformant)
      failed.text += report.command_line + '\n';
  return failed;
}

/// Flags for cases that are named instead of planned.
void declare_lines(CLI::App& app, SweepOptions& options) {
  app.add_option("--lines", options.lines,
                 "instead of a plan, the cases of these replay lines: a file, or a folder of .txt");
  app.add_option("--last-failed", options.last_failed,
                 "instead of a plan, the cases that failed in this report.json");
}

/// Errors: UsageError for a flag beside one that names the cases.
void require_one_choice(const CLI::App& app) {
  const char* const all[] = {"--lines",   "--last-failed", "--seed", "--random",
                             "--product", "--cases",       "--full"};
  for (std::size_t named = 0; named < 2; ++named)
    for (std::size_t other = named + 1; other < std::size(all); ++other)
      if (app.count(all[named]) > 0 && app.count(all[other]) > 0)
        throw UsageError(fmt::format("{} names the cases, so that {} has nothing to choose",
                                     all[named], all[other]));
}

/// What failed is judged of the implementation that failed, unless another one is named. A report
/// may come from elsewhere: of what is not registered, a command say, none is run at its word.
/// Errors: UsageError where it is not registered.
void choose_implementation(const conformance::Results& results, SweepOptions& options,
                           const Context& context) {
  std::string& name = options.implementation.name;
  const std::string& failed = results.environment.implementation;
  if (!name.empty() || failed.empty()) return;
  bool is_known = false;
  for_each_operator(
      [&]<class Op> { is_known = is_known || is_registered<Op>(context.registry, failed); });
  if (!is_known)
    throw UsageError(fmt::format(
        "--last-failed is '{}', a report of {}, which is none of this program's implementations: "
        "name one by --implementation",
        options.last_failed, conformance::excerpt(failed)));
  name = failed;
}

/// Settles which cases are meant; false where there are none to run again.
bool choose_lines(const CLI::App& app, SweepOptions& options, const Context& context) {
  require_one_choice(app);
  options.plan.lines = case_texts("--lines", options.lines);
  options.plan.lines_path = options.lines;
  if (options.last_failed.empty()) return true;
  const conformance::Results last = read_results(options.last_failed);
  choose_implementation(last, options, context);
  options.plan.lines = {failed_lines(options.last_failed, last)};
  options.plan.lines_flag = "--last-failed";
  options.plan.lines_path = options.last_failed;
  if (!options.plan.lines.front().text.empty()) return true;
  context.out << "no case of " << conformance::printable(options.last_failed) << " failed\n";
  return false;
}

/// What asks for results finds some, of no case.
void publish_none(const SweepOptions& options, const Context& context) {
  options.files.require_writable();
  conformance::Results none;
  none.environment = environment(options, {}, context);
  none.environment.implementation = none.summary.implementation = options.implementation.name;
  none.summary.ends_with = ExitCode::conformant;
  if (const auto write = sink(options.files.report, context)) write(conformance::to_json(none));
  if (const auto write = sink(options.files.html, context)) write(dashboard_page(none, context));
  if (options.files.junit.empty()) return;
  conformance::JunitListener(sink(options.files.junit, context), context.program)
      .on_end(none.summary);
}

ExitCode sweep(const SweepOptions& options, const Context& context) {
  require_usable(options);
  const std::int64_t shrink = integer_value("--shrink", options.shrink, 0, 1000);
  const Baseline baseline = options.exit.baseline();
  tell_in_process(options.implementation, context.err);
  Deliveries deliveries;
  const Sinks sinks = {
      .report = deliveries.guarded("--report", sink(options.files.report, context)),
      .html = deliveries.guarded("--html", sink(options.files.html, context)),
      .junit = deliveries.guarded("--junit", sink(options.files.junit, context))};
  const std::filesystem::path store_path = options.files.store.empty()
                                               ? std::filesystem::path()
                                               : std::filesystem::absolute(options.files.store);
  stop_on_signals();  // before there are workers, which have temporary files
  const Parts parts = sweep_parts(options.operator_name, context.registry, options.implementation,
                                  options.plan, context.err);
  auto [order, plan, shard] = plan_of(parts, options);

  conformance::ConsoleListener console(context.err,
                                       context.terminal && !context.verbose
                                           ? conformance::Progress::bar
                                           : conformance::Progress::lines,
                                       std::move(order.costs), budget_of(options));
  conformance::JsonListener json(
      is_standard_output(options.files.report) ? conformance::Sink() : sinks.report,
      environment(options, parts, context));
  conformance::JunitListener junit(
      sinks.junit, context.program,
      [&baseline](const CaseReport& report) { return baseline.excuse(report); });
  SlowCaseTeller slow;
  std::vector<conformance::SweepListener*> listeners = {&slow, &console};
  conformance::SweepControl control{.stop = &context.stop};
  if (options.fail_fast)
    control.ends_behind = [&baseline](const CaseReport& report) {
      return conformance::contribution(report.verdict) == ExitCode::nonconformant &&
             baseline.excuse(report).empty();
    };
  if (!options.budget.empty()) control.budget_seconds = budget_of(options);

  std::optional<fixtures::Store> store;
  std::optional<GuardedStore> storing;
  std::map<std::string, CaseReport> earlier;
  if (!options.files.store.empty()) {
    store.emplace(own_store(options, store_path, plan, context));
    earlier = taken_up(*store);
    if (!earlier.empty())
      context.err << fmt::format("taking up {} finished cases of an interrupted sweep\n",
                                 earlier.size());
    control.finished = [&earlier](const std::string& id) {
      const auto found = earlier.find(id);
      return found == earlier.end() ? nullptr : &found->second;
    };
    for (const auto& part : parts) part->keep_digests();
    const auto record = [&parts](const CaseReport& report) {
      return part_of(parts, report).record(report);
    };
    listeners.push_back(&storing.emplace(*store, record, deliveries, context.err));
  }
  CaseTeller teller(context.err);
  if (context.verbose) listeners.push_back(&teller);
  listeners.push_back(&json);
  if (!options.files.junit.empty()) listeners.push_back(&junit);

  conformance::Sweep run(listeners, control);
  for (const auto& part : parts) part->append_coverage(run.summary());
  print_fresh_seed(options.plan.fresh_seed, options.fresh, context.err);
  run.start(std::ssize(order.turns), implementations(parts));
  run_cases(
      parts, order.turns, run, [&earlier](const std::string& id) { return earlier.contains(id); },
      options.implementation.in_process, slow, context);
  const Summary& summary = run.finish();
  conformance::Results results = json.results();
  const double shrink_seconds =
      options.budget.empty()
          ? most_shrink_seconds
          : std::clamp(budget_of(options), least_shrink_seconds, most_shrink_seconds);
  results.shrunk = shrunk_failures(results.cases, shrink, shrink_seconds, parts, context);
  results.shard = std::move(shard);
  const Conclusion end = conclude(results, options, baseline);
  results.summary.ends_with = end.code;
  publish(results, options, sinks, deliveries, context);
  // Last: after a kill before this line the next start takes everything up. What a stop or a budget
  // left out is taken up as well.
  bool stored = true;
  if (store && !deliveries.has_failed("--store"))
    deliveries.attempt("--store", [&] {
      if (results.shard) store->describe(description(results, *store));
      stored = is_stored(*store, summary, options, context);
    });
  context.err << end.warning;
  const ExitCode code = deliveries.conclude(
      stored || end.code != ExitCode::conformant ? end.code : ExitCode::not_conclusive,
      context.err);
  beside(options.files.texts(), context).out << end.words << conclusion(results, code) << '\n';
  if (code == end.code) return code;
  results.summary.ends_with = code;
  if (sinks.report && !deliveries.has_failed("--report") &&
      !is_standard_output(options.files.report))
    sinks.report(conformance::to_json(results));
  return code;
}

}  // namespace

Command sweep_command() {
  return {.name = "sweep",
          .summary = "judge an implementation on many cases: the main job",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            const auto options = std::make_shared<SweepOptions>();
            app.add_option("operator", options->operator_name,
                           "one operator, see 'list operators'; by default all");
            options->implementation.declare(app);
            options->plan.declare(app);
            app.add_option(
                "--budget", options->budget,
                "do not start new cases after this time, e.g. 60s, 5min; shrinking then takes "
                "as long at most, or 10 s if that is more, and never more than 40 s");
            app.add_option("--shrink", options->shrink,
                           "how many faults are reduced to their smallest neighbour [3]");
            options->exit.declare(app);
            declare_fresh(app, options->fresh);
            app.add_option("--shard", options->shard,
                           "only part i of n, e.g. 1/3; 'merge' joins the parts");
            options->files.declare(
                app, "HDF5 file of the cases; an interrupted sweep is taken up from it");
            app.add_flag("--resume", options->resume,
                         "refuse to start anew: go on with the sweep that --store has begun");
            app.add_flag("--fail-fast", options->fail_fast, "end behind the first failing case");
            declare_lines(app, *options);
            return [options, &app](const Context& context) {
              options->asked = asked_line(app);
              if (choose_lines(app, *options, context)) {
                choose_data(
                    {.fresh = options->fresh,
                     .store = options->files.store,
                     .shard = options->shard,
                     .has_fixed_cases = app.count("--seed") > 0 || !options->plan.lines.empty() ||
                                        !options->exit.baseline_path.empty()},
                    options->implementation, options->plan, options->asked, context);
                return sweep(*options, context);
              }
              publish_none(*options, context);
              return ExitCode::conformant;
            };
          }};
}

}  // namespace assay::cli
