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
#include "commands/commands.hpp"
#include "commands/result_files.hpp"
#include "dashboard.hpp"
#include "flags/destinations.hpp"
#include "printing/case_printer.hpp"
#include "printing/conclusion.hpp"
#include "printing/print_case.hpp"
#include "signals.hpp"
#include "stored/read_results.hpp"
#include "sweeping/asked_line.hpp"
#include "sweeping/environment.hpp"
#include "sweeping/fresh_seed.hpp"
#include "sweeping/guarded_store.hpp"
#include "sweeping/pair_part.hpp"
#include "sweeping/run_cases.hpp"
#include "sweeping/sweep_order.hpp"
#include "sweeping/sweep_part.hpp"
#include "sweeping/sweep_store.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;
using conformance::Summary;

/// The report that --last-failed names: the sweep runs its failing cases again.
struct LastReport {
  std::string path;
  conformance::Results results;
};

struct SweepOptions {
  std::string operator_name, forward;
  std::optional<double> budget;  ///< seconds; no case starts after this time
  std::optional<ShardValue> shard;
  std::int64_t shrink = 3;  ///< number of different faults to shrink
  ImplementationFlags implementation;
  PlanFlags plan;
  ResultFiles files;
  ExitFlags exit;
  std::optional<LastReport> last;
  FreshFlag fresh;
  bool resume = false, fail_fast = false;
  std::string asked;  ///< the command line without result files, see asked_line()
};

/// Limits of the total time in which a sweep searches for smaller failing cases (seconds). The
/// search may take as long as the time budget of the sweep, clamped to these limits. Without a
/// budget, the upper limit applies.
constexpr double least_shrink_seconds = 10, most_shrink_seconds = 40;

SweepPart& part_of(const Parts& parts, const CaseReport& report) {
  return **std::ranges::find(parts, report.operator_name,
                             [](const auto& part) { return part->operator_name(); });
}

/// For the first failing case of each different fault, at most `wanted` cases, finds the smallest
/// case that fails in the same way. Returns both cases.
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
    if (result.empty())
      context.err << fmt::format("shrinking the first failures, for at most {:.3g} s\n", seconds)
                  << std::flush;
    const double spent =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto left = static_cast<double>(wanted - std::ssize(result));
    result.push_back(part_of(parts, *report)
                         .shrink(*report, conformance::others_of_cause(reports, causes, *report),
                                 {.seconds = (seconds - spent) / left, .stop = &context.stop}));
  }
  return result;
}

/// The reason why a sweep ended (all cases finished, a stop, or the time budget), as an exit code
/// and texts. The sweep determines it before it prints the last lines, because the report contains
/// the exit code.
struct Conclusion {
  ExitCode code = ExitCode::conformant;
  std::string words, warning;  ///< texts for standard output and standard error
};

Conclusion conclude(const conformance::Results& results, const SweepOptions& options) {
  const Summary& summary = results.summary;
  if (summary.interrupted)
    return {ExitCode::not_conclusive, "",
            fmt::format("stopped after {} of {} cases; {}\n", summary.cases, summary.planned,
                        options.files.store.empty() ? "without --store the sweep cannot be resumed"
                                                    : "run the same command again to resume it")};
  std::ostringstream words;
  const ExitCode code = options.exit.code_of(results, words);
  const bool failed = options.fail_fast && code == ExitCode::nonconformant;
  if (summary.cases < summary.planned)
    words << fmt::format(
        "{}: {} of {} cases were not run{}\n",
        failed ? "stopped after the first failure"
               : fmt::format("budget of {} s spent", options.budget.value_or(0)),
        summary.planned - summary.cases, summary.planned,
        options.files.store.empty() || failed ? "" : "; run the same command again to resume it");
  return {code, words.str(), ""};
}

/// Functions that write the result files. Each stores the absolute path of its file, because a
/// kernel may change the current folder.
struct Sinks {
  conformance::Sink report, html, junit;
};

/// Checks the flags. Errors: UsageError for flags that exclude each other, and for invalid values.
void require_usable(const SweepOptions& options) {
  if (options.resume && options.files.store.empty())
    throw UsageError("--resume needs --store with the file of the interrupted sweep");
  if (options.shard && options.exit.least > 0)
    throw UsageError("--require-judged counts all cases: pass it to 'merge', not with --shard");
  const bool ends_early = options.budget || options.fail_fast;
  std::error_code apart;
  if (ends_early && options.last && !options.files.report.empty() &&
      std::filesystem::equivalent(options.last->path, options.files.report, apart))
    throw UsageError(
        "--report is the file of --last-failed: failures that --budget or --fail-fast skips "
        "would be lost; name another file for --report");
  // The report that --last-failed reads is not in this list, because --report may replace it.
  const bool has_lines = options.plan.lines.flag == "--lines";
  options.files.require_writable({{"--lines", has_lines ? options.plan.lines.path : ""},
                                  {"--cases", options.plan.cases.path},
                                  {"--baseline", options.exit.baseline.path()}});
}

/// The cases to run, the text that identifies the sweep in its case file, and (if only a part of
/// the sweep runs) the part.
struct SweepPlan {
  Order order;
  std::string text;
  std::optional<conformance::Shard> shard;
};

/// Errors: UsageError.
SweepPlan plan_of(const Parts& parts, const SweepOptions& options) {
  SweepPlan plan{.order = order_of(parts), .text = {}, .shard = {}};
  if (!options.shard && options.files.store.empty()) return plan;
  plan.text = plan_text(parts, options.implementation) + fingerprint(options.forward);
  if (!options.shard) return plan;
  conformance::Shard shard = take_shard(plan.order, *options.shard, parts);
  shard.plan = fixtures::digest(std::as_bytes(std::span(plan.text)));
  shard.policy = options.plan.policy;
  shard.shrink = options.shrink;
  plan.text += " shard " + options.shard->text();
  plan.shard = std::move(shard);
  return plan;
}

/// Returns the replay lines of those cases in a report that failed or were not conclusive.
conformance::CaseText failed_lines(const LastReport& last) {
  conformance::CaseText failed{.name = last.path, .text = {}};
  for (const CaseReport& report : last.results.cases)
    if (conformance::contribution(report.verdict) != ExitCode::conformant)
      failed.text += report.command_line + '\n';
  return failed;
}

/// Declares the flags that name the cases to run instead of planning them.
void declare_lines(CLI::App& app, SweepOptions& options) {
  add_case_files(
      app, "--lines", options.plan.lines,
      "instead of a plan, the cases of these replay lines: a file, or a folder of .txt files");
  const auto read_last = [](const std::string& path) {
    return LastReport{.path = path, .results = read_results(path)};
  };
  add_value(app, "--last-failed", options.last, read_last,
            "instead of a plan, the cases that failed in this report.json");
}

/// Checks that only one flag selects the cases. Errors: UsageError if the command line combines
/// --lines or --last-failed with another such flag.
void require_one_choice(const CLI::App& app) {
  const char* const all[] = {"--lines",   "--last-failed", "--seed", "--random",
                             "--product", "--cases",       "--full"};
  for (std::size_t named = 0; named < 2; ++named)
    for (std::size_t other = named + 1; other < std::size(all); ++other)
      if (app.count(all[named]) > 0 && app.count(all[other]) > 0)
        throw UsageError(
            fmt::format("{} already names the cases, so {} has no effect", all[named], all[other]));
}

/// If the user names no implementation, selects the one that failed in the earlier report. The
/// report may come from another person. Therefore only implementations that are registered in this
/// program are accepted, and a command in the report is never executed. Errors: UsageError if the
/// implementation is not registered.
void choose_implementation(SweepOptions& options, const Context& context) {
  std::string& name = options.implementation.name;
  const std::string& failed = options.last->results.environment.implementation;
  if (!name.empty() || failed.empty()) return;
  bool is_known = false;
  for_each_operator(
      [&]<class Op> { is_known = is_known || is_registered<Op>(context.registry, failed); });
  if (!is_known)
    throw UsageError(fmt::format(
        "--last-failed is '{}', a report of {}, which is not an implementation of this program: "
        "name one with --implementation",
        options.last->path, conformance::excerpt(failed)));
  name = failed;
}

/// Selects the cases to run. Returns false if no case of the earlier report failed.
bool choose_lines(const CLI::App& app, SweepOptions& options, const Context& context) {
  require_one_choice(app);
  if (!options.last) return true;
  choose_implementation(options, context);
  options.plan.lines = {
      .flag = "--last-failed", .path = options.last->path, .texts = {failed_lines(*options.last)}};
  if (!options.plan.lines.texts.front().text.empty()) return true;
  context.out << "no case of " << conformance::printable(options.last->path) << " failed\n";
  return false;
}

/// Writes result files without cases, so that programs that expect these files find them.
void publish_none(const SweepOptions& options, const Context& context) {
  options.files.require_writable();
  conformance::Results none;
  none.environment = environment_of({}, options.asked, options.plan, context);
  none.environment.implementation = none.summary.implementation = options.implementation.name;
  none.summary.ends_with = ExitCode::conformant;
  if (const auto write = sink(options.files.report, context)) write(conformance::to_json(none));
  if (const auto write = sink(options.files.html, context)) write(dashboard_page(none, context));
  if (options.files.junit.empty()) return;
  conformance::JunitListener(sink(options.files.junit, context), context.program)
      .on_end(none.summary);
}

/// The steps of a sweep, in the order in which they are called.
class SweepSteps {
 public:
  /// Selects the cases to run, and opens the result files. Errors: UsageError.
  SweepSteps(const SweepOptions& options, const Context& context);

  /// Opens the case file and reads the cases that an earlier run finished. Errors: UsageError.
  void open_store();
  /// Judges the cases.
  void judge();
  /// Finds smaller cases for the first failing ones, and determines how the sweep ended.
  void conclude_results();
  /// Prints the results. Also writes those files that can be written only after the last case.
  void write();
  /// Writes the state from which a later run can resume the sweep, and prints how the sweep ended.
  ExitCode end();

 private:
  Sinks opened_sinks();
  conformance::SweepControl control() const;
  std::vector<conformance::SweepListener*> listeners();

  const SweepOptions& options_;
  const Context& context_;
  Deliveries deliveries_;
  Sinks sinks_;
  std::filesystem::path store_path_;  ///< absolute: a kernel may change the current folder
  Parts parts_;
  SweepPlan plan_;
  std::optional<fixtures::Store> store_;
  std::map<std::string, CaseReport> earlier_;  ///< cases that an earlier run finished
  // Listeners:
  SlowCasePrinter slow_;
  std::optional<conformance::ConsoleListener> console_;
  std::optional<GuardedStore> storing_;
  CasePrinter printer_;
  std::optional<conformance::JsonListener> json_;
  std::optional<conformance::JunitListener> junit_;

  conformance::Results results_;
  Conclusion conclusion_;
};

SweepSteps::SweepSteps(const SweepOptions& options, const Context& context)
    : options_(options), context_(context), sinks_(opened_sinks()), printer_(context.err) {
  tell_in_process(options.implementation, context.err);
  if (!options.files.store.empty()) store_path_ = std::filesystem::absolute(options.files.store);
  stop_on_signals();  // before worker processes start, which have temporary files
  parts_ = options.forward.empty()
               ? sweep_parts(options.operator_name, context.registry, options.implementation,
                             options.plan, context.err)
               : pair_parts(options.operator_name, context.registry, options.implementation,
                            options.forward, options.plan, context.err);
  plan_ = plan_of(parts_, options);
}

Sinks SweepSteps::opened_sinks() {
  const auto guarded = [&](const char* flag, const std::string& path) {
    return deliveries_.guarded(flag, sink(path, context_));
  };
  return {.report = guarded("--report", options_.files.report),
          .html = guarded("--html", options_.files.html),
          .junit = guarded("--junit", options_.files.junit)};
}

void SweepSteps::open_store() {
  if (options_.files.store.empty()) return;
  store_.emplace(
      own_store({.name = options_.files.store, .path = store_path_, .must_exist = options_.resume},
                plan_.text, context_));
  earlier_ = taken_up(*store_);
  if (!earlier_.empty())
    context_.err << fmt::format("resuming an interrupted sweep: {} cases are finished\n",
                                earlier_.size());
  for (const auto& part : parts_) part->keep_digests();
  const auto record = [this](const CaseReport& report) {
    return part_of(parts_, report).record(report);
  };
  storing_.emplace(*store_, record, deliveries_, context_.err);
}

conformance::SweepControl SweepSteps::control() const {
  conformance::SweepControl control{.stop = &context_.stop};
  if (options_.fail_fast)
    control.ends_after = [this](const CaseReport& report) {
      return conformance::contribution(report.verdict) == ExitCode::nonconformant &&
             options_.exit.baseline.excuse(report).empty();
    };
  if (options_.budget) control.budget_seconds = *options_.budget;
  if (store_)
    control.finished = [this](const std::string& id) {
      const auto found = earlier_.find(id);
      return found == earlier_.end() ? nullptr : &found->second;
    };
  return control;
}

std::vector<conformance::SweepListener*> SweepSteps::listeners() {
  const bool has_bar = context_.terminal && !context_.verbose;
  console_.emplace(context_.err,
                   has_bar ? conformance::Progress::bar : conformance::Progress::lines,
                   std::move(plan_.order.costs), options_.budget.value_or(0));
  json_.emplace(is_standard_output(options_.files.report) ? conformance::Sink() : sinks_.report,
                environment_of(parts_, options_.asked, options_.plan, context_));
  junit_.emplace(sinks_.junit, context_.program, [this](const CaseReport& report) {
    return options_.exit.baseline.excuse(report);
  });
  std::vector<conformance::SweepListener*> all = {&slow_, &*console_};
  if (storing_) all.push_back(&*storing_);
  if (context_.verbose) all.push_back(&printer_);
  all.push_back(&*json_);
  if (!options_.files.junit.empty()) all.push_back(&*junit_);
  return all;
}

void SweepSteps::judge() {
  conformance::Sweep run(listeners(), control());
  for (const auto& part : parts_) part->append_coverage(run.summary());
  print_fresh_seed(options_.plan.fresh_seed, options_.fresh, context_.err);
  run.start(std::ssize(plan_.order.turns), implementations(parts_));
  run_cases(
      parts_, plan_.order.turns, run,
      [this](const std::string& id) { return earlier_.contains(id); },
      options_.implementation.in_process, slow_, context_);
  run.finish();
}

void SweepSteps::conclude_results() {
  results_ = json_->results();
  const double seconds = std::clamp(options_.budget.value_or(most_shrink_seconds),
                                    least_shrink_seconds, most_shrink_seconds);
  results_.shrunk = shrunk_failures(results_.cases, options_.shrink, seconds, parts_, context_);
  results_.shard = std::move(plan_.shard);
  conclusion_ = conclude(results_, options_);
  results_.summary.ends_with = conclusion_.code;
}

void SweepSteps::write() {
  const Context output = context_for(options_.files.texts(), context_);
  print_results(results_, context_.typed, detail_of(context_), output.out);
  // A report on standard output is written only here, when it is final: it could not be replaced
  // later.
  const bool says_more = !results_.shrunk.empty() || results_.shard ||
                         results_.summary.ends_with != results_.summary.exit_code();
  if (sinks_.report && (says_more || is_standard_output(options_.files.report)))
    sinks_.report(conformance::to_json(results_));
  if (sinks_.html) sinks_.html(dashboard_page(results_, context_));
  output.out << '\n';
  options_.files.print(output.out, deliveries_);
}

ExitCode SweepSteps::end() {
  // Marks the file as complete. This step is the last one: if the process is killed earlier, the
  // next run resumes with all finished cases. If a stop or the time budget skipped cases, the next
  // run also runs these cases.
  bool stored = true;
  if (store_ && !deliveries_.has_failed("--store"))
    deliveries_.attempt("--store", [&] {
      if (results_.shard) store_->describe(description(results_, *store_));
      stored = is_stored(*store_, results_.summary, options_.files.store, context_);
    });
  context_.err << conclusion_.warning;
  const bool lacks_cases = !stored && conclusion_.code == ExitCode::conformant;
  const ExitCode code =
      deliveries_.conclude(lacks_cases ? ExitCode::not_conclusive : conclusion_.code, context_.err);
  context_for(options_.files.texts(), context_).out << conclusion_.words
                                                    << conclusion(results_, code) << '\n';
  if (code == conclusion_.code) return code;
  results_.summary.ends_with = code;
  if (sinks_.report && !deliveries_.has_failed("--report") &&
      !is_standard_output(options_.files.report))
    sinks_.report(conformance::to_json(results_));
  return code;
}

ExitCode sweep(const SweepOptions& options, const Context& context) {
  require_usable(options);
  SweepSteps steps(options, context);
  steps.open_store();
  steps.judge();
  steps.conclude_results();
  steps.write();
  return steps.end();
}

}  // namespace

Command sweep_command() {
  return {.name = "sweep",
          .summary = "judge an implementation on many cases: the main command",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            const auto options = std::make_shared<SweepOptions>();
            app.add_option("operator", options->operator_name,
                           "one operator, see 'list operators' [all]");
            options->implementation.declare(app);
            app.add_option("--forward", options->forward,
                           "for gradients: also judge this implementation of the forward; the "
                           "gradient reads the values that the forward saves")
                ->transform(with_absolute_paths);
            options->plan.declare(app);
            add_seconds(
                app, "--budget", options->budget,
                "do not start new cases after this time, e.g. 60s, 5min; the limit for shrinking "
                "is the same time, but not less than 10 s and not more than 40 s");
            add_integer(app, "--shrink", options->shrink, 0, 1000,
                        "number of faults whose smallest failing case is searched [3]");
            options->exit.declare(app);
            declare_fresh(app, options->fresh);
            add_value(app, "--shard", options->shard, shard_value,
                      "run only part i of n, e.g. 1/3; 'merge' joins the parts");
            options->files.declare(app,
                                   "HDF5 file in which to store the finished cases; the same "
                                   "command resumes an interrupted sweep from it");
            app.add_flag("--resume", options->resume,
                         "resume the sweep in --store; fail if it contains no interrupted sweep");
            app.add_flag("--fail-fast", options->fail_fast, "stop after the first failure");
            declare_lines(app, *options);
            return [options, &app](const Context& context) {
              options->asked = asked_line(app);
              if (choose_lines(app, *options, context)) {
                choose_data(
                    {.fresh = options->fresh,
                     .needs_agreement = !options->files.store.empty() || options->shard,
                     .has_fixed_cases = app.count("--seed") > 0 || !options->plan.lines.empty() ||
                                        !options->exit.baseline.path().empty()},
                    options->implementation, options->plan, options->asked, context);
                return sweep(*options, context);
              }
              publish_none(*options, context);
              return ExitCode::conformant;
            };
          }};
}

}  // namespace assay::cli
