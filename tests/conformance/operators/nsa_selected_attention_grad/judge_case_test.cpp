#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "../../printed.hpp"
#include "assay/conformance/inputs/random.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "mutants.hpp"

namespace assay::conformance {
namespace {

using testing::printed;
using testing::selected::healthy;
using testing::selected::judged;
using testing::selected::plain;
using Op = spec::NsaSelectedAttentionGrad;

Case<Op> small_case(spec::DType dtype, std::int64_t mode, const std::string& lists) {
  Case<Op> c{.patterns = {.lists = lists}};
  c.problem = {.dtype = dtype,
               .batch = 2,
               .heads_q = 4,
               .heads_kv = 2,
               .seq_q = 37,
               .seq_kv = 96,
               .lengths_q = {37, 6},
               .lengths_kv = {80, 96},
               .head_dim = 192,
               .head_dim_v = 128,
               .scale_value = 0.0625,
               .selected_block_size = 16,
               .selected_block_count = 3,
               .sparse_mode = mode};
  if (mode == 2) c.problem.atten_mask = spec::SelectedMask::compressed;
  return c;
}

TEST(SelectedBound, HealthyKernelsConformOnEveryPatternOfLists) {
  std::size_t turn = 0;
  for (const InputProfile& pattern : list_patterns())
    for (const std::int64_t mode : {0, 2}) {
      Case<Op> c = small_case(turn % 2 == 0 ? spec::DType::bf16 : spec::DType::fp16, mode,
                              std::string(pattern.name));
      c.seed = 100 + turn;
      const CaseReport report = judged(c, healthy(turn++));
      EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
    }
}

bool has_note(const CaseReport& report, const std::string& text) {
  return std::ranges::any_of(report.findings, [&](const Finding& finding) {
    return sentence_of(finding, {}).find(text) != std::string::npos;
  });
}

/// A kernel with an additional check of its own. If the check passes, the kernel computes
/// correctly.
template <class Refuses>
class Choosy final : public spec::Implementation<Op> {
 public:
  explicit Choosy(Refuses refuses) : refuses_(refuses), kernel_(testing::selected::kernel(plain)) {}
  std::string name() const override { return "choosy"; }
  spec::Numerics numerics(const Op::Problem& p) const override { return kernel_->numerics(p); }
  void check(const spec::Call<Op>& call) const override {
    if (refuses_(call)) throw spec::Rejected(spec::Status::param_invalid, "not here");
  }
  void run(const Op::Problem& p, const Op::Inputs& in, Op::Outputs& out) override {
    kernel_->run(p, in, out);
  }

 private:
  Refuses refuses_;
  std::unique_ptr<spec::Implementation<Op>> kernel_;
};

/// The example in the documentation passes the format NCHW. So a kernel that accepts only ND
/// refuses a legal call.
TEST(SelectedVariants, AnotherPlainFormatIsJudgedLikeNd) {
  Case<Op> c = small_case(spec::DType::bf16, 0, "shuffled");
  c.variant = "NSAS-C10:nchw";
  EXPECT_EQ(call_of(c).parameters.topk_indices.format, spec::Format::nchw);
  const CaseReport report = judged(c, plain);
  EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
  Choosy strict(
      [](const spec::Call<Op>& call) { return call.parameters.query.format != spec::Format::nd; });
  EXPECT_EQ(judge_case(c, strict).verdict, Verdict::rejected_wrongly);
  c.variant.clear();
  EXPECT_EQ(judge_case(c, strict).verdict, Verdict::conforms);
}

TEST(SelectedProducts, UnsupportedProductIsReportedAndDoesNotFail) {
  Case<Op> c = small_case(spec::DType::bf16, 0, "shuffled");
  EXPECT_FALSE(has_note(judged(c, plain), "NSAS-C01a"));
  c.product = spec::Product::a3;
  const CaseReport accepted = judged(c, plain);
  EXPECT_EQ(accepted.verdict, Verdict::conforms) << printed(accepted);
  EXPECT_TRUE(has_note(accepted, "not offered there: NSAS-C01a")) << printed(accepted);
  Choosy of_a2([](const spec::Call<Op>& call) { return call.product != spec::Product::a2; });
  const CaseReport refused = judge_case(c, of_a2);
  EXPECT_EQ(refused.verdict, Verdict::not_applicable) << printed(refused);
  EXPECT_TRUE(has_note(refused, "not offered there: NSAS-C01a")) << printed(refused);
}

TEST(SelectedBound, HealthyKernelsConformOnEveryProfile) {
  std::size_t turn = 0;
  for (const InputProfile& profile : Suite<Op>::profiles()) {
    if (profile.name == "overflow_fp16") continue;  // this fault needs more than 300 queries
    Case<Op> c = small_case(turn % 2 == 0 ? spec::DType::fp16 : spec::DType::bf16, 0, "duplicates");
    c.profile = profile.name;
    const CaseReport report = judged(c, healthy(turn++));
    EXPECT_LE(report.verdict, Verdict::conforms_weak) << printed(report);
  }
}

TEST(SelectedBound, TheCastIsSeenAndTheRestIsMuchLessThanTheBound) {
  const CaseReport report = judged(small_case(spec::DType::bf16, 0, "shuffled"), plain);
  ASSERT_EQ(report.tensors.size(), 3u);
  for (const TensorReport& tensor : report.tensors) {
    EXPECT_LT(tensor.worst, 1.0) << tensor.name;
    EXPECT_GT(tensor.worst, 0.1) << tensor.name;
    EXPECT_GT(tensor.rms, 0.4) << tensor.name;
    EXPECT_LT(tensor.rms, 1.05) << tensor.name;
    EXPECT_EQ(tensor.controls, "Z+N+L+S+W+") << tensor.name;
  }
}

struct Caught {
  const char* bug;
  std::int64_t mode;
  const char* lists;
};

/// For each injected fault, the type of block lists with which a case detects the fault.
constexpr Caught faults[] = {{"diagonal_block_whole", 2, "anchored"},
                             {"diagonal_block_dropped", 2, "anchored"},
                             {"mask_hides_diagonal", 2, "anchored"},
                             {"mask_ignored", 2, "shuffled"},
                             {"mask_inverted", 0, "shuffled"},
                             {"duplicates_once", 0, "duplicates"},
                             {"lists_of_first_head", 0, "per_head"},
                             {"first_slot_twice", 0, "shuffled"},
                             {"last_slot_dropped", 0, "shuffled"},
                             {"blocks_over_all_tokens", 0, "shuffled"},
                             {"row_term_missing", 0, "shuffled"},
                             {"row_term_of_first_head", 2, "causal"},
                             {"scale_missing_on_dk", 0, "identity"},
                             {"last_head_of_group_only", 0, "shared"},
                             {"statistics_of_next_token", 0, "shuffled"},
                             {"sum_ignored", 0, "shared"},
                             {"truncating_staging", 0, "shuffled"},
                             {"truncating_cast", 0, "shuffled"},
                             {"unlisted_keys_not_written", 0, "identity"},
                             {"outputs_not_cleared", 0, "shuffled"},
                             {"scale_one_percent_more", 0, "shuffled"}};

TEST(SelectedBound, FaultsAreCaught) {
  for (const Caught& fault : faults) {
    const CaseReport report =
        judged(small_case(spec::DType::bf16, fault.mode, fault.lists), fault.bug);
    EXPECT_EQ(contribution(report.verdict), ExitCode::nonconformant)
        << fault.bug << " " << printed(report);
  }
}

TEST(SelectedStructure, UnlistedKeyHasExactZeros) {
  Case<Op> c = small_case(spec::DType::bf16, 0, "identity");
  const CaseReport report = judged(c, "unlisted_keys_not_written");
  EXPECT_EQ(report.verdict, Verdict::nonconformant_structural) << printed(report);
}

TEST(SelectedStructure, OverflowOfOneRowExemptsFewElements) {
  Case<Op> c{.profile = "overflow_fp16"};
  c.problem = {.dtype = spec::DType::fp16,
               .batch = 1,
               .heads_q = 1,
               .heads_kv = 1,
               .seq_q = 320,
               .seq_kv = 2048,
               .head_dim = 192,
               .head_dim_v = 128,
               .scale_value = 0.0625,
               .selected_block_size = 16,
               .selected_block_count = 1};
  const CaseReport report = judged(c, plain);
  EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
  std::int64_t exempt = 0;
  for (const TensorReport& tensor : report.tensors) exempt += tensor.exempt;
  EXPECT_GT(exempt, 0);
}

/// Checks with many seeds and shapes that correct kernels conform.
TEST(SelectedBoundFuzz, HealthyKernelsConform) {
  constexpr std::int64_t runs = 60;
  const auto patterns = list_patterns();
  const auto known = Suite<Op>::profiles();
  for (std::int64_t k = 0; k < runs; ++k) {
    const Random random(static_cast<std::uint64_t>(k), 5);
    Case<Op> c;
    c.seed = static_cast<std::uint64_t>(1000 + k);
    Op::Problem& p = c.problem;
    p.dtype = k % 2 == 0 ? spec::DType::bf16 : spec::DType::fp16;
    p.heads_kv = random.integer(0, 1, 2);
    p.heads_q = p.heads_kv * random.integer(1, 1, 4);
    p.seq_q = random.integer(2, 1, 24);
    p.selected_block_size = 16 * random.integer(3, 1, 4);
    p.selected_block_count = random.integer(4, 1, 6);
    p.seq_kv = p.selected_block_size * (p.selected_block_count + random.integer(5, 0, 2));
    p.head_dim = random.integer(6, 0, 1) == 0 ? 128 : 192;
    p.head_dim_v = random.integer(7, 0, 1) == 0 ? 128 : 192;
    p.scale_value = random.integer(8, 0, 2) == 0 ? 1.0 : 0.0625;
    if (k % 3 == 0) p.sparse_mode = 2, p.atten_mask = spec::SelectedMask::compressed;
    c.patterns.lists = patterns[static_cast<std::size_t>(k) % patterns.size()].name;
    c.profile = known[static_cast<std::size_t>(k / 2) % (known.size() - 1)].name;
    const CaseReport report = judged(c, healthy(static_cast<std::size_t>(k)));
    EXPECT_NE(contribution(report.verdict), ExitCode::nonconformant) << printed(report);
  }
}

}  // namespace
}  // namespace assay::conformance
