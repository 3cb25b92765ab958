#include "assay/spec/operators/toy_operator.hpp"
#include "bilinear/kernel.hpp"

namespace assay::mutants {

namespace {

using Op = spec::ToyOperator;

}  // namespace

namespace bilinear {

/// Returns the products that the plain kernel adds for one token of the output.
/// EDIT: without a form, write a kernel that derives from SummingKernel (bilinear/sums.hpp).
template <>
Terms terms_of<Op>(const Op::Problem& p, std::size_t, std::int64_t token) {
  Terms terms{.left = 1, .right = 0, .pairs = {}};
  for (std::int64_t w = 0; w < p.window; ++w) terms.pairs.push_back({w, token + w});
  return terms;
}

namespace {

/// EDIT: faults that only this operator has. The other faults are shared by all operators.
struct FirstTokenTwice : Kernel<Op> {
  void choose(Terms& terms) const override { terms.pairs.push_back(terms.pairs.front()); }
};

}  // namespace
}  // namespace bilinear

template <>
std::vector<MutantOf<Op>> mutants() {
  std::vector<MutantOf<Op>> all = bilinear::mutants_of<Op>();
  all.push_back(injected_in<Op, bilinear::FirstTokenTwice>(
      "first_token_twice", "the first token of a window counts twice", bilinear::SummingPlan{}));
  return all;
}

template <>
std::vector<MutantOf<Op>> generated_mutants() {
  return {};
}

}  // namespace assay::mutants
