#include "assay/optimized/nsa_selected_attention.hpp"

#include <gtest/gtest.h>

#include "aclnnop/aclnn_nsa_selected_attention.h"
#include "nsa_calls.hpp"
#include "refusals.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::NsaSelectedAttention;
using Call = spec::Call<Op>;

class NsaSelectedForward : public Session {
 protected:
  std::unique_ptr<spec::Implementation<Op>> own = optimized::nsa_selected_attention(device::a2());
};

TEST_F(NsaSelectedForward, GivesTheBitsOfTheImplementation) {
  expect_bits_of<Op>({plain_selection(), causal_selection()}, *own, aclnnNsaSelectedAttention,
                     stream);
}

TEST_F(NsaSelectedForward, AnswersEveryBrokenRowAsTheImplementationDoes) {
  const std::vector<Call> calls = {call_on_a2<Op>(plain_selection()),
                                   call_on_a2<Op>(causal_selection())};
  EXPECT_GE(expect_same_refusals(calls, *own, "aclnnNsaSelectedAttentionGetWorkspaceSize"), 20U);
}

TEST_F(NsaSelectedForward, NeedsArraysOfLengths) { expect_lengths_needed<Op>(packed_selection()); }

TEST_F(NsaSelectedForward, NeedsNoWorkspace) { expect_workspace<Op>(plain_selection(), 0); }

TEST_F(NsaSelectedForward, RefusesATensorLargerThanTheDevice) {
  Op::Problem huge = plain_selection();
  huge.batch = 16, huge.heads_q = 128, huge.heads_kv = 8, huge.seq_q = 1 << 17;
  expect_too_large<Op>(huge,
                       "aclnnNsaSelectedAttentionGetWorkspaceSize: query is larger than the ");
}

}  // namespace
