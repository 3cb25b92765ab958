#include "operators/flash_attention_score_grad/relations/cascade.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../../changed_kernel.hpp"
#include "../../printed.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/mutants/mutant.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using Kernel = spec::Implementation<Op>;
using testing::printed;

/// Returns the hand-written cases of the relation "cascade" (forward, then backward), each with its
/// own seed.
std::vector<Case<Op>> cases(std::uint64_t seed) {
  std::vector<Case<Op>> all = hand_made_cases<Op>("relations");
  std::erase_if(all, [](const Case<Op>& c) { return c.relation != flash::cascade_name; });
  for (Case<Op>& c : all) c.seed = seed++;
  return all;
}

const TensorReport* find(const CaseReport& report, const std::string& name) {
  const auto found = std::ranges::find(report.tensors, name, &TensorReport::name);
  return found == report.tensors.end() ? nullptr : &*found;
}

double yardstick(const TensorReport& tensor, const std::string& name) {
  for (const auto& [own, value] : tensor.yardsticks)
    if (own == name) return value;
  return -1;
}

std::vector<mutants::Mutant> mutants(bool healthy) {
  std::vector<mutants::Mutant> all = mutants::mutants<spec::FlashAttentionScoreGrad>();
  std::erase_if(all, [&](const mutants::Mutant& mutant) {
    return mutant.subject == mutants::Subject::arguments || mutant.healthy != healthy ||
           (!healthy && mutant.subject != mutants::Subject::forward);
  });
  return all;
}

TEST(Cascade, OptimizedKernelConformsOnSeveralSeeds) {
  const auto kernel = optimized::flash_attention_score_grad(device::a2());
  for (const std::uint64_t seed : {1, 1001, 2001})
    for (const Case<Op>& c : cases(seed)) {
      const CaseReport report = judge_case(c, *kernel);
      EXPECT_EQ(contribution(report.verdict), ExitCode::conformant) << printed(report);
      EXPECT_NE(report.verdict, Verdict::not_applicable) << printed(report);
      EXPECT_TRUE(report.value_case);
    }
}

/// Each kernel is judged on only some of the cases, so that every case runs with six kernels.
TEST(Cascade, EveryHealthyMutantConforms) {
  std::size_t turn = 0;
  for (const mutants::Mutant& mutant : mutants(true)) {
    const auto kernel = mutant.make();
    const std::vector<Case<Op>> all = cases(1000 * turn);
    std::size_t conforming = 0;
    for (std::size_t k = turn++ % 3; k < all.size(); k += 3) {
      const CaseReport report = judge_case(all[k], *kernel);
      EXPECT_EQ(contribution(report.verdict), ExitCode::conformant) << mutant.name << "\n"
                                                                    << printed(report);
      conforming += report.verdict == Verdict::not_applicable ? 0 : 1;
    }
    EXPECT_GE(conforming, 2U) << mutant.name;
  }
}

/// E40, E41, E42.
TEST(Cascade, CatchesEveryForwardMutantByItsOwnTensor) {
  const std::pair<const char*, const char*> expected[] = {
      {"forward_sum_counts_masked", "softmax_sum"},    {"forward_max_before_bias", "softmax_max"},
      {"forward_output_not_rescaled", "attention_in"}, {"forward_sum_of_dropped", "softmax_sum"},
      {"forward_one_replica", "softmax_max"},          {"forward_dead_sum_of_one", "softmax_sum"}};
  const auto catches = [](Kernel& kernel, const Case<Op>& c, const std::string& tensor) {
    const CaseReport report = judge_case(c, kernel);
    return contribution(report.verdict) == ExitCode::nonconformant &&
           report.findings.front().tensor == tensor;
  };
  const std::vector<mutants::Mutant> injected = mutants(false);
  ASSERT_EQ(injected.size(), std::size(expected));
  for (std::size_t k = 0; k < injected.size(); ++k) {
    const auto& [name, tensor] = expected[k];
    ASSERT_EQ(injected[k].name, name);
    const auto kernel = injected[k].make();
    EXPECT_TRUE(std::ranges::any_of(cases(77), [&](const Case<Op>& c) {
      return catches(*kernel, c, tensor);
    })) << name;
  }
}

TEST(Cascade, JudgesStatisticsOutputAndGradientsAndReportsTheDistance) {
  const auto kernel = optimized::flash_attention_score_grad(device::a2());
  for (const Case<Op>& c : cases(5)) {
    const CaseReport report = judge_case(c, *kernel);
    for (const char* name : {"softmax_max", "softmax_sum", "attention_in", "dq", "dk", "dv"}) {
      const TensorReport* tensor = find(report, name);
      ASSERT_NE(tensor, nullptr) << name;
      EXPECT_EQ(tensor->rows_judged, tensor->rows_total) << name;
      EXPECT_GT(tensor->elements_judged, 0) << name;
    }
    EXPECT_GT(yardstick(*find(report, "dq"), "end_to_end_error_over_tau"), 0);
    EXPECT_EQ(find(report, "attention_in")->controls.substr(0, 4), "Z+N+");
  }
}

/// A kernel with the same backward pass, but without a forward pass.
class BackwardOnly final : public Kernel {
 public:
  std::string name() const override { return "backward_only"; }
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    inner_->run(problem, inputs, outputs);
  }

 private:
  std::unique_ptr<Kernel> inner_ = optimized::flash_attention_score_grad(device::a2());
};

TEST(Cascade, DoesNotApplyWithoutAForward) {
  BackwardOnly kernel;
  const CaseReport report = judge_case(cases(1).front(), kernel);
  EXPECT_EQ(report.verdict, Verdict::not_applicable);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings.front().fact, FactKind::no_forward);
  Op::Inputs inputs;
  EXPECT_THROW(kernel.forward(cases(1).front().problem, inputs), std::logic_error);
}

/// A kernel with a faulty forward pass: the function `spoil` changes the tensors after the pass.
class Spoiler final : public Kernel {
 public:
  explicit Spoiler(std::function<void(Op::Inputs&)> spoil) : spoil_(std::move(spoil)) {}
  std::string name() const override { return "spoiler"; }
  bool has_forward() const override { return true; }
  void forward(const Op::Problem& problem, Op::Inputs& inputs) override {
    inner_->forward(problem, inputs);
    spoil_(inputs);
  }
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    inner_->run(problem, inputs, outputs);
  }

 private:
  std::function<void(Op::Inputs&)> spoil_;
  std::unique_ptr<Kernel> inner_ = optimized::flash_attention_score_grad(device::a2());
};

TEST(Cascade, SeesBytesThatAForwardMustLeaveAlone) {
  Case<Op> c = cases(1).front();
  c.inputs = spec::Striding::padded;
  for (const auto& [tensor, byte] : {std::pair{&Op::Inputs::query, 0},
                                     {&Op::Inputs::dy, 8},
                                     {&Op::Inputs::softmax_max, 0},
                                     {&Op::Inputs::attention_in, 0}}) {
    Spoiler kernel([tensor, byte](Op::Inputs& inputs) {
      (inputs.*tensor).bytes[static_cast<std::size_t>(byte)] ^= std::byte{0x40};
    });
    EXPECT_EQ(judge_case(c, kernel).verdict, Verdict::nonconformant_structural);
  }
}

/// A kernel whose forward pass saves only m + ln z, with an error in the logarithm.
class SavesLse final : public spec::PassesOn<Op> {
 public:
  SavesLse(Kernel& kernel, double error, bool declares)
      : spec::PassesOn<Op>(kernel), error_(error), declares_(declares) {}
  spec::Numerics numerics(const Op::Problem& problem) const override {
    spec::Numerics numerics = inner_.numerics(problem);
    if (declares_) numerics.saves = spec::Saved::lse, numerics.log_error = 1e-3;
    return numerics;
  }
  void forward(const Op::Problem& problem, Op::Inputs& inputs) override {
    inner_.forward(problem, inputs);
    testing::change_statistics(inputs, [&](double m, double z) {
      if (m <= -std::numeric_limits<float>::max() || z == 0)
        return std::pair(-std::numeric_limits<double>::infinity(), 1.0);
      return std::pair(m + std::log(z) + error_ * std::max(1.0, std::abs(std::log(z))), 1.0);
    });
  }

 private:
  double error_;
  bool declares_;
};

TEST(Cascade, KernelThatSavesADeclaredLogSumExpConforms) {
  const auto inner = optimized::flash_attention_score_grad(device::a2());
  SavesLse kernel(*inner, 0.98e-3, true), undeclared(*inner, 0, false), wrong(*inner, 5e-3, true);
  std::size_t failed = 0;
  for (const Case<Op>& c : cases(9)) {
    const CaseReport report = judge_case(c, kernel);
    EXPECT_EQ(contribution(report.verdict), ExitCode::conformant) << printed(report);
    EXPECT_NE(report.verdict, Verdict::not_applicable) << printed(report);
    EXPECT_EQ(find(report, "softmax_sum"), nullptr);
    EXPECT_EQ(contribution(judge_case(c, undeclared).verdict), ExitCode::nonconformant);
    const CaseReport of_wrong = judge_case(c, wrong);
    failed += contribution(of_wrong.verdict) == ExitCode::nonconformant &&
                      of_wrong.findings.front().tensor == "softmax_max"
                  ? 1
                  : 0;
  }
  EXPECT_EQ(failed, cases(9).size());
}

TEST(Cascade, SeesATensorThatAForwardReplaced) {
  // With the memory order "heads within queries" the same bytes have another meaning.
  Spoiler kernel([](Op::Inputs& inputs) {
    spec::Tensor& maximum = inputs.softmax_max;
    maximum.strides[1] = spec::statistics_replicas;
    maximum.strides[2] = spec::statistics_replicas * maximum.shape[1];
  });
  const CaseReport report = judge_case(cases(1).front(), kernel);
  EXPECT_TRUE(std::ranges::any_of(report.findings, [](const Finding& finding) {
    return finding.fact == Fact(FactKind::forward_wrote_elsewhere, "softmax_max");
  }));
}

}  // namespace
}  // namespace assay::conformance
