#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/mutants/mutant.hpp"
#include "judge/run_kernel.hpp"

/// Runs the changed kernels of the folder mutants/ (injected faults and correct variants) on exact
/// cases.
namespace assay::conformance::exact_case_test {

using Op = spec::FlashAttentionScoreGrad;

/// Returns the kernel of mutants/ with that name, which has an injected fault or is a correct
/// variant.
inline std::unique_ptr<spec::Implementation<Op>> kernel_named(std::string_view name) {
  static const std::vector<mutants::Mutant> all = mutants::mutants<Op>();
  const auto found = std::ranges::find(all, name, &mutants::Mutant::name);
  if (found == all.end()) throw std::invalid_argument("no mutant " + std::string(name));
  return found->make();
}

inline Op::Outputs outputs_of(spec::Implementation<Op>& kernel, const Case<Op>& c,
                              const Op::Inputs& inputs) {
  return run_once(c, Borrowed(inputs, kernel), kernel).outputs;
}

}  // namespace assay::conformance::exact_case_test
