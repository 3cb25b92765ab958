#pragma once

#include <functional>

#include "assay/cli/main.hpp"
#include "assay/conformance/sweep/sweep.hpp"
#include "printing/case_printer.hpp"
#include "sweeping/sweep_order.hpp"

namespace assay::cli {

/// Calls the kernel for all cases in their order, and judges and reports them, until the sweep
/// ends. Other threads prepare inputs before a call and judge outputs after it. If the kernel runs
/// in this process, there are no other threads.
///
/// The order of the calls does not depend on timing. A time budget or a stop can only end the
/// sequence earlier.
/// \param is_finished returns whether an interrupted sweep has judged the case with this id
/// \param slow reports cases that take long
void run_cases(const Parts& parts, const std::vector<Turn>& order, conformance::Sweep& sweep,
               const std::function<bool(const std::string& id)>& is_finished, bool in_process,
               SlowCasePrinter& slow, const Context& context);

}  // namespace assay::cli
