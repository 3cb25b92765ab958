#include "nsa_compress_grad/kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checked.hpp"
#include "nsa_compress_grad/families.hpp"
#include "nsa_compress_grad/geometries.hpp"
#include "rounding.hpp"

namespace assay::mutants::compress {
namespace {

using spec::DType;

/// A call with its inputs, and with gradients that are computed by the formulas without rounding.
struct Sample {
  Op::Problem problem;
  Op::Inputs inputs;
  Op::Outputs outputs;  ///< filled with 0xAB
  std::vector<double> input_grad, weight_grad;
};

spec::Tensor tensor_of(const spec::Parameter& parameter) {
  const std::int64_t elements =
      spec::storage_elements(parameter.shape, parameter.strides, parameter.offset);
  return {.dtype = parameter.dtype,
          .shape = parameter.shape,
          .strides = parameter.strides,
          .offset = parameter.offset,
          .bytes = std::vector<std::byte>(
              static_cast<std::size_t>(elements * size_of(parameter.dtype)), std::byte{0xAB})};
}

/// exact: numbers whose sums are exact in fp32, so that kernels differ only if their formulas
/// differ. rounding: numbers whose sums are rounded.
enum class Numbers { exact, rounding };

/// Fills with integers up to `largest` in magnitude (exact), or with arbitrary numbers.
void fill(spec::Tensor& tensor, Numbers numbers, std::uint32_t largest, std::uint32_t& state) {
  for (const std::int64_t element : viewed_elements(tensor)) {
    state = state * 1664525U + 1013904223U;
    tensor.store(element, numbers == Numbers::exact
                              ? static_cast<double>((state >> 16) % (2 * largest + 1)) - largest
                              : static_cast<std::int32_t>(state) * 0x1p-30);
  }
}

std::vector<double> values(const spec::Tensor& tensor) {
  std::vector<double> all;
  for (const std::int64_t element : viewed_elements(tensor)) all.push_back(tensor.load(element));
  return all;
}

/// Evaluates the formulas, term by term.
void differentiate(Sample& s) {
  const Op::Problem& p = s.problem;
  const std::vector<double> g = values(s.inputs.output_grad), x = values(s.inputs.input),
                            weight = values(s.inputs.weight);
  s.input_grad.assign(x.size(), 0);
  s.weight_grad.assign(weight.size(), 0);
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
            s.input_grad[token] += weight[w] * gradient;
            s.weight_grad[w] += gradient * x[token];
          }
}

Sample sample_of(const Geometry& geometry, DType dtype, Numbers numbers) {
  Op::Problem problem = geometry.problem;
  problem.dtype = dtype;
  const Op::Parameters p = call_of(problem, spec::CompressEntryPoint::c1, spec::Product::a2,
                                   geometry.inputs, geometry.outputs)
                               .parameters;
  Sample sample = {.problem = problem,
                   .inputs = {tensor_of(p.output_grad), tensor_of(p.input), tensor_of(p.weight)},
                   .outputs = {tensor_of(p.input_grad), tensor_of(p.weight_grad)}};
  std::uint32_t state = 7;
  fill(sample.inputs.output_grad, numbers, 7, state);
  fill(sample.inputs.input, numbers, 7, state);
  fill(sample.inputs.weight, numbers, 63, state);
  differentiate(sample);
  return sample;
}

std::vector<Sample> samples(Numbers numbers) {
  std::vector<Sample> all;
  for (const Geometry& geometry : geometries())
    for (const DType dtype : {DType::bf16, DType::fp16})
      all.push_back(sample_of(geometry, dtype, numbers));
  return all;
}

/// Returns whether the viewed elements equal the expected ones, rounded as declared, and the other
/// bytes are unchanged.
bool is_right(const spec::Tensor& tensor, const std::vector<double>& expected,
              spec::Rounding rounding) {
  spec::Tensor golden = tensor;
  std::ranges::fill(golden.bytes, std::byte{0xAB});
  const auto elements = viewed_elements(tensor);
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const float rounded_once = rounded(static_cast<float>(expected[k]), tensor.dtype, rounding);
    if (tensor.load(elements[k]) != rounded_once) return false;
    golden.store(elements[k], tensor.load(elements[k]));
  }
  return golden.bytes == tensor.bytes;
}

bool is_exact(const Mutant& mutant, const Sample& sample) {
  const auto kernel = mutant.make();
  const spec::Rounding rounding = kernel->numerics(sample.problem).round_out;
  Op::Outputs outputs = sample.outputs;
  kernel->run(sample.problem, sample.inputs, outputs);
  return is_right(outputs.input_grad, sample.input_grad, rounding) &&
         is_right(outputs.weight_grad, sample.weight_grad, rounding);
}

TEST(CompressKernel, HealthyVariantsAreExactWhereTheSumsAre) {
  static const std::vector<Sample> all = samples(Numbers::exact);
  for (const Mutant& mutant : healthy_kernels())
    for (std::size_t k = 0; k < all.size(); ++k)
      EXPECT_TRUE(is_exact(mutant, all[k])) << mutant.name << " on sample " << k;
}

/// Tests injected faults that need none of the judge's other rules.
TEST(CompressKernel, EveryInjectedFaultShowsOnSomeGeometry) {
  static const std::vector<Sample> all = samples(Numbers::exact);
  for (const auto& family : {window_mutants(), sum_mutants(), output_mutants()})
    for (const Mutant& mutant : family) {
      // The last two mutants need more windows and tokens than these samples have.
      constexpr std::string_view elsewhere[] = {"compress_undeclared_order", "compress_crashes",
                                                "compress_last_round_missed",
                                                "compress_token_of_8192"};
      if (std::ranges::find(elsewhere, mutant.name) != std::end(elsewhere)) continue;
      const bool shown =
          std::ranges::any_of(all, [&](const Sample& sample) { return !is_exact(mutant, sample); });
      EXPECT_TRUE(shown) << mutant.name;
    }
}

TEST(CompressKernel, RunsDifferOnlyWhereTheOrderOfWindowsDoes) {
  const Sample sample = sample_of(geometries()[9], DType::fp16, Numbers::rounding);
  const auto differs = [&](const Mutant& mutant) {
    const auto kernel = mutant.make();
    const auto weight_grad = [&] {
      Op::Outputs outputs = sample.outputs;
      kernel->run(sample.problem, sample.inputs, outputs);
      return outputs.weight_grad.bytes;
    };
    const spec::Storage first = weight_grad();
    for (int run = 0; run < 8; ++run)
      if (weight_grad() != first) return true;
    return false;
  };
  for (const Mutant& mutant : healthy_kernels())
    if (mutant.make()->numerics({}).order == spec::Order::fixed) {
      EXPECT_FALSE(differs(mutant)) << mutant.name;
    }
  const auto mutants = output_mutants();
  EXPECT_TRUE(differs(*std::ranges::find(mutants, "compress_undeclared_order", &Mutant::name)));
}

using CompressCall = spec::Call<Op>;

/// The id of the requirement whose check refuses the call; "" if no check refuses it.
std::string refusal(const Mutant& mutant, const CompressCall& call) {
  try {
    mutant.make()->check(call);
  } catch (const spec::Rejected& rejected) {
    const std::string text = rejected.what();
    return text.substr(0, text.find(':'));
  }
  return "";
}

CompressCall plain_call() {
  return call_of(geometries().front().problem, spec::CompressEntryPoint::c1, spec::Product::a2,
                 spec::Striding::contiguous, spec::Striding::contiguous);
}

TEST(CompressKernel, ChecksRefuseTheirRowAndTakeEveryLegalCall) {
  const auto mutants = argument_mutants();
  const Mutant& complete = mutants.front();
  for (const Geometry& geometry : geometries())
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_EQ(refusal(mutants[k], call_of(geometry.problem, spec::CompressEntryPoint::c1,
                                            spec::Product::a2, geometry.inputs, geometry.outputs)),
                "");
  for (const auto& row : Op::requirements())
    for (const auto& violation : row.violations) {
      CompressCall call = plain_call();
      violation.apply(call);
      const bool binds = row.binds(spec::CompressEntryPoint::c1, {});
      // The call must be refused by the check of its own requirement, or by that of a requirement
      // that is violated together with it.
      const auto is_expected = [&](const std::string& id) {
        return id == row.id || std::ranges::find(row.implies, id) != row.implies.end();
      };
      EXPECT_TRUE(binds ? is_expected(refusal(complete, call)) : refusal(complete, call).empty())
          << row.id << ' ' << violation.name;
      EXPECT_TRUE(is_expected(refusal(mutants[1], call))) << row.id << ' ' << violation.name;
    }
}

/// A mutant that lacks one check accepts at least one call that violates the requirement of this
/// check.
TEST(CompressKernel, EveryDroppedCheckAcceptsAnIllegalCall) {
  for (const Mutant& mutant : argument_mutants()) {
    if (!mutant.name.starts_with("without_")) continue;
    const std::string id = mutant.name.substr(std::string("without_").size());
    int passed = 0;
    for (const auto& row : Op::requirements())
      for (const auto& violation : row.violations) {
        if (row.id != id) continue;
        CompressCall call = plain_call();
        violation.apply(call);
        passed += refusal(mutant, call).empty();
      }
    EXPECT_GT(passed, 0) << mutant.name;
  }
}

TEST(CompressMutants, HaveNamesOfTheirOwnHealthyOnesFirst) {
  std::set<std::string> names;
  bool healthy = true;
  for (const Mutant& mutant : mutants<spec::NsaCompressGrad>()) {
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name;
    EXPECT_EQ(mutant.make()->name(), mutant.name);
    EXPECT_TRUE(healthy || !mutant.healthy) << mutant.name;
    healthy = mutant.healthy;
  }
  EXPECT_GT(names.size(), 60U);
}

}  // namespace
}  // namespace assay::mutants::compress
