#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/case/shell_word.hpp"
#include "assay/conformance/case/unread_fields.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/pairs/pair.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/spec/takes_formulas.hpp"
#include "commands/commands.hpp"
#include "commands/watched.hpp"
#include "flags/one_case.hpp"
#include "printing/conclusion.hpp"
#include "printing/print_case.hpp"
#include "stored/recorder.hpp"

namespace assay::cli {
namespace {

struct RunOptions : OneCaseOptions {
  std::string forward;  ///< implementation of the forward, if it is judged together with a gradient

  void declare(CLI::App& sub) {
    OneCaseOptions::declare(sub);
    sub.add_option("--forward", forward,
                   "for gradients: also judge this implementation of the forward; the gradient "
                   "reads the values that the forward saves")
        ->transform(with_absolute_paths);
  }
};

/// One of the reports on a forward kernel and its gradient kernel, with its heading.
struct Part {
  const char* name;
  std::string heading;
  conformance::CaseReport report;
};

/// Returns the reports on a pair (a forward kernel and a gradient kernel). Every report contains
/// the command line that repeats the run.
std::vector<Part> parts_of(const conformance::PairReport& pair, const std::string& line,
                           const std::string& forward, const std::string& gradient) {
  std::vector<Part> parts = {{"forward", "forward, " + forward, pair.forward}};
  if (pair.backward) parts.push_back({"backward", "backward at the saved values", *pair.backward});
  if (pair.end_to_end)
    parts.push_back({"end_to_end", "backward at the true values", *pair.end_to_end});
  for (Part& part : parts) {
    part.report.command_line = line;
    part.report.implementation = &part == parts.data() ? forward : gradient;
    part.report.pair = {.forward = forward, .gradient = gradient, .parts = pair.parts()};
  }
  return parts;
}

void print_pair(const conformance::PairReport& pair, const std::vector<Part>& parts, bool as_json,
                const Context& context) {
  if (!as_json) {
    for (const Part& part : parts) {
      context.out << part.heading << ": ";
      print_case(part.report, context.typed, context.out);
    }
    context.out << pair.sentence() << ".\n";
    return;
  }
  nlohmann::ordered_json json = {{"sentence", pair.sentence()}};
  for (const Part& part : parts)
    json["parts"][part.name] = nlohmann::ordered_json::parse(conformance::to_json(part.report));
  context.out << json.dump(1) << '\n';
}

/// Reports an error if the case uses a formula of the user but the kernel computes only the
/// documented attention.
template <class Op>
void require_formula_computed(const std::string& variant, spec::Implementation<Op>& kernel,
                              const std::string& implementation) {
  if (!variant.starts_with("formula:") || spec::takes_formulas(kernel) != nullptr) return;
  throw UsageError("--variant has a formula, which '" + implementation +
                   "' does not compute; give your kernel with --implementation=command:PROGRAM or "
                   "judge a Python function with assay.judge, see docs/variants.md");
}

/// Refuses a part for kernels that compute only whole gradients.
template <class Op>
void require_part_computed(const conformance::Case<Op>& c, spec::Implementation<Op>& kernel,
                           const std::string& implementation) {
  if (c.part.empty() || spec::takes_parts(kernel) != nullptr) return;
  throw UsageError(fmt::format(
      "--part={}: '{}' computes only whole gradients; give your kernel with "
      "--implementation=command:PROGRAM or judge a Python function with assay.judge, see "
      "docs/partial_gradients.md",
      c.part, implementation));
}

/// Judges a gradient kernel together with the forward kernel that --forward names.
template <class Op>
ExitCode run_pair(const RunOptions& options, const conformance::Case<Op>& c,
                  const Context& context) {
  if constexpr (requires { typename conformance::ForwardOf<Op>::Forward; }) {
    using Forward = typename conformance::ForwardOf<Op>::Forward;
    ImplementationFlags forward_flags = options.implementation;
    forward_flags.name = options.forward, forward_flags.flag = "--forward";
    const auto forward = make_implementation<Forward>(context.registry, forward_flags);
    const auto gradient = make_implementation<Op>(context.registry, options.implementation);
    require_formula_computed(c.variant, *forward, options.forward);
    require_formula_computed(c.variant, *gradient,
                             implementation_name<Op>(context.registry, options.implementation));
    conformance::PairReport pair;
    try {
      pair = conformance::judge_pair(c, *forward, *gradient);
    } catch (const std::invalid_argument& refusal) {
      throw UsageError("--forward is '" + options.forward + "': " + refusal.what());
    }
    print_pair(pair,
               parts_of(pair, conformance::command_line(c), options.forward,
                        implementation_name<Op>(context.registry, options.implementation)),
               options.json, context);
    return pair.exit_code();
  } else {
    throw UsageError("--forward is '" + options.forward + "', but " + std::string(Op::name) +
                     " is not a gradient whose forward Assay covers: leave --forward out");
  }
}

template <class Op>
ExitCode run(const RunOptions& options, const CLI::App& app, const Context& context) {
  const conformance::Case<Op> c = options.fields.parsed<Op>(app);
  for (const std::string& sentence : conformance::unread_fields(c))
    context.err << "note: " << sentence << '\n';
  if (!options.forward.empty() && !c.part.empty())
    throw UsageError("--part=" + c.part +
                     ": --forward judges whole gradients: leave one of them out");
  if (!options.forward.empty()) return run_pair<Op>(options, c, context);
  tell_in_process(options.implementation, context.err);
  const auto implementation = make_implementation<Op>(context.registry, options.implementation);
  const std::string kernel = implementation_name<Op>(context.registry, options.implementation);
  require_formula_computed(c.variant, *implementation, kernel);
  require_part_computed(c, *implementation, kernel);
  Recorder<Op> recorder(*implementation, kernel);
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
  return one_case_command<RunOptions>(
      "run", "run one case and judge it; accepts any replay line",
      []<class Op>(const RunOptions& options, const CLI::App& app, const Context& context) {
        return run<Op>(options, app, context);
      });
}

}  // namespace assay::cli
