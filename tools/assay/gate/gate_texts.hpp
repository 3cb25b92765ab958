#pragma once

#include <vector>

#include "assay/conformance/plan/case_lines.hpp"

namespace assay::cli {

/// Returns the contents that the files gate/OPERATOR.txt had at build time: the cases of `assay
/// gate`, starting with the case that detects most faults. The script tests/mutants/gate_cases.py
/// chooses these cases.
const std::vector<conformance::CaseText>& gate_texts();

}  // namespace assay::cli
