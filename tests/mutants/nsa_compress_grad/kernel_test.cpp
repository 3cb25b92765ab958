#include <algorithm>

#include "../compression/kernel_checks.hpp"
#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress::grad {
namespace {

/// Evaluates the formulas for the expected gradients, term by term.
void differentiate(Sample<Op>& s) {
  const Problem& p = s.problem;
  const std::vector<double> g = values(s.inputs.output_grad), x = values(s.inputs.input),
                            weight = values(s.inputs.weight);
  std::vector<double> input_grad(x.size(), 0), weight_grad(weight.size(), 0);
  std::int64_t base = 0, row = 0;
  for (std::int64_t b = 0; b < p.batch; base += p.length(b++))
    for (std::int64_t first = 0; first + p.compress_block_size <= p.length(b);
         first += p.compress_stride, ++row)
      for (std::int64_t k = 0; k < p.compress_block_size; ++k)
        for (std::int64_t n = 0; n < p.heads; ++n)
          for (std::int64_t c = 0; c < p.head_dim; ++c) {
            const auto token =
                static_cast<std::size_t>(((base + first + k) * p.heads + n) * p.head_dim + c);
            const auto gradient = g[static_cast<std::size_t>((row * p.heads + n) * p.head_dim + c)];
            const auto w = static_cast<std::size_t>(k * p.heads + n);
            input_grad[token] += weight[w] * gradient;
            weight_grad[w] += gradient * x[token];
          }
  s.expected = {input_grad, weight_grad};
}

const std::vector<Sample<Op>>& samples() {
  static const std::vector<Sample<Op>> all = exact_samples<Op>(differentiate);
  return all;
}

TEST(CompressKernel, HealthyVariantsAreExactWhereTheSumsAre) {
  expect_all_exact(healthy_kernels(), samples());
}

/// Tests injected faults that are detected by comparing outputs, without the judge's other rules.
TEST(CompressKernel, EveryInjectedFaultShowsOnSomeGeometry) {
  for (const auto& family : {window_mutants(), sum_mutants(), output_mutants()})
    expect_each_wrong(family, samples(), {"undeclared_order", "crashes"});
}

TEST(CompressKernel, RunsDifferOnlyWhereTheOrderOfWindowsDoes) {
  const auto mutants = output_mutants();
  expect_fixed_orders(
      healthy_kernels(), *std::ranges::find(mutants, "undeclared_order", &Mutant::name),
      sample_of<Op>(geometries()[9], spec::DType::fp16, Numbers::rounding, differentiate));
}

TEST(CompressKernel, ChecksRefuseTheirRowAndTakeEveryLegalCall) {
  expect_checks_of_requirements(argument_mutants());
}

TEST(CompressMutants, HaveNamesOfTheirOwnHealthyOnesFirst) {
  expect_own_names_healthy_first<Op>(61);
}

}  // namespace
}  // namespace assay::mutants::compress::grad
