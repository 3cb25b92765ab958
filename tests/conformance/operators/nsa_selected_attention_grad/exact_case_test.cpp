#include <gtest/gtest.h>

#include <concepts>
#include <map>
#include <string>
#include <vector>

#include "../../printed.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/conformance/report/record.hpp"
#include "assay/reference/nsa_selected_attention.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "mutants.hpp"
#include "nsa_selected_attention_grad/kernel.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance {
namespace {

using testing::printed;
using testing::selected::healthy;
using testing::selected::judged;
using Op = spec::NsaSelectedAttentionGrad;
using spec::Rounding;

spec::Numerics staged(spec::DType dtype) { return {.stage = dtype, .fused = false}; }

TEST(SelectedExactCase, HealthyKernelsAreExactInEveryOrder) {
  std::size_t turn = 0;
  for (const Case<Op>& c : hand_made_cases<Op>("exact")) {
    const CaseReport report = judged(c, healthy(turn++));
    EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
  }
}

/// In a C API, only the call says where the elements of a tensor are in memory (offset and
/// strides).
TEST(SelectedExactCase, TensorsLieWhereTheCallSays) {
  Case<Op> c = hand_made_cases<Op>("exact")[0];
  for (const spec::Striding all : {spec::Striding::transposed, spec::Striding::mixed}) {
    c.inputs = all;
    c.inputs.set("attention_out", spec::Striding::padded);
    const Op::Inputs inputs = Suite<Op>::exact(c, staged(c.problem.dtype)).inputs;
    std::map<std::string, spec::Parameter> described;
    Op::Parameters parameters = call_of(c).parameters;
    visit_fields(parameters, [&]<class Member>(const char* name, const Member& member) {
      if constexpr (std::same_as<Member, spec::Parameter>) described[name] = member;
    });
    for (const auto& [name, tensor] : named_tensors(inputs)) {
      EXPECT_EQ(tensor.strides, described.at(name).strides) << name;
      EXPECT_EQ(tensor.offset, described.at(name).offset) << name;
    }
  }
}

/// Compares the statistics and the output in an exact case with a forward pass on the same data. If
/// they agree, a kernel needs no special code for exact cases.
TEST(SelectedExactCase, StatisticsAndOutputAreConsistent) {
  for (const char* lists : {"duplicates", "all_equal", "shuffled"}) {
    Case<Op> c = hand_made_cases<Op>("exact")[0];
    c.patterns.lists = lists;
    const auto exact_case = Suite<Op>::exact(c, staged(c.problem.dtype));
    const auto operands = reference::operands_of<double>(c.problem, exact_case.inputs);
    const auto forward = reference::forward<double>(c.problem, operands);
    std::int64_t exact = 0;
    for (std::size_t row = 0; row < forward.softmax_max.size(); ++row) {
      EXPECT_EQ(operands.softmax_max[row], forward.softmax_max[row]);
      EXPECT_NEAR(operands.softmax_sum[row], forward.softmax_sum[row], 1e-9);
      exact += operands.softmax_sum[row] <= 8 ? 1 : 0;
    }
    EXPECT_GT(exact, 0) << lists;
    for (std::size_t k = 0; k < forward.attention_out.size(); ++k)
      ASSERT_NEAR(operands.attention_out[k], forward.attention_out[k], 0x1p-8) << lists;
  }
}

TEST(SelectedExactCase, ExactGradientsAreThoseOfTheReference) {
  const Case<Op> c = hand_made_cases<Op>("exact")[2];
  const auto exact_case = Suite<Op>::exact(c, staged(c.problem.dtype));
  const auto reference =
      reference::NsaSelectedAttentionGrad<double>::from(c.problem, exact_case.inputs);
  const std::vector<ExactTensor> tensors = Suite<Op>::exact_tensors(exact_case, c.problem);
  const spec::Extents queries = query_extents(c.problem), keys = key_extents(c.problem);
  const auto expect_row = [](const ExactTensor& tensor, std::size_t k,
                             const std::vector<double>& row) {
    for (std::size_t d = 0; d < row.size(); ++d) {
      const Dyadic& x = tensor.exact[k * row.size() + d];
      EXPECT_NEAR(std::ldexp(static_cast<double>(x.numerator), x.exponent), row[d],
                  1e-12 * std::abs(row[d]) + 1e-30);
    }
  };
  for (std::size_t k = 0; k < tensors[0].rows.size(); ++k) {
    const auto [b, n, i] = queries.position(tensors[0].rows[k]);
    expect_row(tensors[0], k, reference.dq_row(b, n, i));
  }
  for (std::size_t k = 0; k < tensors[1].rows.size(); ++k) {
    const auto [b, kv, j] = keys.position(tensors[1].rows[k]);
    const auto row = reference.dkv_row(b, kv, j);
    expect_row(tensors[1], k, row.dk);
    expect_row(tensors[2], k, row.dv);
  }
}

/// Runs every faulty kernel on the exact cases (every correct kernel gives the same bits) until one
/// case detects the fault.
TEST(SelectedExactCase, FaultsAreCaught) {
  const std::vector<Case<Op>> cases = hand_made_cases<Op>("exact");
  for (const char* bug : {"diagonal_block_whole",
                          "diagonal_block_dropped",
                          "mask_hides_diagonal",
                          "mask_ignored",
                          "mask_inverted",
                          "duplicates_once",
                          "lists_of_first_head",
                          "first_slot_twice",
                          "last_slot_dropped",
                          "blocks_over_all_tokens",
                          "row_term_missing",
                          "row_term_of_first_head",
                          "scale_missing_on_dk",
                          "last_head_of_group_only",
                          "statistics_of_next_token",
                          "sum_ignored",
                          "truncating_staging",
                          "truncating_cast",
                          "outputs_not_cleared",
                          "scale_one_percent_more"}) {
    bool caught = false;
    for (std::size_t k = 0; k < cases.size() && !caught; ++k)
      caught = contribution(judged(cases[k], bug).verdict) == ExitCode::nonconformant;
    EXPECT_TRUE(caught) << bug;
  }
}

/// The injected fault rounds numbers half-way between two representable numbers in the other
/// direction. Only a comparison of bits can detect this, not an error bound.
TEST(SelectedExactCase, UndeclaredRoundingIsCaught) {
  const mutants::Plan even, away = {.round_stage = Rounding::rna, .round_out = Rounding::rna};
  mutants::selected::Kernel kernel("undeclared", away, even);
  bool caught = false;
  for (const Case<Op>& c : hand_made_cases<Op>("exact"))
    caught |= judge_case(c, kernel).verdict == Verdict::nonconformant_structural;
  EXPECT_TRUE(caught);
}

TEST(SelectedExactCase, NeedsARowThatAttendsToAPowerOfTwo) {
  Case<Op> c = hand_made_cases<Op>("exact")[0];
  c.patterns.lists = "all_equal";
  c.problem.selected_block_count = 3;
  EXPECT_THROW(Suite<Op>::exact(c, staged(c.problem.dtype)), NoExactCase);
}

}  // namespace
}  // namespace assay::conformance
