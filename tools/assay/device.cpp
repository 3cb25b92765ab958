#include "device.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "assay/device/ascend.hpp"
#include "assay/optimized/flash_attention_score_grad/tiling.hpp"
#include "case_flags.hpp"
#include "table.hpp"
#include "values.hpp"

namespace assay::cli {
namespace {

using Op = spec::FlashAttentionScoreGrad;

struct Options {
  std::string name = "a2";
  bool json = false;
  CaseFlags fields;
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

ExitCode print_plan(const Options& options, const CLI::App& app, const Context& context) {
  const auto c = options.fields.parsed<Op>(app);
  const auto call = conformance::call_of(c);
  for (const auto* broken : spec::violations(Op::constraints(), call))
    if (broken->standing != spec::Standing::disputed)
      throw UsageError(
          fmt::format("no plan: the problem breaks {}: {}", broken->id, broken->statement));
  if (spec::score_count(c.problem) == 0)
    throw UsageError("no plan: no query meets a key, so there is nothing to cut");
  context.out << optimized::to_text(optimized::plan(c.problem, chosen_device(options.name)));
  return ExitCode::conformant;
}

Action declare(CLI::App& app, const Registry&) {
  const auto options = std::make_shared<Options>();
  app.add_option("name", options->name, "device whose numbers are printed");
  app.add_flag("--json", options->json, "print JSON");
  CLI::App& plan = *app.add_subcommand("plan", "how a problem is cut for a device");
  plan.add_option("--device", options->name, "device for which it is cut");
  options->fields.declare<Op>(plan);
  return [options, &plan](const Context& context) {
    return plan.parsed() ? print_plan(*options, plan, context) : print_device(*options, context);
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
