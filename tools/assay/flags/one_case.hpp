#pragma once

#include <CLI/CLI.hpp>

#include "flags/case_flags.hpp"
#include "flags/choose.hpp"

namespace assay::cli {

/// The options of a command that runs one implementation on one case.
struct OneCaseOptions {
  CaseFlags fields;
  ImplementationFlags implementation;
  bool json = false;

  void declare(CLI::App& sub) {
    implementation.declare(sub);
    sub.add_flag("--json", json, "print JSON");
  }
};

/// Makes a command with one subcommand per operator. Each subcommand accepts the flags of a replay
/// line, and calls use.template operator()<Op>(options, app, context).
template <class Options = OneCaseOptions, class Use>
Command one_case_command(const std::string& name, const std::string& summary, Use use) {
  const auto declare = [name, use](CLI::App& app, const Registry&) -> Action {
    std::vector<std::pair<std::string, Action>> actions;
    for_each_operator([&]<class Op> {
      CLI::App& sub = *app.add_subcommand(std::string(Op::name), "one case of this operator");
      const auto options = std::make_shared<Options>();
      options->fields.template declare<Op>(sub);
      options->declare(sub);
      actions.emplace_back(Op::name, [options, use, &sub](const Context& context) {
        return use.template operator()<Op>(*options, sub, context);
      });
    });
    return [name, actions, &app](const Context& context) {
      for (const auto& [operator_name, action] : actions)
        if (app.got_subcommand(operator_name)) return action(context);
      throw UsageError(name + " needs an operator; the operators are " + joined(operator_names()));
    };
  };
  return {.name = name, .summary = summary, .declare = declare};
}

}  // namespace assay::cli
