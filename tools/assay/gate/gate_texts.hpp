#pragma once

#include <vector>

#include "assay/conformance/plan/case_lines.hpp"

namespace assay::cli {

/// Returns the files gate/OPERATOR.txt next to this one, as they were at build time: the cases of
/// `assay gate`, the strongest first. `tests/mutants/gate_cases.py` chooses them.
const std::vector<conformance::CaseText>& gate_texts();

}  // namespace assay::cli
