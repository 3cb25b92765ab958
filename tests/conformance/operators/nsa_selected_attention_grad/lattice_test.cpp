#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../../told.hpp"
#include "assay/conformance/judge/examination.hpp"
#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "kernel.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance {
namespace {

using testing::told;
using testing::selected::Fault;
using testing::selected::Order;
using testing::selected::Plan;
using Op = spec::NsaSelectedAttentionGrad;
using spec::Rounding;

CaseReport judged(const Case<Op>& c, const Plan& plan) {
  const auto kernel = testing::selected::kernel(plan);
  return examine(c, *kernel);
}

spec::NumericsProfile staged(spec::DType dtype) { return {.stage = dtype, .fused = false}; }

TEST(SelectedLattice, HealthyKernelsAreExactInEveryOrder) {
  constexpr Order orders[] = {Order::by_query, Order::backwards, Order::by_slot, Order::partial};
  std::size_t turn = 0;
  for (const Case<Op>& c : hand_made_cases<Op>("exact")) {
    const Plan plan{.rounding = turn % 2 == 0 ? Rounding::rne : Rounding::rna,
                    .order = orders[turn % 4]};
    ++turn;
    const CaseReport report = judged(c, plan);
    EXPECT_EQ(report.verdict, Verdict::conforms) << told(report);
  }
}

/// What a forward of the same data gives: the lattice is no special case for a kernel.
TEST(SelectedLattice, StatisticsAndOutputAreConsistent) {
  for (const char* lists : {"duplicates", "all_equal", "shuffled"}) {
    Case<Op> c = hand_made_cases<Op>("exact")[0];
    c.patterns.lists = lists;
    const auto lattice = Suite<Op>::exact(c, staged(c.problem.dtype));
    const auto operands = reference::operands_of<double>(c.problem, lattice.inputs);
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

TEST(SelectedLattice, ExactGradientsAreThoseOfTheReference) {
  const Case<Op> c = hand_made_cases<Op>("exact")[2];
  const auto lattice = Suite<Op>::exact(c, staged(c.problem.dtype));
  const auto reference =
      reference::NsaSelectedAttentionGrad<double>::from(c.problem, lattice.inputs);
  const std::vector<ExactTensor> tensors = Suite<Op>::exact_tensors(lattice, c.problem);
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

/// Every fault on the lattice cases until one shows it.
TEST(SelectedLattice, FaultsAreCaught) {
  const std::vector<Case<Op>> cases = hand_made_cases<Op>("exact");
  for (const Fault fault :
       {Fault::future_seen,         Fault::whole_blocks_hidden, Fault::diagonal_hidden,
        Fault::mask_ignored,        Fault::mask_in_mode_0,      Fault::counts_once,
        Fault::first_head_lists,    Fault::first_block_twice,   Fault::last_place_dropped,
        Fault::blocks_from_start,   Fault::row_term_missing,    Fault::row_term_of_first_head,
        Fault::dk_unscaled,         Fault::dv_of_group_head,    Fault::statistics_recomputed_late,
        Fault::softmax_sum_ignored, Fault::stage_truncates,     Fault::cast_truncates,
        Fault::output_not_cleared,  Fault::scale_one_percent}) {
    bool caught = false;
    for (std::size_t k = 0; k < cases.size() && !caught; ++k)
      caught = contribution(judged(cases[k], {.fault = fault}).verdict) == ExitCode::nonconformant;
    EXPECT_TRUE(caught) << static_cast<int>(fault);
  }
}

/// Ties go another way: seen by the bits, where no bound can see it.
TEST(SelectedLattice, ARoundingThatIsNotTheDeclaredOneIsCaught) {
  class Undeclared final : public spec::Implementation<Op> {
   public:
    Undeclared()
        : away_(testing::selected::kernel({.rounding = Rounding::rna})),
          even_(testing::selected::kernel({})) {}
    std::string name() const override { return "undeclared"; }
    spec::NumericsProfile numerics(const Op::Problem& p) const override {
      return even_->numerics(p);
    }
    void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
      away_->run(p, inputs, outputs);
    }

   private:
    std::unique_ptr<spec::Implementation<Op>> away_, even_;
  };
  Undeclared kernel;
  bool caught = false;
  for (const Case<Op>& c : hand_made_cases<Op>("exact"))
    caught |= examine(c, kernel).verdict == Verdict::nonconformant_structural;
  EXPECT_TRUE(caught);
}

TEST(SelectedLattice, WhereNoRowAttendsToAPowerOfTwoThereIsNone) {
  Case<Op> c = hand_made_cases<Op>("exact")[0];
  c.patterns.lists = "all_equal";
  c.problem.selected_block_count = 3;
  EXPECT_THROW(Suite<Op>::exact(c, staged(c.problem.dtype)), NoLattice);
}

}  // namespace
}  // namespace assay::conformance
