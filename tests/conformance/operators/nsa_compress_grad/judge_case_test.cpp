#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>

#include "../../printed.hpp"
#include "assay/conformance/judge/other_numerics.hpp"
#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/report/record.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/conformance/sweep/shrink.hpp"
#include "assay/spec/not_asked.hpp"
#include "compression/plan/calls.hpp"
#include "kernel.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance {
namespace {

using testing::CompressKernel;
using testing::CompressOp;
using testing::CompressPlan;
using testing::printed;
using testing::SumOrder;
using CompressCase = Case<CompressOp>;
using Problem = CompressOp::Problem;
using spec::DType;

CompressCase case_of(const std::string& words) {
  return parse_case<CompressOp>(case_words("nsa_compress_grad " + words, CompressOp::name));
}

constexpr const char* small_case =
    "--lengths=0,75,20,64 --heads=2 --compress_block_size=48 --dtype=fp16";

TEST(CompressJudgement, HealthyKernelConformsOnEveryTrack) {
  for (const std::string track : {"bound", "exact", "exact_staged"})
    for (const std::string dtype : {"fp16", "bf16"})
      for (const std::string views : {"", " --inputs=padded --outputs=transposed"}) {
        const CompressCase c = case_of("--lengths=0,75,20,64 --heads=2 --compress_block_size=48" +
                                       views + " --dtype=" + dtype + " --track=" + track);
        CompressKernel kernel(testing::healthy_plan(SumOrder::pairwise));
        const CaseReport report = judge_case(c, kernel);
        EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
        ASSERT_EQ(report.tensors.size(), 2u);
        for (const TensorReport& tensor : report.tensors)
          EXPECT_EQ(tensor.controls, "Z+N+L+S+W+") << tensor.name;
        EXPECT_TRUE(std::ranges::count(report.accepted_requirements, "NSAC-C12") == 1);
      }
}

/// A kernel that rounds products to bf16 without declaring it. In calls with three heads the kernel
/// has a second fault.
class ProductsInBf16 final : public spec::PassesOn<CompressOp> {
 public:
  ProductsInBf16() : PassesOn(kernel_) {}
  void run_call(const spec::Call<CompressOp>& call, const Problem& p,
                const CompressOp::Inputs& inputs, CompressOp::Outputs& outputs) override {
    PassesOn::run_call(call, p, inputs, outputs);
    if (p.heads == 3) outputs.weight_grad.store(0, 100);
  }

 private:
  static CompressPlan plan() {
    CompressPlan plan = testing::healthy_plan();
    plan.stage = testing::to_bf16;
    return plan;
  }
  CompressKernel kernel_{plan()};
};

/// There are 40 failing cases. The last ones also fail because of the second fault. So the search
/// must begin with the first cases, when it tries whether another arithmetic explains the failures.
TEST(CompressJudgement, OtherNumericsMustExplainNineteenInTwentyFailingCases) {
  ProductsInBf16 kernel;
  const CompressCase small = case_of("--lengths=75,20,64 --heads=2 --dtype=bf16");
  for (const auto& [with_bug, are_said] : {std::pair{2u, true}, std::pair{3u, false}}) {
    std::vector<CompressCase> failing(40, small);
    for (std::size_t k = 0; k < failing.size(); ++k) {
      failing[k].seed = k;
      if (k >= failing.size() - with_bug) failing[k].problem.heads = 3;
    }
    const NumericsFit fit =
        NumericsSearch<CompressOp>(failing, kernel, [] { return false; }).best(small);
    EXPECT_EQ(!fit.text.empty(), are_said) << fit.text;
    EXPECT_EQ(fit.run, are_said ? 40 : 0);
    EXPECT_EQ(fit.conform, are_said ? 38 : 0);
  }
}

TEST(CompressJudgement, FindingsNameHeadAndRowOfTheWeight) {
  CompressPlan plan = testing::healthy_plan();
  plan.weight_factor = 1.25;
  CompressKernel kernel(plan);
  const CaseReport report = judge_case(case_of(small_case), kernel);
  EXPECT_EQ(report.verdict, Verdict::nonconformant_proven);
  ASSERT_GE(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].tensor, "weight_grad");
  ASSERT_TRUE(report.findings[0].pattern.has_value());
  EXPECT_EQ(report.findings[0].pattern->deviation.kind, DeviationKind::multiple);
  EXPECT_EQ(report.findings[0].pattern->deviation.factor, 1.25);
  EXPECT_TRUE(sentence_of(report.findings[1], report).starts_with("weight_grad(0,0,0,0) is "))
      << sentence_of(report.findings[1], report);
  EXPECT_EQ(report.tensors[0].name, "input_grad");
  EXPECT_LE(report.tensors[0].worst, 1);
}

TEST(CompressJudgement, ReusedPreparedCaseJudgesEveryProfile) {
  PreparedCase<CompressOp> prepared(case_of("--track=exact_staged"));
  for (const DType stage : {DType::fp32, DType::bf16}) {
    CompressPlan plan = testing::healthy_plan();
    if (stage == DType::bf16) plan.stage = testing::to_bf16;
    CompressKernel kernel(plan, {.stage = stage});
    EXPECT_EQ(judge_case(prepared, kernel).verdict, Verdict::conforms) << to_string(stage);
  }
}

/// A kernel that omits a step or writes too much. Only the checks of the outputs' structure (not
/// the tolerances) can detect these faults.
class Careless final : public spec::Implementation<CompressOp> {
 public:
  enum class Slip { unwritten_tail, residue, beside_view, nan_weight, input };
  explicit Careless(Slip slip) : slip_(slip), healthy_(testing::healthy_plan()) {}

  std::string name() const override { return "careless"; }
  void run(const Problem& p, const CompressOp::Inputs& inputs,
           CompressOp::Outputs& outputs) override {
    const spec::Tensor before = outputs.input_grad;
    healthy_.run(p, inputs, outputs);
    spec::Tensor& gradient = outputs.input_grad;
    const std::int64_t last = spec::viewed_elements(gradient).back();
    switch (slip_) {
      case Slip::unwritten_tail:
        gradient.store(last, before.load(last));
        break;
      case Slip::residue:
        gradient.store(last, 0x1p-14);
        break;
      case Slip::beside_view:
        gradient.store(0, 1);
        break;
      case Slip::nan_weight:
        outputs.weight_grad.store(spec::viewed_elements(outputs.weight_grad)[5],
                                  std::numeric_limits<double>::quiet_NaN());
        break;
      case Slip::input:
        const_cast<CompressOp::Inputs&>(inputs).weight.store(0, 1);
        break;
    }
  }

 private:
  Slip slip_;
  CompressKernel healthy_;
};

/// A kernel with results that are correct or wrong by one percent. The results differ in every run,
/// although the kernel declares a fixed order of additions.
class Moody final : public spec::Implementation<CompressOp> {
 public:
  explicit Moody(double factor) {
    CompressPlan plan = testing::healthy_plan();
    plan.weight_factor = factor;
    kernel_ = std::make_unique<CompressKernel>(plan);
  }
  std::string name() const override { return "moody"; }
  spec::Numerics numerics(const Problem&) const override { return {.order = spec::Order::fixed}; }
  void run(const Problem& p, const CompressOp::Inputs& inputs,
           CompressOp::Outputs& outputs) override {
    kernel_->run(p, inputs, outputs);
    if (++runs_ % 2 != 0) return;
    const std::int64_t first = spec::viewed_elements(outputs.input_grad).front();
    const double x = outputs.input_grad.load(first);
    outputs.input_grad.store(first, x + std::abs(x) * 0x1p-10);
  }

 private:
  std::unique_ptr<CompressKernel> kernel_;
  int runs_ = 0;
};

/// If the runs differ, a proven failure stays proven. If there is no failure, differing runs give
/// the verdict "nondeterministic".
TEST(CompressJudgement, DifferingRunsDoNotWeakenAProof) {
  const auto judged = [](double factor) {
    Moody kernel(factor);
    const CaseReport report = judge_case(case_of(small_case), kernel);
    EXPECT_EQ(std::ranges::count(report.findings, FindingRule::determinism, &Finding::rule), 1);
    return report.verdict;
  };
  EXPECT_EQ(judged(1), Verdict::nondeterministic);
  EXPECT_EQ(judged(1.25), Verdict::nonconformant_proven);
}

TEST(CompressJudgement, StructureIsCheckedInEveryElement) {
  // The last sequence has 11 tokens after its last window. Only a few of its rows are judged.
  const CompressCase c = case_of("--lengths=64,75 --rows=2 --inputs=padded --outputs=padded");
  for (const auto slip :
       {Careless::Slip::unwritten_tail, Careless::Slip::residue, Careless::Slip::beside_view,
        Careless::Slip::nan_weight, Careless::Slip::input}) {
    Careless kernel(slip);
    const CaseReport report = judge_case(c, kernel);
    EXPECT_EQ(report.verdict, Verdict::nonconformant_structural) << static_cast<int>(slip);
  }
}

TEST(CompressJudgement, LargeCasesAreCertifiedInPart) {
  const CompressCase c = case_of("--seq=4000 --heads=1 --head_dim=64 --rows=8 --batch=1");
  CompressKernel kernel(testing::healthy_plan());
  const CaseReport report = judge_case(c, kernel);
  EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
  EXPECT_EQ(report.tensors[0].rows_judged, 8);
  EXPECT_EQ(report.tensors[1].rows_judged, 8);
}

TEST(CompressJudgement, ViolationsAreRefused) {
  CompressKernel kernel(testing::healthy_plan());
  for (const CompressCase& c : compression::violation_cases<CompressOp>()) {
    const CaseReport report = judge_case(c, kernel);
    EXPECT_TRUE(report.verdict == Verdict::rejected_as_specified ||
                report.verdict == Verdict::not_applicable)
        << printed(report);
  }
}

/// A kernel without argument checks fails every case that violates a binding requirement.
class Unchecked final : public spec::Implementation<CompressOp> {
 public:
  std::string name() const override { return "unchecked"; }
  void run(const Problem&, const CompressOp::Inputs&, CompressOp::Outputs&) override {}
};

/// The same kernel without argument checks, which now declares that it has none.
class WithoutChecks final : public spec::Implementation<CompressOp> {
 public:
  std::string name() const override { return "without checks"; }
  bool checks_arguments() const override { return false; }
  void run(const Problem&, const CompressOp::Inputs&, CompressOp::Outputs&) override {}
};

TEST(CompressJudgement, Phase1CallsDoNotApplyToKernelsWithoutChecks) {
  CompressCase legal = case_of(small_case);
  legal.track = Track::arguments;
  WithoutChecks without;
  const CaseReport report = judge_case(legal, without);
  EXPECT_EQ(report.verdict, Verdict::not_applicable) << printed(report);
  EXPECT_TRUE(report.accepted_requirements.empty());
  Unchecked accepting;  // claims to check arguments, but finds no error
  const CaseReport accepted = judge_case(legal, accepting);
  EXPECT_EQ(accepted.verdict, Verdict::conforms) << printed(accepted);
  EXPECT_FALSE(accepted.accepted_requirements.empty());
}

TEST(CompressJudgement, AcceptedViolationsAreWrong) {
  Unchecked kernel;
  std::set<std::string> rows;
  for (const CompressCase& c : compression::violation_cases<CompressOp>()) {
    const CaseReport report = judge_case(c, kernel);
    if (report.verdict == Verdict::not_applicable) continue;
    EXPECT_EQ(report.verdict, Verdict::accepted_wrongly) << printed(report);
    rows.insert(report.violated_requirement);
  }
  EXPECT_GE(rows.size(), 15u);
}

/// Refuses every call with the same status code.
class Refusing final : public spec::Implementation<CompressOp> {
 public:
  explicit Refusing(std::int32_t code) : status_(static_cast<spec::Status>(code)) {}
  std::string name() const override { return "refusing"; }
  void check(const spec::Call<CompressOp>&) const override { throw spec::Rejected(status_, "no"); }
  void run(const Problem&, const CompressOp::Inputs&, CompressOp::Outputs&) override {}

 private:
  spec::Status status_;
};

CompressCase violation_of(std::string_view row) {
  for (const CompressCase& c : compression::violation_cases<CompressOp>())
    if (c.violate.starts_with(std::string(row) + ":")) return c;
  throw std::invalid_argument("no call breaks " + std::string(row));
}

/// A kernel that declares one supported head dimension, and refuses no call.
class OneHeadDim final : public spec::Implementation<CompressOp> {
 public:
  explicit OneHeadDim(std::int64_t head_dim) : head_dim_(head_dim) {}
  std::string name() const override { return "one head dimension"; }
  std::optional<std::string> unsupported(const spec::Call<CompressOp>& call) const override {
    if (call.parameters.input.shape.back() == head_dim_) return {};
    return "the head dimension is not offered";
  }
  void run(const Problem&, const CompressOp::Inputs&, CompressOp::Outputs&) override {}

 private:
  std::int64_t head_dim_;
};

/// A kernel need not reject an invalid call if it does not support the corresponding valid call.
TEST(CompressJudgement, ABrokenCallIsJudgedOnlyIfTheUnbrokenOneIsSupported) {
  const CompressCase c = violation_of("NSAC-C16");
  OneHeadDim offered(c.problem.head_dim), other(c.problem.head_dim + 16);
  const CaseReport judged = judge_case(c, offered);
  EXPECT_EQ(judged.verdict, Verdict::accepted_wrongly) << printed(judged);
  const CaseReport left_out = judge_case(c, other);
  EXPECT_EQ(left_out.verdict, Verdict::not_applicable) << printed(left_out);
  EXPECT_NE(printed(left_out).find("the head dimension is not offered"), std::string::npos)
      << printed(left_out);
  EXPECT_EQ(left_out.violated_requirement, "NSAC-C16");
}

TEST(CompressJudgement, UndocumentedCodesAreDistinguished) {
  const CompressCase any = violation_of("NSAC-C16"), null_pointer = violation_of("NSAC-C02");
  for (const std::int32_t code : {161001, 161002, 361001, 561002, 561103}) {
    Refusing kernel(code);
    const bool documented = code < 200000;
    const CaseReport report = judge_case(any, kernel);
    EXPECT_EQ(report.verdict,
              documented ? Verdict::rejected_as_specified : Verdict::rejected_other_code)
        << code;
    ASSERT_FALSE(report.findings.empty());
    ASSERT_TRUE(report.findings[0].refusal.has_value());
    EXPECT_EQ(report.findings[0].refusal->status, code);
    EXPECT_FALSE(report.findings[0].refusal->documented.has_value());
    EXPECT_EQ(judge_case(null_pointer, kernel).verdict,
              code == 161001 ? Verdict::rejected_as_specified : Verdict::rejected_wrongly)
        << code;
  }
}

/// A kernel that throws an object of an unusual type, which only a general exception handler
/// catches: in phase 1 (argument check) or in the run.
class Escaping final : public spec::Implementation<CompressOp> {
 public:
  explicit Escaping(bool in_check) : in_check_(in_check) {}
  std::string name() const override { return "escaping"; }
  void check(const spec::Call<CompressOp>&) const override {
    if (in_check_) throw 1;
  }
  void run(const Problem&, const CompressOp::Inputs&, CompressOp::Outputs&) override { throw 1; }

 private:
  bool in_check_;
};

TEST(CompressJudgement, UncaughtExceptionIsACrash) {
  const CompressCase relation = hand_made_cases<CompressOp>("relations").front(),
                     legal = case_of(small_case);
  for (const bool in_check : {true, false}) {
    Escaping kernel(in_check);
    for (const CompressCase& c : {legal, relation}) {
      const CaseReport report = judge_case(c, kernel);
      EXPECT_EQ(report.verdict, Verdict::crash) << printed(report);
      EXPECT_NE(printed(report).find("not a std::exception"), std::string::npos);
    }
  }
  Escaping kernel(true);
  EXPECT_EQ(judge_case(violation_of("NSAC-C16"), kernel).verdict, Verdict::crash);
}

/// A kernel that no longer answers, as if its process had ended. The first request without an
/// answer is the argument check, the query of the declared arithmetic (numerics), or the run.
class OutOfReach final : public spec::Implementation<CompressOp> {
 public:
  enum class From { check, numerics, run };
  explicit OutOfReach(From from) : from_(from) {}
  std::string name() const override { return "out of reach"; }
  void check(const spec::Call<CompressOp>&) const override { miss(From::check); }
  spec::Numerics numerics(const Problem&) const override {
    miss(From::numerics);
    return {};
  }
  void run(const Problem&, const CompressOp::Inputs&, CompressOp::Outputs&) override {
    miss(From::run);
  }

 private:
  void miss(From at) const {
    if (at == from_) throw spec::NotAsked("no process is left");
  }
  From from_;
};

TEST(CompressJudgement, UnreachableKernelDoesNotFail) {
  using enum OutOfReach::From;
  const CompressCase relation = hand_made_cases<CompressOp>("relations").front(),
                     legal = case_of(small_case);
  for (const auto from : {check, numerics, run}) {
    OutOfReach kernel(from);
    for (const CompressCase& c : {legal, relation}) {
      const CaseReport report = judge_case(c, kernel);
      EXPECT_EQ(report.verdict, Verdict::tool_failure) << printed(report);
      EXPECT_NE(printed(report).find("the judge failed: no process is left"), std::string::npos)
          << printed(report);
    }
  }
  OutOfReach kernel(check);
  EXPECT_EQ(judge_case(violation_of("NSAC-C16"), kernel).verdict, Verdict::tool_failure);
}

TEST(CompressJudgement, UnknownViolationIsNotAKernelFault) {
  CompressCase c = case_of(small_case);
  c.track = Track::arguments;
  c.violate = "NSAC-C99:none";
  Unchecked kernel;
  const CaseReport report = judge_case(c, kernel);
  EXPECT_EQ(report.verdict, Verdict::tool_failure);
  EXPECT_NE(printed(report).find("--violate=NSAC-C99:none: accepted: "), std::string::npos)
      << printed(report);
}

TEST(CompressJudgement, FailuresShrinkToAFewWindows) {
  const CompressCase c =
      case_of("--lengths=200,0,130,40,300 --heads=3 --head_dim=48 --compress_block_size=64");
  CompressPlan plan = testing::healthy_plan();
  plan.overlap = false;
  CompressKernel kernel(plan);
  const auto judge = [&](const CompressCase& smaller) { return judge_case(smaller, kernel); };
  const Shrunk<CompressOp> shrunk =
      shrink<CompressOp>(c, judge(c), judge, {.runs = 400, .seconds = 600});
  const Problem& p = shrunk.smallest.problem;
  EXPECT_EQ(p.batch, 1);
  EXPECT_EQ(p.heads, 1);
  EXPECT_EQ(p.head_dim, 16);
  EXPECT_EQ(p.compress_block_size, 32);
  EXPECT_EQ(p.seq, 48);  // two windows
}

TEST(CompressJudgement, RefusesWhatMakesNoCase) {
  const auto refused = [](const std::string& words) -> std::string {
    try {
      case_of(words);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_TRUE(refused("--seq=31").find("NSAC-C21") != std::string::npos) << refused("--seq=31");
  const std::string no_window =
      "accepted: at least 32 (compress_block_size) tokens in --seq or in one";
  EXPECT_TRUE(refused("--lengths=31,5").starts_with("--lengths=31,5: " + no_window));
  EXPECT_TRUE(refused("--lengths=0,0").starts_with("--seq=0: " + no_window)) << "equal lengths";
  EXPECT_TRUE(refused("--dtype=fp32").starts_with("--dtype=fp32: accepted: fp16, bf16"));
  EXPECT_TRUE(refused("--compress_block_size=40").find("NSAC-C10") != std::string::npos);
  EXPECT_TRUE(refused("--compress_stride=48").find("NSAC-C12") != std::string::npos);
  EXPECT_TRUE(refused("--profile=peaked").starts_with("--profile=peaked: accepted: normal, "));
  EXPECT_TRUE(refused("--lengths=64,64,32 --batch=2").starts_with("--batch=2: accepted: 3"));
  EXPECT_TRUE(refused("--track=relation").find("count_windows") != std::string::npos);
  EXPECT_TRUE(refused("--seq=16777216 --heads=256 --head_dim=1024").find("GiB") !=
              std::string::npos);
}

}  // namespace
}  // namespace assay::conformance
