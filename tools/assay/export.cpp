#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "assay/conformance/exact.hpp"
#include "assay/conformance/record.hpp"
#include "assay/fixtures/file.hpp"
#include "case_flags.hpp"
#include "choose.hpp"
#include "commands.hpp"
#include "plan_flags.hpp"
#include "recorder.hpp"
#include "stored_case.hpp"

namespace assay::cli {
namespace {

struct Options {
  std::string file, lines, numerics = "ascend_a2", largest = "1048576", implementation;
  bool recipe_only = false;
  PlanFlags plan;
};

spec::NumericsProfile numerics_of(const Options& options, spec::DType io) {
  try {
    return spec::numerics_from_text(options.numerics, io);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--numerics is '{}': {}", options.numerics, error.what()));
  }
}

/// Cases of one operator, and what was left out of them.
template <class Op>
struct Chosen {
  std::vector<conformance::Case<Op>> cases;
  std::int64_t large = 0, calls = 0, relations = 0, only = 0;
};

struct Written {
  std::int64_t cases = 0, large = 0, calls = 0, relations = 0, only = 0;
};

template <class Op>
Chosen<Op> chosen_cases(const Options& options) {
  const std::int64_t largest =
      integer_value("--largest", options.largest, 1, std::int64_t{1} << 40);
  Chosen<Op> chosen;
  Planned<Op> planned = planned_cases<Op>(options.plan);
  chosen.only = planned.left_out;
  for (auto& c : planned.cases) {
    if (without_tensors(c))
      ++(c.track == conformance::Track::phase1 ? chosen.calls : chosen.relations);
    else if (!options.recipe_only && conformance::tensor_elements(c.problem) > largest)
      ++chosen.large;
    else
      chosen.cases.push_back(std::move(c));
  }
  return chosen;
}

/// Writes the cases, with what the named implementation makes of them.
template <class Op>
void write_cases(const Options& options, const std::vector<conformance::Case<Op>>& cases,
                 fixtures::Writer& writer, const Context& context) {
  std::unique_ptr<spec::Implementation<Op>> own;
  std::optional<Recorder<Op>> implementation;
  if (const ImplementationFlags flags{.name = options.implementation, .threads = {}};
      !flags.name.empty()) {
    own = make_implementation<Op>(context.registry, flags);
    implementation.emplace(*own, flags.name);
  }
  std::size_t written = 0;
  for (const auto& c : cases) {
    fixtures::CaseRecord record =
        stored_case(c,
                    implementation ? implementation->numerics(c.problem)
                                   : numerics_of(options, c.problem.dtype),
                    implementation ? implementation->name() : options.numerics,
                    options.recipe_only ? Contents::recipe : Contents::tensors);
    if (implementation && !implementation->unsupported(conformance::call_of(c))) try {
        add_actual(record, c, *implementation);
      } catch (const std::exception& failure) {
        context.err << fmt::format("{} made nothing of {}: {}\n", implementation->name(), record.command,
                                   failure.what());
      }
    writer.write(record);
    if (context.terminal)
      context.err << fmt::format("\r{} of {} cases of {}\x1b[K", ++written, cases.size(), Op::name)
                  << std::flush;
  }
  if (context.terminal) context.err << '\n';
}

void print_written(const Options& options, std::int64_t cases, std::ostream& out) {
  out << fmt::format("{}: {} cases, {}\n", options.file, cases,
                     options.recipe_only ? "recipes without tensors" : "inputs and reference");
}

ExitCode export_plan(const Options& options, const Context& context) {
  Written sum;
  std::vector<std::function<void(fixtures::Writer&)>> parts;
  for_each_operator([&]<class Op> {
    if (!options.implementation.empty() && !is_registered<Op>(context.registry, options.implementation) &&
        !is_foreign<Op>(context.registry, options.implementation))
      return;
    auto chosen = std::make_shared<Chosen<Op>>(chosen_cases<Op>(options));
    sum.cases += std::ssize(chosen->cases), sum.large += chosen->large, sum.calls += chosen->calls;
    sum.relations += chosen->relations, sum.only += chosen->only;
    parts.push_back([&options, &context, chosen](fixtures::Writer& writer) {
      write_cases<Op>(options, chosen->cases, writer, context);
    });
  });
  if (parts.empty()) throw unknown_implementation(context.registry, options.implementation);
  const std::int64_t planned = sum.cases + sum.large + sum.calls + sum.relations;
  require_cases(planned, sum.only, options.plan);
  tell_left_out(planned, sum.only, options.plan, context.err);
  if (sum.cases == 0)
    throw UsageError(
        fmt::format("nothing to export: {} cases check arguments, {} compare runs, {} are larger than "
                    "--largest={}",
                    sum.calls, sum.relations, sum.large, options.largest));
  fixtures::Writer writer(options.file);
  for (const auto& write : parts) write(writer);
  writer.close();
  print_written(options, sum.cases, context.out);
  context.out << fmt::format(
      "left out: {} cases that only check arguments, {} that compare several runs, {} larger than "
      "--largest={}\n",
      sum.calls, sum.relations, sum.large, options.largest);
  return ExitCode::conformant;
}

template <class Op>
ExitCode export_one(const Options& options, const conformance::Case<Op>& c,
                    const Context& context) {
  if (const auto reason = without_tensors(c)) throw UsageError(*reason);
  fixtures::Writer writer(options.file);
  write_cases<Op>(options, std::vector{c}, writer, context);
  writer.close();
  print_written(options, 1, context.out);
  return ExitCode::conformant;
}

/// The replay lines of a file, blank ones left out. Errors: UsageError.
std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("--lines is '" + path + "', which cannot be opened");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(line);
  if (lines.empty()) throw UsageError("--lines is '" + path + "', which holds no line");
  return lines;
}

/// The case of a replay line. Errors: UsageError naming the line.
template <class Op>
conformance::Case<Op> case_of_line(const std::string& line) {
  try {
    auto c = conformance::parse_case<Op>(conformance::case_words(line, Op::name));
    if (const auto reason = without_tensors(c)) throw UsageError("'" + line + "': " + *reason);
    return c;
  } catch (const std::invalid_argument& error) {
    throw UsageError("'" + line + "': " + error.what());
  }
}

ExitCode export_lines(const Options& options, const Context& context) {
  const std::vector<std::string> lines = read_lines(options.lines);
  fixtures::Writer writer(options.file);
  for (const std::string& line : lines)
    with_operators(line.substr(0, line.find_first_of(" \t\r")), [&]<class Op> {
      try {
        write_cases<Op>(options, {case_of_line<Op>(line)}, writer, context);
      } catch (const conformance::NoLattice& reason) {
        throw UsageError("'" + line + "': no exact inputs: " + reason.what());
      }
    });
  writer.close();
  print_written(options, std::ssize(lines), context.out);
  return ExitCode::conformant;
}

Action declare(CLI::App& app, const Registry&) {
  const auto options = std::make_shared<Options>();
  app.add_option("file", options->file, "HDF5 file that is written")->required();
  app.add_option("--lines", options->lines, "text file with the replay lines of the cases, one a line; no plan");
  app.add_flag("--recipe-only", options->recipe_only, "replay lines and digests, no tensors");
  app.add_option("--numerics", options->numerics,
                 "profile whose tolerances are stored: a preset of 'list presets', or PRESET,field=value");
  app.add_option("--implementation", options->implementation,
                 "also store what this implementation makes of the cases");
  app.add_option("--largest", options->largest,
                 "largest number of query and key elements of a case");
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
    for (const auto& [name, action] : actions)
      if (app.got_subcommand(name)) return action(context);
    return options->lines.empty() ? export_plan(*options, context) : export_lines(*options, context);
  };
}

}  // namespace

Command export_command() {
  return {.name = "export",
          .summary = "write cases to an HDF5 file, to be run on another machine",
          .declare = declare};
}

}  // namespace assay::cli
