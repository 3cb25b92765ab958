#include "assay/spec/operators/toy_operator.hpp"
#include "bilinear/kernel.hpp"

namespace assay::mutants {

using Op = spec::ToyOperator;

/// Returns the products that the plain kernel adds for one token of the output.
/// EDIT: without a form, write a kernel that derives from SummingKernel (bilinear/sums.hpp).
template <>
bilinear::Terms bilinear::terms_of<Op>(const Op::Problem& p, std::size_t, std::int64_t token) {
  Terms terms{.left = 1, .right = 0, .pairs = {}};
  for (std::int64_t w = 0; w < p.window; ++w) terms.pairs.push_back({w, token + w});
  return terms;
}

/// EDIT: faults that only this operator has. The other faults are shared by all operators.
namespace {
struct FirstTokenTwice : bilinear::Kernel<Op> {
  void choose(bilinear::Terms& terms) const override { terms.pairs.push_back(terms.pairs.front()); }
};
}  // namespace

template <>
std::vector<MutantOf<Op>> mutants() {
  return bilinear::mutants_of<Op>({injected_in<Op, FirstTokenTwice>(
      "first_token_twice", "the first token of a window counts twice", bilinear::SummingPlan{})});
}

template <>
std::vector<MutantOf<Op>> generated_mutants() {
  return {};
}

}  // namespace assay::mutants
