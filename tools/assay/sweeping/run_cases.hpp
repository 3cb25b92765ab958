#pragma once

#include <functional>

#include "assay/cli/main.hpp"
#include "assay/conformance/sweep/sweep.hpp"
#include "printing/case_teller.hpp"
#include "sweeping/sweep_order.hpp"

namespace assay::cli {

/// Calls, judges and concludes the cases in their order until the sweep is over. Inputs are made
/// before a call and answers judged after it, on other threads, unless the kernel runs in this
/// process, where nothing else shall go on.
///
/// Which calls are made in which order does not depend on how fast anything is.
/// \param is_finished whether an interrupted sweep has judged the case with this id
/// \param slow told of what the sweep waits for
void run_cases(const Parts& parts, const std::vector<Turn>& order, conformance::Sweep& sweep,
               const std::function<bool(const std::string& id)>& is_finished, bool in_process,
               SlowCaseTeller& slow, const Context& context);

}  // namespace assay::cli
