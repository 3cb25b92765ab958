#pragma once

#include <functional>

#include "assay/cli/main.hpp"
#include "assay/conformance/sweep/sweep.hpp"
#include "printing/case_teller.hpp"
#include "sweeping/sweep_order.hpp"

namespace assay::cli {

/// Calls, judges and concludes the cases in their order until the sweep is over. Other threads make
/// inputs before a call and judge answers after it, unless the kernel runs in this process: then no
/// other thread works.
///
/// The order of the calls does not depend on timing. A budget or a stop only decides where it ends.
/// \param is_finished whether an interrupted sweep has judged the case with this id
/// \param slow reports cases that take long
void run_cases(const Parts& parts, const std::vector<Turn>& order, conformance::Sweep& sweep,
               const std::function<bool(const std::string& id)>& is_finished, bool in_process,
               SlowCaseTeller& slow, const Context& context);

}  // namespace assay::cli
