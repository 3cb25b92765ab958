#include "sweeping/environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "build_facts.hpp"

namespace assay::cli {

conformance::Environment environment_of(const Parts& parts, const std::string& asked,
                                        const PlanFlags& plan, const Context& context) {
  conformance::Environment result{
      .tool_version = build_facts().version,
      .compiler = build_facts().compiler,
      .command_line = context.program + asked,
      .implementation = implementations(parts),
      .program = context.program,
      .started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
      .seed = plan.seed,
      .fresh_seed = plan.fresh_seed,
      .numerics = {}};
  for (const auto& part : parts)
    for (const auto& [key, profile] : part->numerics()) result.numerics[key] = profile;
  return result;
}

}  // namespace assay::cli
