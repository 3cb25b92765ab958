#pragma once

#include <string>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/results.hpp"
#include "flags/plan_flags.hpp"
#include "sweeping/sweep_order.hpp"

namespace assay::cli {

/// Returns the facts about this program, the kernel and the command that a report contains.
/// `asked`: the words of the command, see asked_line().
conformance::Environment environment_of(const Parts& parts, const std::string& asked,
                                        const PlanFlags& plan, const Context& context);

}  // namespace assay::cli
