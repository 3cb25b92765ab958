#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "../../optimized/nsa_selected_attention_grad/oracle.hpp"
#include "checked.hpp"
#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

using spec::DType;
using spec::Striding;
using test::selected::Entry;
using test::selected::Example;
using test::selected::Gradients;
using test::selected::oracle;
using test::selected::values;

/// The error from rounding P, dS and the result to fp16, relative to the largest element.
constexpr double tolerance = 2e-3;

struct Sample {
  Example example;
  Op::Inputs inputs;
  Gradients expected;
};

Op::Problem packed() {
  return {.dtype = DType::fp16,
          .batch = 3,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = 26,
          .seq_kv = 96,
          .lengths_q = {17, 26, 3},
          .lengths_kv = {48, 64, 96},
          .head_dim_v = 192,
          .scale_value = 0.125,
          .selected_block_size = 16,
          .selected_block_count = 3};
}

Op::Problem causal(Op::Problem p) {
  p.sparse_mode = 2, p.atten_mask = spec::SelectedMask::compressed;
  return p;
}

/// Returns problems with unordered lists of blocks, with duplicates, and with blocks that lie after
/// the query.
std::vector<Example> examples() {
  Op::Problem masked_only = packed();
  masked_only.atten_mask = spec::SelectedMask::compressed;
  Op::Problem wide = packed();
  wide.batch = 1, wide.lengths_q = {}, wide.lengths_kv = {}, wide.seq_q = 3, wide.seq_kv = 384;
  wide.heads_q = 17, wide.heads_kv = 1;
  wide.selected_block_size = 128, wide.selected_block_count = 2;
  // The number of blocks does not fit in 8 bits. The number of tokens is 25, one more than the
  // number of cores. A group has 7 heads.
  Op::Problem large = packed();
  large.batch = 1, large.lengths_q = {}, large.lengths_kv = {};
  large.seq_q = 25, large.seq_kv = 257 * 16, large.heads_q = 7, large.heads_kv = 1;
  large.selected_block_count = 2;
  const auto first_and_last = [](const Entry& e) { return std::int64_t{e.slot == 0 ? 256 : 0}; };
  // The lists never contain the last block of a sequence.
  const auto few = [](const Entry& e) { return (e.token + e.kv + e.slot * e.slot) % 2; };
  const auto own_twice = [](const Entry& e) {
    return e.slot == 2 ? std::int64_t{0} : std::min<std::int64_t>(e.token / 16, 2);
  };
  return {{.problem = packed()},
          {.problem = masked_only},
          {.problem = causal(packed()), .inputs = Striding::padded, .outputs = Striding::padded},
          {.problem = causal(packed()), .inputs = Striding::transposed},
          {.problem = causal(packed()), .block = own_twice},
          {.problem = packed(), .block = few},
          {.problem = wide},
          {.problem = large, .block = first_and_last}};
}

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> drawn;
    for (const Example& example : examples()) {
      const Op::Inputs inputs = inputs_of(example);
      drawn.push_back({example, inputs, oracle(example.problem, inputs)});
    }
    return drawn;
  }();
  return all;
}

double worst_error(const Mutant& mutant, const Sample& sample) {
  Op::Outputs outputs = outputs_of(sample.example);
  mutant.make()->run(sample.example.problem, sample.inputs, outputs);
  const Gradients actual = values(outputs);
  return std::max({test::error(actual.dq, sample.expected.dq),
                   test::error(actual.dk, sample.expected.dk),
                   test::error(actual.dv, sample.expected.dv)});
}

TEST(SelectedKernel, HealthyVariantsAgreeWithTheFormulas) {
  for (const Mutant& mutant : healthy_kernels())
    for (const Sample& sample : samples())
      EXPECT_LT(worst_error(mutant, sample), tolerance) << mutant.name;
}

TEST(SelectedKernel, EveryInjectedFaultChangesTheGradients) {
  std::size_t bugs = 0;
  // These faults only change the rounding, so this comparison cannot detect them. The judge can.
  const std::set<std::string> fine = {
      "low_accumulator_dk", "low_accumulator_dv", "low_accumulator_dq",
      "truncating_cast",    "truncating_staging", "staging_undeclared",
      "order_undeclared",   "quadratic_exp",      "low_query"};
  for (const auto& family : {list_mutants(), mask_mutants(), row_mutants(), output_mutants()})
    for (const Mutant& mutant : family) {
      ++bugs;
      if (fine.contains(mutant.name)) continue;
      EXPECT_TRUE(std::ranges::any_of(samples(), [&](const Sample& sample) {
        return worst_error(mutant, sample) > 5 * tolerance;
      })) << mutant.name;
    }
  EXPECT_GE(bugs, 50U);
}

TEST(SelectedKernel, LowAccumulatorsAreLessExactThanHealthyKernels) {
  const double healthy = worst_error(healthy_kernels()[1], samples()[5]);
  for (const Mutant& mutant : output_mutants())
    if (mutant.name == "low_accumulator_dk" || mutant.name == "low_accumulator_dv" ||
        mutant.name == "low_query" || mutant.name == "quadratic_exp") {
      EXPECT_GT(worst_error(mutant, samples()[5]), 2 * healthy) << mutant.name;
    }
}

TEST(SelectedMutants, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Mutant& mutant : mutants<Op>())
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name;
}

spec::Call<Op> call_of(const Op::Problem& p) {
  return spec::call_of(p, spec::SelectedEntryPoint::s1, spec::Product::a2, Striding::contiguous,
                       Striding::contiguous);
}

/// A call that violates a requirement, and the refusal that the table of requirements expects.
struct Broken {
  std::string row;
  spec::ExpectedStatus expected;
  spec::Call<Op> call;
};

std::vector<Broken> broken_calls() {
  std::vector<Broken> all;
  for (const Op::Problem& p : {packed(), causal(packed())})
    for (const auto* row : checked_requirements<Op>())
      for (const auto& violation : row->violations) {
        spec::Call<Op> call = call_of(p);
        violation.apply(call);
        if (!row->holds(call)) all.push_back({std::string(row->id), row->status, call});
      }
  return all;
}

/// Returns whether phase 1 (argument check) of a mutant refuses the call with the expected status.
bool refuses(const Mutant& mutant, const Broken& broken) {
  try {
    mutant.make()->check(broken.call);
  } catch (const spec::Rejected& rejected) {
    return broken.expected.any || rejected.status() == broken.expected.code;
  }
  return false;
}

bool accepts(const Mutant& mutant, const Op::Problem& p) {
  try {
    mutant.make()->check(call_of(p));
  } catch (const spec::Rejected&) {
    return false;
  }
  return true;
}

TEST(SelectedArguments, HealthyKernelRefusesEveryBrokenCall) {
  const Mutant healthy = argument_mutants().front();
  ASSERT_TRUE(healthy.healthy);
  for (const Sample& sample : samples()) EXPECT_TRUE(accepts(healthy, sample.example.problem));
  std::map<std::string, int> met;
  for (const Broken& broken : broken_calls()) {
    EXPECT_TRUE(refuses(healthy, broken)) << broken.row;
    ++met[broken.row];
  }
  for (const auto* row : checked_requirements<Op>())
    EXPECT_GT(met[std::string(row->id)], 0) << row->id;
}

TEST(SelectedArguments, EveryMutantAnswersSomeCallWrongly) {
  Op::Problem whole = packed();  // the lists contain all blocks
  whole.lengths_kv = {48, 48, 96};
  Op::Problem grouped = whole;
  grouped.head_dim_v = 128;
  const std::vector<Broken> calls = broken_calls();
  for (const Mutant& mutant : argument_mutants()) {
    if (mutant.healthy) continue;
    const bool lax =
        std::ranges::any_of(calls, [&](const Broken& broken) { return !refuses(mutant, broken); });
    EXPECT_TRUE(lax || !accepts(mutant, whole) || !accepts(mutant, grouped) ||
                !accepts(mutant, {.seq_q = 131072}))
        << mutant.name;
  }
}

}  // namespace
}  // namespace assay::mutants::selected
