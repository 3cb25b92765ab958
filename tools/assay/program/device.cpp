#include "program/device.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "assay/device/ascend.hpp"
#include "assay/optimized/flash_attention_score_grad/tiling.hpp"
#include "assay/optimized/nsa_compress_grad/tiling.hpp"
#include "assay/optimized/nsa_selected_attention_grad/tiling.hpp"
#include "flags/case_flags.hpp"
#include "flags/choose.hpp"
#include "flags/values.hpp"
#include "printing/table.hpp"

namespace assay::cli {
namespace {

struct Options {
  std::string name = "a2";
  bool json = false;
};

device::Spec chosen_device(const std::string& name) {
  std::vector<std::string> names;
  for (const device::Spec& device : device::devices()) {
    if (device.name == name) return device;
    names.push_back(device.name);
  }
  throw UsageError("no device '" + name + "'; devices are " + joined(names));
}

std::string range(const device::Quantity& quantity) {
  return quantity.assumed ? fmt::format("assumed, {:g} to {:g}", quantity.low, quantity.high)
                          : std::string();
}

ExitCode print_device(const Options& options, const Context& context) {
  const device::Spec device = chosen_device(options.name);
  if (options.json) {
    nlohmann::ordered_json json = {{"name", device.name},
                                   {"sku", device.sku},
                                   {"quantities", nlohmann::ordered_json::array()}};
    for (const device::Quantity& q : device::quantities(device))
      json["quantities"].push_back({{"name", q.name},
                                    {"value", q.value},
                                    {"unit", q.unit},
                                    {"source", q.source},
                                    {"assumed", q.assumed},
                                    {"low", q.low},
                                    {"high", q.high}});
    context.out << json.dump(1) << '\n';
    return ExitCode::conformant;
  }
  context.out << fmt::format("{} ({})\n", device.name, device.sku);
  Table table({"quantity", "value", "unit", "range", "source"});
  for (const device::Quantity& q : device::quantities(device))
    table.add({std::string(q.name), fmt::format("{:g}", q.value), std::string(q.unit), range(q),
               std::string(q.source)});
  table.print(context.out);
  return ExitCode::conformant;
}

[[noreturn]] void nothing_to_cut(const std::string& why) {
  throw UsageError("no plan: " + why + ", so there is nothing to cut");
}

std::string plan_of(const spec::FlashAttentionScoreGrad::Problem& problem,
                    const device::Spec& device) {
  if (spec::score_count(problem) == 0) nothing_to_cut("no query meets a key");
  return to_text(optimized::plan(problem, device));
}

std::string plan_of(const spec::NsaSelectedAttentionGrad::Problem& problem,
                    const device::Spec& device) {
  return to_text(optimized::selected::plan(problem, device));
}

std::string plan_of(const spec::NsaCompressGrad::Problem& problem, const device::Spec& device) {
  if (optimized::compress::Windows(problem).all_tokens() == 0) nothing_to_cut("there is no token");
  return to_text(optimized::compress::plan(problem, device));
}

/// Whether we have an implementation of Op, which cuts its problems.
template <class Op>
concept Cut = requires(const typename Op::Problem& problem, const device::Spec& device) {
  plan_of(problem, device);
};

template <class Op>
ExitCode print_plan(const CaseFlags& fields, const std::string& device, const CLI::App& app,
                    const Context& context) {
  const auto c = fields.parsed<Op>(app);
  for (const auto* broken : spec::violations(Op::requirements(), conformance::call_of(c)))
    if (broken->standing != spec::Standing::disputed)
      throw UsageError(
          fmt::format("no plan: the problem breaks {}: {}", broken->id, broken->statement));
  context.out << plan_of(c.problem, chosen_device(device));
  return ExitCode::conformant;
}

/// `device plan OPERATOR --field=value ...`
Action declare_plan(CLI::App& app) {
  std::vector<std::pair<std::string, Action>> actions;
  const auto add_plan = [&]<Cut Op> {
    CLI::App& sub = *app.add_subcommand(std::string(Op::name), "a problem of this operator");
    const auto fields = std::make_shared<CaseFlags>();
    const auto device = std::make_shared<std::string>("a2");
    fields->declare<Op>(sub);
    sub.add_option("--device", *device, "device for which it is cut [a2]");
    actions.emplace_back(Op::name, [=, &sub](const Context& context) {
      return print_plan<Op>(*fields, *device, sub, context);
    });
  };
  for_each_operator([&]<class Op> {
    if constexpr (Cut<Op>) add_plan.template operator()<Op>();
  });
  return [actions, &app](const Context& context) {
    for (const auto& [operator_name, action] : actions)
      if (app.got_subcommand(operator_name)) return action(context);
    throw UsageError("device plan needs an operator; operators are " + joined(operator_names()));
  };
}

Action declare(CLI::App& app, const Registry&) {
  const auto options = std::make_shared<Options>();
  app.add_option("name", options->name, "device whose numbers are printed");
  app.add_flag("--json", options->json, "print JSON");
  CLI::App& plan = *app.add_subcommand("plan", "how a problem of an operator is cut for a device");
  return [options, &plan, print = declare_plan(plan)](const Context& context) {
    return plan.parsed() ? print(context) : print_device(*options, context);
  };
}

}  // namespace

Command device_command() {
  return {.name = "device",
          .summary =
              "print a modelled device and where its numbers come from, or the plan of a problem",
          .declare = declare};
}

}  // namespace assay::cli
