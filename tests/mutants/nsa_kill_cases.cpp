#include <algorithm>
#include <utility>
#include <vector>

#include "assay/conformance/sampling.hpp"
#include "assay/mutants/kill_table.hpp"

namespace assay::mutants {
namespace {

/// Cases of the default sweep that the naive kernels finish at once. Relations are left to the sweep: they run a kernel
/// several times, and every bug shows without them.
template <class Op>
std::vector<conformance::Case<Op>> small_cases_of_the_default_sweep(double most_multiply_adds) {
  std::vector<conformance::Case<Op>> cases = conformance::sample<Op>({});
  std::erase_if(cases, [&](const conformance::Case<Op>& c) {
    return c.track == conformance::Track::relation ||
           (c.violate.empty() && conformance::multiply_adds(c.problem) > most_multiply_adds);
  });
  // A check that refuses too much shows on legal calls.
  const std::size_t all = cases.size();
  for (std::size_t k = 0; k < all; ++k) {
    if (!cases[k].violate.empty()) continue;
    conformance::Case<Op> call = cases[k];
    call.track = conformance::Track::phase1;
    cases.push_back(std::move(call));
  }
  return cases;
}

}  // namespace

template <>
std::vector<conformance::Case<spec::NsaSelectedAttentionGrad>> kill_cases() {
  return small_cases_of_the_default_sweep<spec::NsaSelectedAttentionGrad>(2e6);
}

template <>
std::vector<conformance::Case<spec::NsaCompressGrad>> kill_cases() {
  return small_cases_of_the_default_sweep<spec::NsaCompressGrad>(3e5);
}

}  // namespace assay::mutants
