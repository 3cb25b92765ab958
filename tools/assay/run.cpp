#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/conformance/results.hpp"
#include "case_flags.hpp"
#include "choose.hpp"
#include "commands.hpp"
#include "print_case.hpp"
#include "recorder.hpp"

namespace assay::cli {
namespace {

struct Options {
  CaseFlags fields;
  ImplementationFlags implementation;
  bool json = false;
};

template <class Op>
ExitCode run(const Options& options, const CLI::App& app, const Context& context) {
  const conformance::Case<Op> c = options.fields.parsed<Op>(app);
  const auto implementation = make_implementation<Op>(context.registry, options.implementation);
  Recorder<Op> recorder(*implementation, chosen<Op>(context.registry, options.implementation).name);
  const conformance::CaseReport report = conformance::examine(c, recorder);
  if (options.json) {
    auto json = nlohmann::ordered_json::parse(conformance::to_json(report));
    for (const auto& [name, digest] : recorder.take().outputs) json["digests"][name] = digest;
    context.out << json.dump(1) << '\n';
  } else {
    print_case(report, context.out);
    for (const auto& [name, digest] : recorder.take().outputs)
      context.out << fmt::format("  digest of {} = {}\n", name, digest);
  }
  return conformance::contribution(report.verdict);
}

template <class Op>
Action declare(CLI::App& app) {
  CLI::App& sub = *app.add_subcommand(std::string(Op::name), "one case of this operator");
  const auto options = std::make_shared<Options>();
  options->fields.declare<Op>(sub);
  options->implementation.declare(sub);
  sub.add_flag("--json", options->json, "print JSON");
  return [options, &sub](const Context& context) { return run<Op>(*options, sub, context); };
}

}  // namespace

Command run_command() {
  return {.name = "run",
          .summary = "run one case and judge it; takes any replay line",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            std::vector<std::pair<std::string, Action>> actions;
            for_each_operator([&]<class Op> { actions.emplace_back(Op::name, declare<Op>(app)); });
            return [actions, &app](const Context& context) {
              for (const auto& [name, action] : actions)
                if (app.got_subcommand(name)) return action(context);
              throw UsageError("run needs an operator; operators are " + joined(operator_names()));
            };
          }};
}

}  // namespace assay::cli
