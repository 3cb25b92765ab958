#pragma once

#include <string>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/results.hpp"
#include "flags/plan_flags.hpp"
#include "sweeping/sweep_order.hpp"

namespace assay::cli {

/// Returns what a report says about this program, the kernel and the command. `asked`: the command
/// line without some flags, see asked_line().
conformance::Environment environment_of(const Parts& parts, const std::string& asked,
                                        const PlanFlags& plan, const Context& context);

}  // namespace assay::cli
