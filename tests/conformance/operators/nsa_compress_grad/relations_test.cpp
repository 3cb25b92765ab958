#include "assay/conformance/judge/relations.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "judge/relations/prepared_relation.hpp"
#include "kernel.hpp"
#include "operators/nsa_compress_grad/traits.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance {
namespace {

using CompressCase = Case<spec::NsaCompressGrad>;
using testing::CompressKernel;
using testing::CompressOp;
using testing::CompressPlan;
using testing::SumOrder;

std::vector<CompressCase> all_cases() { return hand_made_cases<CompressOp>("relations"); }

std::vector<CompressCase> cases_of(std::string_view relation) {
  std::vector<CompressCase> cases = all_cases();
  std::erase_if(cases, [&](const CompressCase& c) { return c.relation != relation; });
  return cases;
}

TEST(CompressRelations, HealthyKernelsFulfilAllOfThem) {
  for (const SumOrder order : {SumOrder::ascending, SumOrder::windows}) {
    CompressKernel kernel(testing::healthy_plan(order));
    for (const CompressCase& c : all_cases()) {
      const CaseReport report = judge_case(c, kernel);
      EXPECT_EQ(report.verdict, Verdict::conforms)
          << report.command_line
          << (report.findings.empty() ? "" : sentence_of(report.findings[0], report));
      EXPECT_TRUE(report.value_case);
    }
  }
}

TEST(CompressRelations, AKernelOfAnyOrderFulfilsThemToo) {
  CompressKernel kernel(testing::healthy_plan(SumOrder::shuffled), {.order = spec::Order::any});
  for (const CompressCase& c : all_cases())
    EXPECT_EQ(judge_case(c, kernel).verdict, Verdict::conforms) << command_line(c);
}

/// A fault of a kernel: in its sums, its reads, or its writes.
struct Fault {
  CompressPlan plan = testing::healthy_plan();
  void (*reads)(CompressOp::Inputs&) = [](CompressOp::Inputs&) {};
  void (*leaves)(const CompressOp::Inputs&, CompressOp::Outputs&) = [](const CompressOp::Inputs&,
                                                                       CompressOp::Outputs&) {};
};

class Faulty final : public spec::Implementation<CompressOp> {
 public:
  explicit Faulty(Fault fault) : fault_(std::move(fault)), kernel_(fault_.plan) {}

  std::string name() const override { return "faulty"; }
  spec::Numerics numerics(const CompressOp::Problem& p) const override {
    return kernel_.numerics(p);
  }
  void run(const CompressOp::Problem& p, const CompressOp::Inputs& inputs,
           CompressOp::Outputs& outputs) override {
    CompressOp::Inputs read = inputs;
    fault_.reads(read);
    kernel_.run(p, read, outputs);
    fault_.leaves(inputs, outputs);
  }

 private:
  Fault fault_;
  CompressKernel kernel_;
};

/// Adds a number to the first element of a tensor.
void add_to_first(spec::Tensor& tensor, double residue) {
  tensor.store(tensor.offset, tensor.load(tensor.offset) + residue);
}

Fault workspace_not_zeroed() {
  Fault fault;
  fault.leaves = [](const CompressOp::Inputs&, CompressOp::Outputs& outputs) {
    add_to_first(outputs.input_grad, 2);
    add_to_first(outputs.weight_grad, 2);
  };
  return fault;
}

Fault operands_mixed_up() {
  Fault fault;
  fault.leaves = [](const CompressOp::Inputs& inputs, CompressOp::Outputs& outputs) {
    add_to_first(outputs.input_grad, 8 * inputs.input.load(inputs.input.offset));
    add_to_first(outputs.weight_grad, 8 * inputs.weight.load(inputs.weight.offset));
  };
  return fault;
}

Fault weights_of_first_head() {
  Fault fault;
  fault.reads = [](CompressOp::Inputs& inputs) {
    const auto elements = spec::viewed_elements(inputs.weight);
    const auto heads = static_cast<std::size_t>(inputs.weight.shape[1]);
    for (std::size_t k = 0; k < elements.size(); ++k)
      inputs.weight.store(elements[k], inputs.weight.load(elements[k / heads * heads]));
  };
  return fault;
}

Fault strides_ignored() {
  Fault fault;
  fault.reads = [](CompressOp::Inputs& inputs) {
    for (spec::Tensor* tensor : {&inputs.output_grad, &inputs.input, &inputs.weight})
      tensor->strides = spec::contiguous_strides(tensor->shape), tensor->offset = 0;
  };
  return fault;
}

using Start = std::int64_t (*)(const CompressOp::Problem&, std::int64_t b, std::int64_t i);

Fault starting_at(Start start) {
  Fault fault;
  fault.plan.start = start;
  return fault;
}

Fault late_after_empty() {
  return starting_at([](const CompressOp::Problem& p, std::int64_t b, std::int64_t i) {
    return i * p.compress_stride + (b > 0 && p.length(b - 1) == 0 ? 1 : 0);
  });
}

/// Injects the fault that the kernel in the vendor's repository has.
Fault misplaced_after_short() {
  return starting_at([](const CompressOp::Problem& p, std::int64_t b, std::int64_t i) {
    const bool is_after_short =
        i == 0 && b > 0 && p.length(b - 1) > 0 && p.length(b - 1) < p.compress_block_size;
    return is_after_short ? -p.length(b - 1) : i * p.compress_stride;
  });
}

Fault windows_side_by_side() {
  return starting_at([](const CompressOp::Problem& p, std::int64_t, std::int64_t i) {
    return i * p.compress_block_size;
  });
}

Fault windows_late() {
  return starting_at([](const CompressOp::Problem& p, std::int64_t, std::int64_t i) {
    return i * p.compress_stride + 1;
  });
}

Fault overlap_counted_once() {
  Fault fault;
  fault.plan.overlap = false;
  return fault;
}

Fault channels_missing() {
  Fault fault;
  fault.plan.weight_channels = 16;
  return fault;
}

/// For each relation (a statement about several runs), a fault that violates it.
const std::map<std::string_view, Fault (*)()>& caught() {
  static const std::map<std::string_view, Fault (*)()> table = {
      {"scale_dy", workspace_not_zeroed},
      {"scale_weight", workspace_not_zeroed},
      {"scale_input", workspace_not_zeroed},
      {"zero_dy", workspace_not_zeroed},
      {"linear_dy", workspace_not_zeroed},
      {"linear_weight", workspace_not_zeroed},
      {"linear_input", workspace_not_zeroed},
      {"other_weight", operands_mixed_up},
      {"other_input", operands_mixed_up},
      {"count_windows", overlap_counted_once},
      {"isolate_window", windows_late},
      {"contraction", channels_missing},
      {"strided_view", strides_ignored},
      {"sequences_alone", misplaced_after_short},
      {"permute_sequences", misplaced_after_short},
      {"drop_short", misplaced_after_short},
      {"leading_empty", late_after_empty},
      {"repeated_sums", late_after_empty},
      {"permute_heads", weights_of_first_head},
      {"heads_alone", weights_of_first_head},
      {"channels_alone", channels_missing},
      {"append_tail", windows_late},
      {"shift_by_stride", windows_side_by_side}};
  return table;
}

class EveryCompressRelation : public ::testing::TestWithParam<const Relation<CompressOp>*> {};

TEST_P(EveryCompressRelation, ShowsAFault) {
  const auto fault = caught().find(GetParam()->name);
  ASSERT_NE(fault, caught().end()) << "no injected fault for " << GetParam()->name;
  Faulty kernel(fault->second());
  bool shown = false;
  for (const CompressCase& c : cases_of(GetParam()->name))
    shown |= contribution(judge_case(c, kernel).verdict) == ExitCode::nonconformant;
  EXPECT_TRUE(shown);
}

INSTANTIATE_TEST_SUITE_P(All, EveryCompressRelation,
                         ::testing::ValuesIn(RelationParts<CompressOp>::relations()),
                         [](const auto& parameter) { return std::string(parameter.param->name); });

/// Returns the names of the relations (statements about several runs) that the fault violates in at
/// least one case.
std::set<std::string> broken_by(const Fault& fault) {
  Faulty kernel(fault);
  std::set<std::string> names;
  for (const CompressCase& c : all_cases())
    if (contribution(judge_case(c, kernel).verdict) == ExitCode::nonconformant)
      names.insert(c.relation);
  return names;
}

TEST(CompressRelations, IgnoreFaultsOutsideTheirScope) {
  EXPECT_EQ(broken_by(overlap_counted_once()),
            (std::set<std::string>{"contraction", "count_windows", "isolate_window"}));
  EXPECT_FALSE(broken_by(misplaced_after_short()).contains("heads_alone"));
}

TEST(CompressRelations, AreListedWithCasesOfTheirDomain) {
  const std::vector<RelationText> listed = relation_texts<CompressOp>();
  EXPECT_GE(listed.size(), 20u);
  for (const RelationText& relation : listed) {
    const auto cases = cases_of(relation.name);
    EXPECT_GE(cases.size(), 2u) << relation.name;
    for (const CompressCase& c : cases) EXPECT_EQ(c.relation, relation.name);
  }
  EXPECT_THROW(relation_of<CompressOp>("nonesuch"), std::invalid_argument);
}

}  // namespace
}  // namespace assay::conformance
