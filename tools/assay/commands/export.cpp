#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "assay/conformance/judge/exact.hpp"
#include "assay/conformance/report/record.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/fixtures/file.hpp"
#include "commands/commands.hpp"
#include "commands/export_size.hpp"
#include "flags/case_flags.hpp"
#include "flags/choose.hpp"
#include "flags/destinations.hpp"
#include "flags/numerics.hpp"
#include "flags/plan_flags.hpp"
#include "printing/waiting.hpp"
#include "signals.hpp"
#include "stored/recorder.hpp"
#include "stored/stored_case.hpp"

namespace assay::cli {
namespace {

constexpr std::int64_t unlimited = std::int64_t{1} << 40;

struct ExportOptions {
  std::string file, implementation;
  CaseFiles lines;
  DeclaredNumerics numerics{"ascend_a2"};
  std::optional<std::int64_t> largest;  ///< largest number of elements of a case
  bool recipe_only = false;
  bool is_golden = false;  ///< print how the references were computed; fail if one is uncertain
  PlanFlags plan;

  /// The largest number of elements of an exported case. By default only files with tensors have a
  /// limit; files of recipes (cases without tensors) have none.
  std::int64_t limit() const { return largest.value_or(recipe_only ? unlimited : 1'048'576); }
  Contents contents() const { return recipe_only ? Contents::recipe : Contents::tensors; }
};

/// The exported cases of one operator, and how many cases were left out for each reason.
template <class Op>
struct Chosen {
  std::vector<conformance::Case<Op>> cases;
  std::int64_t large = 0, calls = 0, relations = 0, only = 0;
};

/// The number of written cases, and how their references were computed: for each method, the number
/// of elements that it computed.
struct Golden {
  std::int64_t cases = 0, repeated = 0;
  conformance::Certainty certainty;
};

struct Written {
  std::int64_t cases = 0, large = 0, calls = 0, relations = 0, only = 0;
};

template <class Op>
Chosen<Op> chosen_cases(const ExportOptions& options) {
  Chosen<Op> chosen;
  Planned<Op> planned = planned_cases<Op>(options.plan);
  chosen.only = planned.left_out;
  for (auto& c : planned.cases) {
    if (without_tensors(c))
      ++(c.track == conformance::Track::arguments ? chosen.calls : chosen.relations);
    else if (conformance::Suite<Op>::tensor_elements(c.problem) > options.limit())
      ++chosen.large;
    else
      chosen.cases.push_back(std::move(c));
  }
  return chosen;
}

/// The action if Assay finds no inputs with exactly known results for a case: leave out the case,
/// store only its recipe (a description without tensors), or refuse the export.
enum class Inexact { left_out, recipe, refused };

/// Returns the record to store for a case; nothing if the case is left out. Errors: UsageError if
/// `inexact` refuses cases without inputs that have exactly known results.
template <class Op>
std::optional<fixtures::CaseRecord> record_of(const ExportOptions& options,
                                              const conformance::Case<Op>& c,
                                              const Recorder<Op>* implementation, Inexact inexact,
                                              conformance::Certainty& certainty) {
  try {
    return stored_case(c,
                       implementation ? implementation->numerics(c.problem)
                                      : options.numerics.of<Op>(c.problem.dtype),
                       implementation ? implementation->name() : options.numerics.text(),
                       options.contents(), &certainty);
  } catch (const conformance::NoExactCase& reason) {
    if (inexact == Inexact::left_out) return std::nullopt;
    if (inexact == Inexact::recipe) return conformance::recipe(c);
    throw UsageError(fmt::format("'{}': no exact inputs for the numerics: {}",
                                 conformance::command_line(c), reason.what()));
  }
}

/// Prints the progress. On a terminal it overwrites one line; otherwise it prints a new line every
/// few seconds.
class Progress {
 public:
  Progress(const Context& context, std::int64_t cases) : context_(context), cases_(cases) {
    first_.emplace(context, Task{.what = "export", .cases = cases});
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (context_.terminal && shown_) context_.err << '\n';
  }

  void next() {
    first_.reset();
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> passed = now - start_;
    ++done_;
    const auto left = static_cast<double>(cases_ - done_);
    const std::string text = fmt::format(
        "{} of {} cases{}", done_, cases_,
        passed.count() < least_seconds || left == 0
            ? std::string()
            : fmt::format(", about {} left",
                          duration_text(passed.count() / static_cast<double>(done_) * left)));
    if (context_.terminal)
      context_.err << '\r' << text << "\x1b[K" << std::flush;
    else if (!shown_ || now - *shown_ >= interval)
      context_.err << text << '\n' << std::flush;
    else
      return;
    shown_ = now;
  }

 private:
  static constexpr std::chrono::seconds interval{10};
  static constexpr double least_seconds = 2;  ///< seconds before the time left is estimated
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const Context& context_;
  std::int64_t cases_, done_ = 0;
  std::optional<std::chrono::steady_clock::time_point> shown_;
  std::optional<Waiting> first_;  ///< shown until the first case is done
};

std::string size_text(std::int64_t bytes) {
  const auto size = static_cast<double>(bytes);
  return bytes >= 1'000'000'000 ? fmt::format("{:.1f} GB", size / 1e9)
                                : fmt::format("{:.1f} MB", size / 1e6);
}

/// Prints the estimated file size before the first case is written: the export may take long, and
/// the disk may be too small.
void print_size(std::int64_t cases, const ExportSize& size, std::ostream& out) {
  out << fmt::format("{}, about {}\n", conformance::counted(cases, "case"), size_text(size.bytes()))
      << std::flush;
}

/// Calls `make` and returns its result. If `make` throws, adds the command line of the case to the
/// error.
template <class Op, class Make>
auto named(const conformance::Case<Op>& c, const Make& make) {
  try {
    return make();
  } catch (const std::logic_error& failure) {
    throw std::logic_error(fmt::format("{}: {}", conformance::command_line(c), failure.what()));
  }
}

/// Writes the cases, with the outputs of the selected implementation if there is one. Counts in
/// `golden` how the references were computed.
template <class Op>
void write_cases(const ExportOptions& options, const std::vector<conformance::Case<Op>>& cases,
                 fixtures::Writer& writer, Inexact inexact, const Context& context, Golden& golden,
                 Progress& progress) {
  std::unique_ptr<spec::Implementation<Op>> own;
  std::optional<Recorder<Op>> implementation;
  if (const ImplementationFlags flags{.name = options.implementation, .threads = {}};
      !flags.name.empty()) {
    own = make_implementation<Op>(context.registry, flags);
    implementation.emplace(*own, flags.name);
  }
  std::set<std::string> lines;
  for (auto c : cases) {
    if (context.stop) throw Stopped(options.file);
    // Use the memory order that the kernel declares for inputs about which the documentation
    // contradicts itself. This can make two cases of the plan equal.
    c.problem = conformance::Suite<Op>::as_declared(c.problem, c.entry_point,
                                                    implementation
                                                        ? implementation->numerics(c.problem)
                                                        : options.numerics.of<Op>(c.problem.dtype));
    if (!lines.insert(conformance::command_line(c)).second) {
      ++golden.repeated;
      continue;
    }
    auto record = named(c, [&] {
      return record_of(options, c, implementation ? &*implementation : nullptr, inexact,
                       golden.certainty);
    });
    progress.next();
    if (!record) continue;
    const bool has_inputs = !record->digests.empty();
    if (implementation && has_inputs && !implementation->unsupported(conformance::call_of(c))) try {
        add_actual(*record, c, *implementation);
      } catch (const std::exception& failure) {
        context.err << fmt::format("{} produced no output for {}: {}\n",
                                   conformance::excerpt(implementation->name()), record->command,
                                   conformance::excerpt(failure.what()));
      }
    writer.write(*record);
    ++golden.cases;
  }
}

/// Prints the last line of the command, for example "cases.h5 contains 3 cases, with inputs and
/// expected values."
void print_written(const ExportOptions& options, std::int64_t cases, const std::string& certified,
                   std::ostream& out) {
  out << fmt::format(
      "{} contains {}, {}{}.\n", conformance::printable(options.file),
      conformance::counted(cases, "case"),
      options.recipe_only ? "as recipes without tensors" : "with inputs and expected values",
      certified);
}

/// Prints the last line of the command. For a golden file (all references certified), first prints
/// how the references were computed.
ExitCode conclude(const ExportOptions& options, std::int64_t cases, const Golden& golden,
                  std::ostream& out) {
  if (!options.is_golden) {
    print_written(options, cases, "", out);
    return ExitCode::conformant;
  }
  const conformance::Certainty& c = golden.certainty;
  out << fmt::format(
      "{} elements, {} of them certified: {} exact, {} within their radius in double, {} by the "
      "definition in double-double, {} in 75 digits, {} on ties, where both neighbours are "
      "accepted; not certified: {} with a known radius, {} without\nlargest radius: {:.2g} tau\n",
      c.elements(), c.certified(), c.exact, c.by_radius, c.by_double_double, c.by_definition,
      c.ties, c.enclosed, c.open, c.largest_radius);
  const bool is_certified = c.certified() == c.elements();
  print_written(options, cases,
                is_certified ? "; all of them are certified"
                             : fmt::format("; {} of {} are not certified",
                                           c.elements() - c.certified(), c.elements()),
                out);
  return is_certified ? ExitCode::conformant : ExitCode::not_conclusive;
}

ExitCode export_plan(const ExportOptions& options, const Context& context) {
  Written sum;
  ExportSize size(options.contents(), !options.implementation.empty());
  Golden golden;
  std::vector<std::function<void(fixtures::Writer&, Progress&)>> parts;
  for_each_operator([&]<class Op> {
    if (!options.implementation.empty() &&
        !is_registered<Op>(context.registry, options.implementation) &&
        !is_foreign<Op>(context.registry, options.implementation))
      return;
    auto chosen = std::make_shared<Chosen<Op>>(chosen_cases<Op>(options));
    sum.cases += std::ssize(chosen->cases), sum.large += chosen->large, sum.calls += chosen->calls;
    sum.relations += chosen->relations, sum.only += chosen->only;
    for (const auto& c : chosen->cases) size.add(c);
    parts.push_back([&, chosen](fixtures::Writer& writer, Progress& progress) {
      write_cases<Op>(options, chosen->cases, writer, Inexact::left_out, context, golden, progress);
    });
  });
  if (parts.empty())
    throw unknown_implementation(context.registry, {.name = options.implementation});
  const std::int64_t planned = sum.cases + sum.large + sum.calls + sum.relations;
  require_cases(planned, sum.only, options.plan);
  tell_left_out(planned, sum.only, options.plan, context.err);
  if (sum.cases == 0)
    throw UsageError(fmt::format(
        "nothing to export: {} cases check arguments, {} compare runs, {} are larger than "
        "--largest={}",
        sum.calls, sum.relations, sum.large, options.limit()));
  print_size(sum.cases, size, context.err);
  fixtures::Writer writer(options.file);
  {
    Progress progress(context, sum.cases);
    for (const auto& write : parts) write(writer, progress);
  }
  writer.close();
  const std::int64_t limit = options.limit();
  context.out << fmt::format(
      "left out: {} cases that check only arguments, {} that compare several runs, {} {}, {} "
      "without exact inputs for the numerics{}\n",
      sum.calls, sum.relations, sum.large,
      limit == unlimited ? "as too large" : fmt::format("larger than --largest={}", limit),
      sum.cases - golden.cases - golden.repeated,
      golden.repeated == 0 ? ""
                           : fmt::format(", {} that are equal to another case, because the "
                                         "numerics declare one memory order of the statistics",
                                         golden.repeated));
  return conclude(options, golden.cases, golden, context.out);
}

template <class Op>
ExitCode export_one(const ExportOptions& options, const conformance::Case<Op>& c,
                    const Context& context) {
  if (const auto reason = without_tensors(c)) throw UsageError(*reason);
  fixtures::Writer writer(options.file);
  Golden golden;
  {
    Progress progress(context, 1);
    write_cases<Op>(options, std::vector{c}, writer, Inexact::refused, context, golden, progress);
  }
  writer.close();
  return conclude(options, golden.cases, golden, context.out);
}

/// Parses a replay line into a case. Errors: UsageError that names the line if it is invalid or if
/// its case has no tensors.
template <class Op>
conformance::Case<Op> case_with_tensors(const conformance::CaseLine& line) {
  try {
    auto c = conformance::case_of<Op>(line);
    if (const auto reason = without_tensors(c)) throw UsageError(line.place + ": " + *reason);
    return c;
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

/// Writes the cases that the replay lines describe. If several lines describe the same case, the
/// file contains it once.
ExitCode export_lines(const ExportOptions& options, const Context& context) {
  std::vector<conformance::CaseLine> lines;
  for (const conformance::CaseText& text : options.lines.texts)
    std::ranges::move(conformance::case_lines(text), std::back_inserter(lines));
  fixtures::Writer writer(options.file);
  std::set<std::string> stored;
  Golden golden;
  {
    Progress progress(context, std::ssize(lines));
    for (const conformance::CaseLine& line : lines)
      with_operators(line.words.front(), [&]<class Op> {
        const auto c = case_with_tensors<Op>(line);
        if (stored.insert(conformance::command_line(c)).second)
          write_cases<Op>(options, {c}, writer, Inexact::recipe, context, golden, progress);
        else
          progress.next();
      });
  }
  writer.close();
  return conclude(options, std::ssize(stored), golden, context.out);
}

/// Checks that no flag selects cases from a plan, because the flag `named` already names the cases
/// to export. Errors: UsageError.
void require_no_plan(const CLI::App& app, std::string_view named) {
  for (const char* flag : {"--only", "--largest", "--seed", "--random", "--product", "--upstream",
                           "--documents", "--cases", "--full"})
    if (app.count(flag) > 0)
      throw UsageError(
          fmt::format("{} selects cases of a plan, but {}; use only one of the two", flag, named));
}

Action declare(CLI::App& app, bool is_golden) {
  const auto options = std::make_shared<ExportOptions>();
  options->is_golden = is_golden;
  app.add_option("file", options->file, "HDF5 file to write")->required();
  add_case_files(app, "--lines", options->lines,
                 "instead of a plan: text file with the replay lines of the cases, one per line, "
                 "or a folder of .txt files; for a case without exact inputs for the numerics, "
                 "only the recipe (replay line and digests) is stored");
  if (!is_golden)
    app.add_flag("--recipe-only", options->recipe_only, "replay lines and digests, no tensors");
  CLI::Option* const numerics = add_numerics(
      app, options->numerics,
      "numerics whose tolerances are stored: a preset of 'list presets', or PRESET,field=value");
  if (!is_golden)
    app.add_option("--implementation", options->implementation,
                   "also store the outputs of this implementation, with the numerics that it "
                   "declares")
        ->excludes(numerics);
  add_integer(
      app, "--largest", options->largest, 1, unlimited,
      std::string("largest number of elements of query and key in a case; default 1048576") +
          (is_golden ? "" : ", no limit with --recipe-only"));
  options->plan.declare(app);
  std::vector<std::pair<std::string, Action>> actions;
  for_each_operator([&]<class Op> {
    CLI::App& sub = *app.add_subcommand(std::string(Op::name),
                                        "one case of this operator, from its replay line");
    const auto fields = std::make_shared<CaseFlags>();
    fields->declare<Op>(sub);
    actions.emplace_back(Op::name, [options, fields, &sub](const Context& context) {
      return export_one<Op>(*options, fields->parsed<Op>(sub), context);
    });
  });
  return [options, actions, &app](const Context& context) {
    require_case_file({"file", options->file}, fixtures::CaseFileKind::cases);
    stop_on_signals();
    for (const auto& [name, action] : actions)
      if (app.got_subcommand(name)) {
        require_no_plan(app,
                        fmt::format("{} and the fields that follow it describe one case", name));
        if (!options->lines.empty())
          throw UsageError(
              fmt::format("--lines names the cases, but {} and the fields that follow it describe "
                          "one case; use only one of the two",
                          name));
        return action(context);
      }
    if (options->lines.empty()) return export_plan(*options, context);
    require_no_plan(app, "--lines names the cases");
    return export_lines(*options, context);
  };
}

}  // namespace

Command export_command() {
  return {.name = "export",
          .summary = "write cases to an HDF5 file, to run them on another machine",
          .declare = [](CLI::App& app, const Registry&) { return declare(app, false); }};
}

Command golden_command() {
  return {.name = "golden",
          .summary = "write cases, and certify every element of their references",
          .declare = [](CLI::App& app, const Registry&) { return declare(app, true); }};
}

}  // namespace assay::cli
