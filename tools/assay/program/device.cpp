#include "program/device.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "assay/device/ascend.hpp"
#include "assay/optimized/operators.hpp"
#include "flags/case_flags.hpp"
#include "flags/choose.hpp"
#include "flags/destinations.hpp"
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
  throw UsageError("no device '" + name + "'" + one_of(name, names, "devices are"));
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
  std::int64_t quantities = 0, assumed = 0;
  for (const device::Quantity& q : device::quantities(device)) {
    ++quantities, assumed += q.assumed ? 1 : 0;
    table.add({std::string(q.name), fmt::format("{:g}", q.value), std::string(q.unit), range(q),
               std::string(q.source)});
  }
  table.print(context.out);
  context.out << "Sources:\n";
  for (const device::Source& source : device::sources())
    context.out << fmt::format("  {:<6} {}\n", source.word, source.meaning);
  context.out << fmt::format("Device {}: {} quantities, {} of them assumed.\n", device.name,
                             quantities, assumed);
  return ExitCode::conformant;
}

struct PlanOptions {
  std::string device, trace;
  Replace replace = Replace::own_results;
};

/// Writes a trace to a file: when each queue of the modelled device works. Errors: UsageError if
/// there is nothing to trace, or if no schedule of the event model fits the problem.
template <class Op>
void write_trace(const typename Op::Problem& problem, const device::Spec& device,
                 const std::string& path, const Context& context) {
  std::string text;
  try {
    text = optimized::Tiled<Op>::trace(problem, device);
  } catch (const optimized::NothingToCut& empty) {
    throw UsageError(fmt::format("--trace={}: there is nothing to trace: {}", path, empty.what()));
  }
  if (text.empty())
    throw UsageError(fmt::format("--trace={}: no schedule of the event model fits", path));
  sink(path, context)(text);
}

/// Calls visit<Op>() for every operator with a tiling model.
template <class Visitor>
void for_each_planned_operator(Visitor&& visit) {
  for_each_operator([&]<class Op> {
    if constexpr (optimized::IsPlanned<Op>) visit.template operator()<Op>();
  });
}

template <class Op>
ExitCode print_plan(const CaseFlags& fields, const PlanOptions& options, const CLI::App& app,
                    const Context& context) {
  const auto c = fields.parsed<Op>(app);
  for (const auto* broken : spec::violations(Op::requirements(), conformance::call_of(c)))
    if (broken->binds(c.entry_point, c.policy()))
      throw UsageError(
          fmt::format("no plan: the problem breaks requirement {}: "
                      "{}",
                      broken->id, broken->statement));
  try {
    const device::Spec device = chosen_device(
        options.device.empty() ? std::string(spec::to_string(c.product)) : options.device);
    require_writable({{"--trace", options.trace, TextKind::trace}}, {}, options.replace);
    context.out << optimized::Tiled<Op>::plan(c.problem, device) << std::flush;
    if (!options.trace.empty()) write_trace<Op>(c.problem, device, options.trace, context);
  } catch (const optimized::NothingToCut& empty) {
    throw UsageError(fmt::format("no plan: {}, so there is nothing to tile", empty.what()));
  }
  return ExitCode::conformant;
}

/// Declares the command `device plan OPERATOR --field=value ...` for every operator with a tiling
/// model.
Action declare_plan(CLI::App& app) {
  std::vector<std::pair<std::string, Action>> actions;
  for_each_planned_operator([&]<class Op> {
    CLI::App& sub = *app.add_subcommand(std::string(Op::name), "a problem of this operator");
    const auto fields = std::make_shared<CaseFlags>();
    const auto options = std::make_shared<PlanOptions>();
    fields->declare<Op>(sub);
    sub.add_option("--device", options->device,
                   "device for which the problem is tiled [the device of --product]");
    sub.add_option("--trace", options->trace,
                   "trace file with the events of the queues, for "
                   "Perfetto");
    declare_force(sub, options->replace);
    actions.emplace_back(Op::name, [=, &sub](const Context& context) {
      return print_plan<Op>(*fields, *options, sub, context);
    });
  });
  return [actions, &app](const Context& context) {
    for (const auto& [operator_name, action] : actions)
      if (app.got_subcommand(operator_name)) return action(context);
    std::vector<std::string> names;
    for (const auto& [name, action] : actions) names.push_back(name);
    throw UsageError("device plan needs an operator; the operators are " + joined(names));
  };
}

Action declare(CLI::App& app, const Registry&) {
  const auto options = std::make_shared<Options>();
  app.add_option("name", options->name, "device whose numbers are printed");
  app.add_flag("--json", options->json, "print JSON");
  CLI::App& plan = *app.add_subcommand("plan", "how a problem of an operator is tiled on a device");
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
