#pragma once

#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/mutants/specimen.hpp"

/// The kernels of mutants/ that the tests of this operator judge.
namespace assay::conformance::testing::selected {

using Op = spec::NsaSelectedAttentionGrad;
using Specimen = mutants::SpecimenOf<Op>;

inline const std::vector<Specimen>& specimens() {
  static const std::vector<Specimen> all = mutants::specimens<Op>();
  return all;
}

/// A healthy one in which nothing is particular.
inline constexpr std::string_view plain = "selected_whole_lists";

/// Errors: std::invalid_argument for a name that no specimen has.
inline std::unique_ptr<spec::Implementation<Op>> kernel(std::string_view name) {
  for (const Specimen& specimen : specimens())
    if (specimen.name == name) return specimen.make();
  throw std::invalid_argument("no specimen " + std::string(name));
}

inline CaseReport judged(const Case<Op>& c, std::string_view name) {
  return examine(c, *kernel(name));
}

/// The healthy kernels by turns.
inline std::string_view healthy(std::size_t turn) {
  std::vector<std::string_view> names;
  for (const Specimen& specimen : specimens())
    if (specimen.healthy && specimen.subject == mutants::Subject::numbers)
      names.emplace_back(specimen.name);
  return names[turn % names.size()];
}

}  // namespace assay::conformance::testing::selected
