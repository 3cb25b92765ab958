#include "flash_attention_score_grad/checks/checks.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "../implementation_checks.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"

namespace {

using namespace assay;
using Op = spec::FlashAttentionScoreGrad;
using Call = spec::Call<Op>;
using spec::DType;
using spec::FlashEntryPoint;
using spec::Layout;
using spec::MaskShape;
using spec::Parameter;

std::string refusal(const Call& call) {
  return test::refusal_of(optimized::refuse_unless_legal, call);
}

/// Returns a masked problem with 3 sequences, 4 query heads, 2 key heads, and head sizes 24 and 16
/// (rope: 8). In TND the lengths are 5, 20, 12 queries and 30, 25, 7 keys; in other layouts all
/// sequences have 20 queries and 30 keys.
Op::Problem plain_problem(FlashEntryPoint entry_point) {
  Op::Problem problem = {.input_layout = Layout::bnsd,
                         .dtype = DType::bf16,
                         .batch = 3,
                         .heads_q = 4,
                         .heads_kv = 2,
                         .seq_q = 20,
                         .seq_kv = 30,
                         .head_dim = 24,
                         .head_dim_v = 16,
                         .atten_mask = MaskShape::ss};
  if (!spec::is_unpadding(entry_point)) return problem;
  problem.input_layout = Layout::tnd;
  problem.lengths_q = {5, 20, 12}, problem.lengths_kv = {30, 25, 7};
  if (spec::has_rope(entry_point)) problem.head_dim_rope = 8;
  return problem;
}

Call call_of(const Op::Problem& problem, FlashEntryPoint entry_point) {
  return spec::call_of(problem, entry_point, spec::Product::a2, spec::Striding::contiguous,
                       spec::Striding::contiguous);
}

void resize(Parameter& tensor, std::size_t axis, std::int64_t extent) {
  tensor.shape[axis] = extent;
  tensor.strides = spec::contiguous_strides(tensor.shape);
}

constexpr FlashEntryPoint every_entry_point[] = {
    FlashEntryPoint::g1, FlashEntryPoint::g2, FlashEntryPoint::g3, FlashEntryPoint::u1,
    FlashEntryPoint::u2, FlashEntryPoint::u3, FlashEntryPoint::u4, FlashEntryPoint::u5};
constexpr FlashEntryPoint padded[] = {FlashEntryPoint::g1, FlashEntryPoint::g2,
                                      FlashEntryPoint::g3};
constexpr FlashEntryPoint unpadding[] = {FlashEntryPoint::u1, FlashEntryPoint::u2,
                                         FlashEntryPoint::u3, FlashEntryPoint::u4,
                                         FlashEntryPoint::u5};

Call legal(Layout layout = Layout::bnsd, FlashEntryPoint entry_point = FlashEntryPoint::g2) {
  Op::Problem problem = plain_problem(entry_point);
  problem.input_layout = layout;
  return call_of(problem, entry_point);
}

std::string_view id_of(std::string_view message) { return message.substr(0, message.find(':')); }

TEST(Checks, AcceptALegalCallInEveryPaddedLayout) {
  for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd})
    for (const FlashEntryPoint entry_point : padded)
      EXPECT_EQ(refusal(legal(layout, entry_point)), "");
}

Call with_sink(FlashEntryPoint entry_point = FlashEntryPoint::g3) {
  Op::Problem problem = plain_problem(entry_point);
  problem.sink = spec::SinkShape::per_head;
  return call_of(problem, entry_point);
}

TEST(Checks, TakeASinkOfOneNumberPerHead) {
  EXPECT_EQ(refusal(with_sink()), "");
  Call call = with_sink();
  resize(call.parameters.sink, 0, 5);
  EXPECT_EQ(refusal(call), "SNK-C04: shape of sink is [5]; it must be [4]");
  call = with_sink();
  resize(call.parameters.dsink, 0, 2);
  EXPECT_EQ(refusal(call), "SNK-C04: shape of dsink is [2]; it must be [4]");
  call = with_sink(), call.parameters.sink.shape = {1, 4}, call.parameters.sink.strides = {4, 1};
  EXPECT_EQ(id_of(refusal(call)), "SNK-C04");
  call = with_sink(), call.parameters.sink.dtype = DType::bf16;
  EXPECT_EQ(refusal(call), "SNK-C03: type of sink is bf16; it must be fp32");
  call = with_sink(), call.parameters.dsink.dtype = DType::bf16;
  EXPECT_EQ(refusal(call), "SNK-C04a: type of dsink is bf16; it must be fp32");
}

TEST(Checks, TakeAnEmptySinkAndNoPlaceForItsGradient) {
  Call call = with_sink();
  call.parameters.dsink.present = false;
  EXPECT_EQ(refusal(call), "");
  resize(call.parameters.sink, 0, 0);
  EXPECT_EQ(refusal(call), "");
}

/// On u5 a caller passes all four rope tensors or none.
TEST(Checks, TakeRopesOfU5WholeOrNotAtAll) {
  using P = Op::Parameters;
  const Call roped = with_sink(FlashEntryPoint::u5);
  EXPECT_EQ(refusal(roped), "");
  Call plain = roped;
  for (const auto rope : {&P::query_rope, &P::key_rope, &P::dq_rope, &P::dk_rope}) {
    Call call = roped;
    call.parameters.*rope = plain.parameters.*rope = {};
    EXPECT_EQ(id_of(refusal(call)), "FAG-C06");
  }
  plain.parameters.atten_mask = {};
  EXPECT_EQ(refusal(plain), "");
  Call call = plain;
  call.parameters.dk_rope = roped.parameters.dk_rope;
  EXPECT_EQ(refusal(call), "FAG-C06: query_rope is null; it is required");
  call = roped;
  call.parameters.atten_mask = {};
  EXPECT_EQ(refusal(call), "FAG-C08: atten_mask is null; u5 with ropes requires it");
  call = roped, call.attributes.keep_prob = 0.5;
  EXPECT_EQ(refusal(call), "FAG-C61: keepProb is 0.5; it must be 1 on u5 with ropes");
  plain.attributes.softmax_in_layout = "TND";
  EXPECT_EQ(id_of(refusal(plain)), "FAG-C83");
}

TEST(Checks, TakeAnAttentionOutputOfFp32OnlyOnU5) {
  for (const FlashEntryPoint entry_point : every_entry_point) {
    Call call = call_of(plain_problem(entry_point), entry_point);
    call.parameters.attention_in.dtype = DType::fp32;
    EXPECT_EQ(id_of(refusal(call)), entry_point == FlashEntryPoint::u5 ? "" : "FAG-C21a");
    call.parameters.attention_in.dtype = DType::fp16;  // query is bf16
    EXPECT_EQ(id_of(refusal(call)), "FAG-C21a");
  }
}

TEST(Checks, RejectFp32OnlyWhereASinkMayBe) {
  for (const FlashEntryPoint entry_point : every_entry_point) {
    if (spec::requires_rope(entry_point)) continue;  // it accepts only bf16
    Op::Problem problem = plain_problem(entry_point);
    problem.head_dim_rope = 0;
    problem.dtype = DType::fp32;
    EXPECT_EQ(refusal(call_of(problem, entry_point)),
              spec::has_sink(entry_point)
                  ? "SNK-C07: type of query is fp32; it must be fp16 or bf16"
                  : "");
  }
}

TEST(Checks, FindUnequalHeadsWhereHeadsAndChannelsShareAnAxis) {
  Call call = legal(Layout::bsh);
  call.attributes.head_num = 5;
  EXPECT_EQ(refusal(call),
            "FAG-C38: last extent of query is 96; it must be a multiple of headNum, which is 5");
  call = legal(Layout::sbh);
  resize(call.parameters.key, 2, 49);
  EXPECT_EQ(refusal(call),
            "FAG-C34: last extent of key is 49; it must be a multiple of the head size of query, "
            "which is 24");
}

TEST(Checks, TakeAMaskPerBatchAndPerHeadWhereTheModeReadsOne) {
  for (const FlashEntryPoint entry_point : every_entry_point)
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
  for (const FlashEntryPoint entry_point : every_entry_point) {
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

/// The checks look at strings and required arguments first, even if all outputs are empty.
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

/// The difference of the start indices must equal the difference of the lengths, which is 10. Here
/// it equals 10 only modulo 2^64, so the call must be refused.
TEST(Checks, CompareStartIndicesWithoutWrapAround) {
  Op::Problem problem = plain_problem(FlashEntryPoint::u2);
  problem.lengths_q = problem.lengths_kv = {20, 20, 20};
  problem.lengths_kv.front() = problem.seq_kv = 30;
  problem.sparse_mode = 8, problem.atten_mask = MaskShape::compressed;
  problem.pse_shift = spec::PseShape::bnhs;
  problem.q_start_idx = {10}, problem.kv_start_idx = {0};
  EXPECT_EQ(refusal(call_of(problem, FlashEntryPoint::u2)), "");
  problem.q_start_idx = {std::numeric_limits<std::int64_t>::min()};
  problem.kv_start_idx = {std::numeric_limits<std::int64_t>::max() - 9};
  EXPECT_EQ(id_of(refusal(call_of(problem, FlashEntryPoint::u2))), "FAG-C75");
}

/// The tensor has 2^32 * 2^32 elements. This number is 0 modulo 2^64, but the tensor is not empty.
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
  for (const FlashEntryPoint entry_point : unpadding)
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

/// Makes the calls of the example programs in the documentation. The example of u1 passes a prefix
/// that its sparse mode ignores.
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
  for (const FlashEntryPoint entry_point : every_entry_point)
    EXPECT_EQ(refusal(spec::call_of(plain_problem(entry_point), entry_point, spec::Product::a3,
                                    spec::Striding::transposed, spec::Striding::padded)),
              "");
}

}  // namespace
