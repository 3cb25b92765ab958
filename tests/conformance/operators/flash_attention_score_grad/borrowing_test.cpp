#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/device/ascend.hpp"
#include "assay/fixtures/record.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// The optimized kernel, except that it changes an element of the input `key` before one of its
/// runs. Runs count from 1.
class Meddler final : public spec::Implementation<Op> {
 public:
  explicit Meddler(int meddling_run) : meddling_run_(meddling_run) {}
  std::string name() const override { return "meddler"; }
  bool checks_arguments() const override { return false; }
  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    return healthy_->unsupported(call);
  }
  spec::Numerics numerics(const Op::Problem& problem) const override {
    return healthy_->numerics(problem);
  }
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    if (++runs_ == meddling_run_)
      const_cast<std::byte*>(inputs.key.bytes.data())[1] ^= std::byte{1};
    healthy_->run(problem, inputs, outputs);
  }

 private:
  int meddling_run_, runs_ = 0;
  std::unique_ptr<spec::Implementation<Op>> healthy_ =
      optimized::flash_attention_score_grad(device::a2());
};

/// Makes a case with `batch` sequences, each with 3 MiB of keys and values.
Case<Op> case_of(std::int64_t batch, Track track) {
  Case<Op> c{.track = track};
  c.problem = {.input_layout = spec::Layout::bnsd,
               .dtype = spec::DType::bf16,
               .batch = batch,
               .heads_q = 64,
               .heads_kv = 64,
               .seq_q = 1,
               .seq_kv = 16,
               .head_dim = 768,
               .head_dim_v = 768,
               .scale_value = 0.03125};
  return c;
}

constexpr int none = 0;

/// The judge passes a copy of small inputs to the kernel, but large inputs without a copy. If the
/// kernel changed large inputs, the judge must generate them again. It must also do so before a
/// second run, which checks whether the kernel adds in a fixed order.
TEST(Borrowing, ChangedInputsDoNotAffectLaterKernels) {
  for (const std::int64_t batch : {1, 12})
    for (const Track track : {Track::bound, Track::exact})
      for (const int run : {1, 2}) {
        if (run == 2 && (batch == 1 || track == Track::exact)) continue;
        PreparedCase<Op> prepared(case_of(batch, track));
        Meddler meddling(run), healthy(none);
        const spec::Numerics numerics = healthy.numerics(prepared.judged_case().problem);
        const std::string drawn = fixtures::digest(prepared.inputs(numerics).key);
        const CaseReport report = judge_case(prepared, meddling);
        EXPECT_EQ(report.verdict, Verdict::nonconformant_structural);
        EXPECT_EQ(evidence_of(report),
                  std::string(run == 2 ? "second run: " : "") + "the input key was modified");
        EXPECT_EQ(fixtures::digest(prepared.inputs(numerics).key), drawn) << batch << " " << run;
        EXPECT_EQ(judge_case(prepared, healthy).verdict, Verdict::conforms) << batch << " " << run;
      }
}

}  // namespace
}  // namespace assay::conformance
