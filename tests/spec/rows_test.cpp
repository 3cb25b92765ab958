#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "operators/flash_attention_score_grad/table.hpp"
#include "problems.hpp"

namespace assay::spec::detail {
namespace {

/// Returns the name of the first member in which two calls differ, or an empty text if the calls
/// are equal.
std::string difference(const FlashCall& a, const FlashCall& b) {
  for (std::size_t k = 0; k < std::size(every_tensor); ++k) {
    const Parameter& x = a.parameters.*every_tensor[k];
    const Parameter& y = b.parameters.*every_tensor[k];
    if (x.present != y.present || x.dtype != y.dtype || x.shape != y.shape ||
        x.strides != y.strides || x.offset != y.offset)
      return "tensor " + std::to_string(k);
  }
  const auto& p = a.parameters;
  const auto& q = b.parameters;
  if (p.prefix != q.prefix) return "prefix";
  if (p.actual_seq_qlen != q.actual_seq_qlen) return "actual_seq_qlen";
  if (p.actual_seq_kvlen != q.actual_seq_kvlen) return "actual_seq_kvlen";
  if (p.q_start_idx != q.q_start_idx || p.kv_start_idx != q.kv_start_idx) return "start indices";
  const auto& s = a.attributes;
  const auto& t = b.attributes;
  if (s.scale_value != t.scale_value || s.keep_prob != t.keep_prob) return "scale or keepProb";
  if (s.pre_tokens != t.pre_tokens || s.next_tokens != t.next_tokens) return "window";
  if (s.head_num != t.head_num || s.input_layout != t.input_layout) return "headNum or layout";
  if (s.sparse_mode != t.sparse_mode || s.pse_type != t.pse_type) return "sparseMode or pseType";
  if (s.softmax_in_layout != t.softmax_in_layout) return "softmaxInLayout";
  return {};
}

RC_GTEST_PROP(FlashRows, LegalCallGivesBackItsProblem, ()) {
  Asked asked = *legal_call();
  asked.inputs = asked.outputs = Striding::contiguous;
  const FlashCall call = asked.call();
  const auto problem = problem_of(call);
  RC_ASSERT(problem.has_value());
  asked.problem = *problem;
  RC_ASSERT(difference(asked.call(), call) == "");
  RC_ASSERT(problem_of(asked.call()) == problem);
}

TEST(FlashRows, ProblemsOfPlainCallsAreTheirsFieldByField) {
  for (const Asked& asked : plain_calls()) {
    const auto problem = problem_of(asked.call());
    ASSERT_TRUE(problem.has_value()) << ::testing::PrintToString(asked.entry_point);
    EXPECT_TRUE(*problem == asked.problem)
        << to_string(asked.entry_point) << ' ' << to_string(asked.problem.pse_shift) << " mode "
        << asked.problem.sparse_mode;
  }
}

TEST(FlashRows, UnequalLengthsAreReadFromTheirSums) {
  Asked asked{.problem = {.input_layout = Layout::tnd, .batch = 3, .seq_q = 5, .seq_kv = 4},
              .entry_point = FlashEntryPoint::u1};
  asked.problem.lengths_q = {5, 0, 2};
  const FlashCall call = asked.call();
  const auto query = query_as_given(call);
  const auto key = key_as_given(call);
  ASSERT_TRUE(query && key);
  EXPECT_EQ(query->ends, (std::vector<std::int64_t>{5, 5, 7}));
  EXPECT_EQ(query->seq, 5);
  EXPECT_TRUE(has_empty_length(*query));
  EXPECT_EQ(key->ends, (std::vector<std::int64_t>{4, 8, 12}));
  EXPECT_FALSE(has_empty_length(*key));
  EXPECT_EQ(problem_of(call)->lengths_kv, std::vector<std::int64_t>{});
}

TEST(FlashRows, SumsThatDoNotFitLeaveTheExtentsOpen) {
  Asked asked{.problem = {.input_layout = Layout::tnd, .batch = 2},
              .entry_point = FlashEntryPoint::u2};
  FlashCall call = asked.call();
  call.parameters.actual_seq_qlen = {16, 8};
  EXPECT_FALSE(query_as_given(call));
  call.parameters.actual_seq_qlen = {16, 33};
  EXPECT_FALSE(query_as_given(call));
  call.parameters.actual_seq_qlen = {16, 31};
  EXPECT_TRUE(query_as_given(call));
  call.parameters.actual_seq_qlen = {-1, 31};
  EXPECT_FALSE(query_as_given(call));
}

TEST(FlashRows, BitsOfAllSequencesAreCountedTogether) {
  Asked asked{.problem = {.input_layout = Layout::tnd,
                          .batch = 2,
                          .heads_q = 3,
                          .seq_q = 5,
                          .seq_kv = 7,
                          .lengths_q = {5, 1},
                          .lengths_kv = {7, 2}},
              .entry_point = FlashEntryPoint::u4};
  EXPECT_EQ(drop_mask_bytes(asked.call()), 14);  // 3 * (35 + 2) bits
}

}  // namespace
}  // namespace assay::spec::detail
