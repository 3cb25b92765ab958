#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../conformance/plan/sample_checks.hpp"
#include "../each_operator.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators.hpp"
#include "flash_attention_score_grad/families.hpp"
#include "nsa_compress_grad/families.hpp"
#include "nsa_selected_attention_grad/families.hpp"
#include "plan/hand_made_cases.hpp"

/// Tests injected faults in the use of strides, offsets and padding, on the cases of the default
/// sweep that have strides, offsets or padding.
namespace assay::conformance {
namespace {

bool has_padding(const spec::FlashAttentionScoreGrad::Problem& p) {
  return p.padding_q > 0 || p.padding_kv > 0;
}
bool has_padding(const auto&) { return false; }

/// Returns the cases with strides, offsets or padding, the cheapest first.
template <class Op>
std::vector<Case<Op>> strided_cases() {
  std::vector<Case<Op>> cases;
  for (const Case<Op>& c : testing::default_cases<Op>())
    if (testing::is_value_case(c) && c.track != Track::relation &&
        (!c.inputs.is_contiguous() || !c.outputs.is_contiguous() || has_padding(c.problem)))
      cases.push_back(c);
  std::ranges::stable_sort(cases, {}, Suite<Op>::expected_cost);
  return cases;
}

template <class Op>
bool fails(const Case<Op>& c, spec::Implementation<Op>& kernel) {
  return contribution(judge_case(c, kernel).verdict) == ExitCode::nonconformant;
}

template <class Op>
void expect_killed(const std::vector<mutants::MutantOf<Op>>& bugs) {
  const std::vector<Case<Op>> cases = strided_cases<Op>();
  const auto all = mutants::mutants<Op>();
  const auto healthy = std::ranges::find_if(all, &mutants::MutantOf<Op>::healthy)->make();
  for (const auto& bug : bugs) {
    const auto kernel = bug.make();
    const auto killing =
        std::ranges::find_if(cases, [&](const Case<Op>& c) { return fails(c, *kernel); });
    ASSERT_NE(killing, cases.end()) << bug.name << ": " << bug.bug;
    EXPECT_FALSE(fails(*killing, *healthy)) << command_line(*killing);
  }
}

TEST(StrideMutants, AttentionMutantsFailInTheDefaultSweep) {
  expect_killed<spec::FlashAttentionScoreGrad>(mutants::stride_mutants());
}
TEST(StrideMutants, CompressionMutantsFailInTheDefaultSweep) {
  expect_killed<spec::NsaCompressGrad>(mutants::compress::grad::stride_mutants());
}
/// Returns the faulty kernels of a forward operator that use strides or offsets wrongly. Their
/// names say so.
template <class Op>
std::vector<mutants::MutantOf<Op>> of_strides() {
  constexpr std::string_view words[] = {"strides", "as_contiguous", "offset_ignored", "in_32_bits"};
  auto all = mutants::mutants<Op>();
  std::erase_if(all, [&](const mutants::MutantOf<Op>& one) {
    return one.healthy || std::ranges::none_of(words, [&](std::string_view word) {
             return one.name.find(word) != std::string::npos;
           });
  });
  EXPECT_FALSE(all.empty());
  return all;
}

TEST(StrideMutants, ForwardMutantsFailInTheDefaultSweep) {
  expect_killed<spec::NsaCompress>(of_strides<spec::NsaCompress>());
  expect_killed<spec::NsaSelectedAttention>(of_strides<spec::NsaSelectedAttention>());
  expect_killed<spec::FlashAttentionScore>(of_strides<spec::FlashAttentionScore>());
}
TEST(StrideMutants, SelectedAttentionMutantsFailInTheDefaultSweep) {
  expect_killed<spec::NsaSelectedAttentionGrad>(mutants::selected::stride_mutants());
}

/// Finds the hand-written cases of this layout in which one tensor is strided and all others are
/// contiguous. Returns the names of the strided tensors.
template <class Op>
std::set<std::string> strided_alone(std::string_view layout) {
  std::set<std::string> names;
  for (const Case<Op>& c : hand_made_cases<Op>("strides")) {
    if (c.inputs.is_contiguous() == c.outputs.is_contiguous()) continue;
    const std::string line = " " + command_line(c) + " ";
    if (layout == "BNSD" ? line.find("--layout=") != std::string::npos  // the default
                         : line.find(layout) == std::string::npos)
      continue;
    for (const std::string flag : {" --inputs=", " --outputs="}) {
      const std::size_t first = line.find(flag);
      if (first == std::string::npos) continue;
      const std::string value =
          line.substr(first + flag.size(), line.find(' ', first + 1) - first - flag.size());
      if (value.find(':') != std::string::npos && value.find(',') == std::string::npos)
        names.insert(value.substr(0, value.find(':')));
    }
  }
  return names;
}

/// A faulty kernel may check whether the wrong tensor is contiguous. A case detects this only if
/// one of the two tensors is contiguous and the other is not.
TEST(HandMadeStrides, StrideEachTensorAloneInEachLayout) {
  const std::set<std::string> attention = {
      "query",       "key",       "value",      "dy", "attention_in", "softmax_max",
      "softmax_sum", "drop_mask", "atten_mask", "dq", "dk",           "dv"};
  for (const char* layout :
       {"BNSD", "--layout=BSND ", "--layout=BSH ", "--layout=SBH ", "--layout=TND "}) {
    const std::set<std::string> found = strided_alone<spec::FlashAttentionScoreGrad>(layout);
    EXPECT_TRUE(std::ranges::includes(found, attention)) << layout;
  }
  for (const char* name : {"query_rope", "key_rope", "dq_rope", "dk_rope"})
    EXPECT_TRUE(strided_alone<spec::FlashAttentionScoreGrad>("--entry_point=u3 ").contains(name))
        << name;
  EXPECT_EQ(
      strided_alone<spec::NsaSelectedAttentionGrad>(""),
      (std::set<std::string>{"query", "key", "value", "attention_out", "attention_out_grad",
                             "softmax_max", "softmax_sum", "topk_indices", "dq", "dk", "dv"}));
  EXPECT_EQ(strided_alone<spec::NsaCompressGrad>(""),
            (std::set<std::string>{"output_grad", "input", "weight", "input_grad", "weight_grad"}));
  EXPECT_EQ(strided_alone<spec::NsaCompress>(""),
            (std::set<std::string>{"input", "weight", "output"}));
}

/// Returns the tensors that are stored by columns in a case in which all others are contiguous.
/// Only such cases detect a kernel that assumes contiguous elements within a row.
template <class Op>
std::set<std::string> laid_in_columns_alone() {
  std::set<std::string> names;
  for (const Case<Op>& c : hand_made_cases<Op>("strides"))
    for (const auto* strides : {&c.inputs, &c.outputs})
      if (strides->all() == spec::Striding::contiguous && strides->named().size() == 1 &&
          strides->named().front().second == spec::Striding::columns)
        names.insert(strides->named().front().first);
  return names;
}

TEST(HandMadeStrides, ApplyColumnsToEachTensorAlone) {
  EXPECT_EQ(laid_in_columns_alone<spec::FlashAttentionScoreGrad>(),
            (std::set<std::string>{"query", "key", "value", "dy", "attention_in", "softmax_max",
                                   "softmax_sum", "drop_mask", "atten_mask", "dq", "dk", "dv",
                                   "query_rope", "key_rope", "dq_rope", "dk_rope", "pse_shift"}));
  EXPECT_EQ(laid_in_columns_alone<spec::NsaSelectedAttentionGrad>(),
            strided_alone<spec::NsaSelectedAttentionGrad>(""));
  EXPECT_EQ(laid_in_columns_alone<spec::NsaCompressGrad>(),
            strided_alone<spec::NsaCompressGrad>(""));
  EXPECT_EQ(laid_in_columns_alone<spec::NsaCompress>(), strided_alone<spec::NsaCompress>(""));
}

template <class Op>
class HealthyVariants : public ::testing::Test {};
TYPED_TEST_SUITE(HealthyVariants, tests::EveryOperator, tests::ByOperator);

/// Every correct variant must conform in all hand-written cases with strides, offsets or padding.
TYPED_TEST(HealthyVariants, ConformInTheHandMadeStrides) {
  using Op = TypeParam;
  for (const Case<Op>& c : hand_made_cases<Op>("strides")) {
    PreparedCase<Op> prepared(c);
    for (const auto& variant : mutants::mutants<Op>()) {
      if (!variant.healthy) continue;
      const CaseReport report = judge_case(prepared, *variant.make());
      EXPECT_NE(contribution(report.verdict), ExitCode::nonconformant)
          << variant.name << ": " << command_line(c);
    }
  }
}

}  // namespace
}  // namespace assay::conformance
