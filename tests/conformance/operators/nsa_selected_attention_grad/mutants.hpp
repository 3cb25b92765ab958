#pragma once

#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/mutants/mutant.hpp"

/// Returns kernels of the folder mutants/ (injected faults and correct variants) for the tests of
/// this operator.
namespace assay::conformance::testing::selected {

using Op = spec::NsaSelectedAttentionGrad;
using Mutant = mutants::MutantOf<Op>;

inline const std::vector<Mutant>& mutants() {
  static const std::vector<Mutant> all = mutants::mutants<Op>();
  return all;
}

/// The name of a correct kernel without special features.
inline constexpr std::string_view plain = "whole_lists";

/// Returns the kernel with this name. Errors: std::invalid_argument if no kernel of mutants/ has
/// this name.
inline std::unique_ptr<spec::Implementation<Op>> kernel(std::string_view name) {
  for (const Mutant& mutant : mutants())
    if (mutant.name == name) return mutant.make();
  throw std::invalid_argument("no mutant " + std::string(name));
}

inline CaseReport judged(const Case<Op>& c, std::string_view name) {
  return judge_case(c, *kernel(name));
}

/// Returns the name of one correct kernel: the kernel with the index `turn`, modulo the number of
/// correct kernels.
inline std::string_view healthy(std::size_t turn) {
  std::vector<std::string_view> names;
  for (const Mutant& mutant : mutants())
    if (mutant.healthy && mutant.subject == mutants::Subject::numbers)
      names.emplace_back(mutant.name);
  return names[turn % names.size()];
}

}  // namespace assay::conformance::testing::selected
