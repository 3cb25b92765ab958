#include "flash_attention_score_grad/checks/checks.hpp"

#include <gtest/gtest.h>

#include <set>

#include "assay/optimized/flash_attention_score_grad.hpp"
#include "check_cases.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::FlashAttentionScoreGrad;
using Call = spec::Call<Op>;
using spec::DType;
using spec::FlashEntryPoint;
using spec::Layout;
using spec::MaskShape;
using spec::Parameter;
using spec::Status;

struct Answer {
  Status status = Status::success;
  std::string message;
};

Answer answer(const Call& call) {
  try {
    optimized::refuse_unless_legal(call);
  } catch (const spec::Rejected& rejected) {
    return {rejected.status(), rejected.what()};
  }
  return {};
}

std::string refusal(const Call& call) { return answer(call).message; }

Call legal(Layout layout = Layout::bnsd, FlashEntryPoint entry_point = FlashEntryPoint::g2) {
  Op::Problem problem = plain_problem(entry_point);
  problem.input_layout = layout;
  return call_of(problem, entry_point);
}

Call changed(const CheckCase& changes, FlashEntryPoint entry_point) {
  Op::Problem problem = plain_problem(entry_point);
  if (changes.ask != nullptr) changes.ask(problem);
  Call call = call_of(problem, entry_point);
  if (changes.change != nullptr) changes.change(call);
  return call;
}

std::vector<CheckCase> all_cases() {
  std::vector<CheckCase> all;
  for (const auto part : {operand_cases(), attribute_cases(), pse_cases()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::string_view id_of(std::string_view message) { return message.substr(0, message.find(':')); }

TEST(Checks, NameTheRowTheValueAndTheLimitWithTheStatusOfTheRow) {
  for (const CheckCase& expected : all_cases())
    for (const FlashEntryPoint entry_point : expected.entry_points) {
      const Answer given = answer(changed(expected, entry_point));
      const std::string where = std::string(to_string(entry_point)) + ": expected \"" +
                                std::string(expected.message) + "\", got \"" + given.message + "\"";
      if (expected.message.empty()) {
        EXPECT_EQ(given.message, "") << where;
        continue;
      }
      EXPECT_TRUE(given.message.starts_with(expected.message)) << where;
      EXPECT_EQ(given.status, expected.status) << where;
    }
}

/// Rows that speak about single entry points are met on each of them.
TEST(Checks, AreEachBrokenBySomeCaseAndKeptByAnother) {
  std::set<std::string_view> broken;
  std::set<FlashEntryPoint> accepted, refused;
  static const std::vector<CheckCase> cases = all_cases();
  for (const CheckCase& expected : cases) {
    if (!expected.message.empty()) broken.insert(id_of(expected.message));
    auto& met = expected.message.empty() ? accepted : refused;
    met.insert(expected.entry_points.begin(), expected.entry_points.end());
  }
  for (const auto& check : optimized::argument_checks())
    EXPECT_TRUE(broken.contains(check.id)) << check.id;
  EXPECT_EQ(accepted.size(), every_entry_point().size());
  EXPECT_EQ(refused.size(), every_entry_point().size());
}

TEST(Checks, AcceptALegalCallInEveryPaddedLayout) {
  for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd})
    for (const FlashEntryPoint entry_point : padded())
      EXPECT_EQ(refusal(legal(layout, entry_point)), "");
}

TEST(Checks, FindUnequalHeadsWhereHeadsAndChannelsShareAnAxis) {
  Call call = legal(Layout::bsh);
  call.attributes.head_num = 5;
  EXPECT_EQ(refusal(call),
            "FAG-C38: last extent of query is 96, not a multiple of headNum, which is 5");
  call = legal(Layout::sbh);
  resize(call.parameters.key, 2, 49);
  EXPECT_EQ(refusal(call),
            "FAG-C34: last extent of key is 49, not a multiple of the head size of query, which is "
            "24");
}

TEST(Checks, TakeAMaskPerBatchAndPerHeadWhereTheModeReadsOne) {
  for (const FlashEntryPoint entry_point : every_entry_point())
    for (const MaskShape shape :
         {MaskShape::ss, MaskShape::one_one_ss, MaskShape::b_one_ss, MaskShape::bnss}) {
      Op::Problem problem = plain_problem(entry_point);
      problem.atten_mask = shape;
      EXPECT_EQ(refusal(call_of(problem, entry_point)), "") << to_string(shape);
    }
}

TEST(Checks, TakeOneMaskForAPrefixOfOneSequence) {
  Op::Problem problem = plain_problem(FlashEntryPoint::g1);
  problem.batch = 1, problem.sparse_mode = 5, problem.prefix = {12};
  EXPECT_EQ(refusal(call_of(problem, FlashEntryPoint::g1)), "");
}

void empty_outputs(Call& call) {
  for (Parameter* output : {&call.parameters.dq, &call.parameters.dk, &call.parameters.dv})
    resize(*output, 0, 0);
}

TEST(Checks, LookAtACallWithoutAnyOutputElementLikeAtOthers) {
  for (const FlashEntryPoint entry_point : every_entry_point()) {
    Op::Problem problem = plain_problem(entry_point);
    problem.seq_q = problem.seq_kv = 0;
    if (spec::is_unpadding(entry_point)) problem.lengths_q = problem.lengths_kv = {0, 0, 0};
    const Call empty = call_of(problem, entry_point);
    EXPECT_EQ(refusal(empty), "") << to_string(entry_point);
    Call call = empty;
    call.parameters.key.dtype = DType::int8;
    EXPECT_EQ(id_of(refusal(call)), "FAG-C20");
    call = empty, call.attributes.head_num = -1;
    EXPECT_EQ(id_of(refusal(call)), "FAG-C38");
    call = empty, call.parameters.query.present = false;
    EXPECT_EQ(id_of(refusal(call)), "FAG-C01");
  }
}

TEST(Checks, LookAtACallOfWhichSomeOutputsAreEmpty) {
  const std::vector<Parameter Op::Parameters::*> outputs = {
      &Op::Parameters::dq, &Op::Parameters::dk, &Op::Parameters::dv};
  for (const auto full : outputs) {
    Call call = call_of(plain_problem(FlashEntryPoint::u1), FlashEntryPoint::u1);
    const Parameter kept = call.parameters.*full;
    empty_outputs(call);
    call.parameters.*full = kept;
    call.attributes.head_num = -1;
    EXPECT_EQ(id_of(refusal(call)), "FAG-C38");
  }
}

/// The strings come first, and required arrays stay required.
TEST(Checks, LookAtStringsAndRequiredArgumentsEvenWithoutAnyOutputElement) {
  Call call = call_of(plain_problem(FlashEntryPoint::u4), FlashEntryPoint::u4);
  empty_outputs(call);
  call.attributes.softmax_in_layout = "x";
  EXPECT_EQ(id_of(refusal(call)), "FAG-C83");
  call.attributes.input_layout = "BSND";
  EXPECT_EQ(id_of(refusal(call)), "FAG-C31");
  call = call_of(plain_problem(FlashEntryPoint::u3), FlashEntryPoint::u3);
  empty_outputs(call);
  call.parameters.dq_rope.present = false;
  EXPECT_EQ(id_of(refusal(call)), "FAG-C06");
  call.parameters.actual_seq_qlen.reset();
  EXPECT_EQ(id_of(refusal(call)), "FAG-C05");
}

/// 2^32 * 2^32 elements are none modulo 2^64.
TEST(Checks, DoNotTakeHugeOutputsForEmptyOnes) {
  Call call = legal();
  for (Parameter* output : {&call.parameters.dq, &call.parameters.dk, &call.parameters.dv})
    output->shape = {std::int64_t{1} << 32, std::int64_t{1} << 32, 1, 1};
  EXPECT_EQ(id_of(refusal(call)), "FAG-C48");
}

TEST(Checks, TakeAnEmptyQueryOrKey) {
  for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd})
    for (const auto& [sq, skv] : {std::pair{0, 9}, {9, 0}, {0, 0}}) {
      const Op::Problem problem = {.input_layout = layout, .seq_q = sq, .seq_kv = skv};
      EXPECT_EQ(refusal(call_of(problem, FlashEntryPoint::g2)), "");
    }
}

TEST(Checks, TakeNoQueriesOrNoKeysAtAll) {
  for (const FlashEntryPoint entry_point : unpadding())
    for (const bool no_queries : {true, false}) {
      Op::Problem problem = plain_problem(entry_point);
      (no_queries ? problem.lengths_q : problem.lengths_kv) = {0, 0, 0};
      (no_queries ? problem.seq_q : problem.seq_kv) = 0;
      EXPECT_EQ(refusal(call_of(problem, entry_point)), "") << to_string(entry_point) << no_queries;
    }
}

TEST(Checks, TakeRopeTensorsWithoutChannels) {
  Op::Problem problem = plain_problem(FlashEntryPoint::u3);
  problem.head_dim_rope = 0;
  EXPECT_EQ(refusal(call_of(problem, FlashEntryPoint::u3)), "");
}

/// The documents' own programs. u1 comes with a prefix that its sparse mode ignores.
TEST(Checks, TakeTheCallsOfTheDocumentedExamples) {
  Op::Problem problem = {.input_layout = Layout::tnd,
                         .dtype = DType::fp16,
                         .seq_q = 256,
                         .seq_kv = 256,
                         .head_dim = 128,
                         .head_dim_v = 128,
                         .pre_tokens = 65536,
                         .next_tokens = 65536,
                         .prefix = {0},
                         .atten_mask = MaskShape::ss};
  EXPECT_EQ(refusal(call_of(problem, FlashEntryPoint::u1)), "");
  problem.dtype = DType::bf16, problem.prefix = {}, problem.head_dim_rope = 64;
  problem.q_start_idx = problem.kv_start_idx = {0};
  EXPECT_EQ(refusal(call_of(problem, FlashEntryPoint::u3)), "");
}

TEST(Checks, TakeStridedViews) {
  for (const FlashEntryPoint entry_point : every_entry_point())
    EXPECT_EQ(refusal(spec::call_of(plain_problem(entry_point), entry_point, spec::Product::a3,
                                    spec::Striding::transposed, spec::Striding::padded)),
              "");
}

/// No documented feature is missing, so that a refusal is the only way to decline a call.
TEST(Unsupported, IsNoCallOfAnyEntryPoint) {
  const auto implementation = optimized::flash_attention_score_grad(device::a2());
  for (const CheckCase& expected : all_cases())
    for (const FlashEntryPoint entry_point : expected.entry_points)
      EXPECT_EQ(implementation->unsupported(changed(expected, entry_point)), std::nullopt);
}

}  // namespace
