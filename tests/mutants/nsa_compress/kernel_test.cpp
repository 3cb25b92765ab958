#include <algorithm>

#include "../compression/kernel_checks.hpp"
#include "nsa_compress/families.hpp"

namespace assay::mutants::compress::forward {
namespace {

/// Evaluates the formula for the expected outputs, term by term.
void compress(Sample<Op>& s) {
  const Problem& p = s.problem;
  const std::vector<double> x = values(s.inputs.input), weight = values(s.inputs.weight);
  s.expected = {{}};
  std::int64_t base = 0;
  for (std::int64_t b = 0; b < p.batch; base += p.length(b++))
    for (std::int64_t first = 0; first + p.compress_block_size <= p.length(b);
         first += p.compress_stride)
      for (std::int64_t n = 0; n < p.heads; ++n)
        for (std::int64_t c = 0; c < p.head_dim; ++c) {
          double sum = 0;
          for (std::int64_t k = 0; k < p.compress_block_size; ++k)
            sum += weight[static_cast<std::size_t>(k * p.heads + n)] *
                   x[static_cast<std::size_t>(((base + first + k) * p.heads + n) * p.head_dim + c)];
          s.expected[0].push_back(sum);
        }
}

const std::vector<Sample<Op>>& samples() {
  static const std::vector<Sample<Op>> all = exact_samples<Op>(compress);
  return all;
}

TEST(CompressForwardKernel, HealthyVariantsAreExactWhereTheSumsAre) {
  expect_all_exact(healthy_kernels(), samples());
}

/// Tests injected faults that are detected by comparing outputs, without the judge's other rules
/// and without a large storage.
TEST(CompressForwardKernel, EveryInjectedFaultShowsOnSomeGeometry) {
  for (const auto& family : {number_mutants(), public_faults(), generated_mutants<Op>()})
    expect_each_wrong(family, samples(), {"undeclared_order", "crashes", "bytes_in_32_bits"});
}

TEST(CompressForwardKernel, RunsDifferOnlyWhereTheOrderOfTokensDoes) {
  const auto mutants = number_mutants();
  expect_fixed_orders(
      healthy_kernels(), *std::ranges::find(mutants, "undeclared_order", &Mutant::name),
      sample_of<Op>(geometries()[9], spec::DType::fp16, Numbers::rounding, compress));
}

/// The example in the documentation: the windows are adjacent, and all numbers are 1.
TEST(CompressForwardKernel, AddsUpTheOnesOfTheExample) {
  const Geometry example = {.problem = {.seq = 64, .compress_stride = 32}};
  auto sample = sample_of<Op>(example, spec::DType::fp16, Numbers::exact, compress);
  for (spec::Tensor* tensor : {&sample.inputs.input, &sample.inputs.weight})
    for (const std::int64_t element : viewed_elements(*tensor)) tensor->store(element, 1);
  sample.expected = {std::vector<double>(2 * 16, 32.0)};
  expect_all_exact(healthy_kernels(), {sample});
}

TEST(CompressForwardKernel, ChecksRefuseTheirRowAndTakeEveryLegalCall) {
  ASSERT_FALSE(Op::requirements().empty());
  expect_checks_of_requirements(argument_mutants());
}

TEST(CompressForwardMutants, HaveNamesOfTheirOwnHealthyOnesFirst) {
  expect_own_names_healthy_first<Op>(70);
}

}  // namespace
}  // namespace assay::mutants::compress::forward
