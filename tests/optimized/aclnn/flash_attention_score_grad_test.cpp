#include "assay/optimized/flash_attention_score_grad.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <tuple>

#include "../../spec/problems.hpp"
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "entries.hpp"
#include "refusals.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::FlashAttentionScoreGrad;
using Call = spec::Call<Op>;
using spec::Asked;
using spec::FlashEntryPoint;
using spec::Striding;

class Flash : public Session {
 protected:
  std::unique_ptr<spec::Implementation<Op>> own =
      optimized::flash_attention_score_grad(device::a2());

  void expect_same_bits(const Asked& asked) {
    std::ostringstream shown;
    showValue(asked, shown);
    SCOPED_TRACE(shown.str());
    test::expect_same_bits(asked.call(), asked.problem, *own, phase_2_of(asked.entry_point),
                           stream);
  }
};

bool is_small(const Op::Problem& p) {
  return spec::score_count(p) * p.head_dim < 1 << 23 && p.seq_q * p.seq_kv < 1 << 21;
}

class FlashEntryPoints : public Flash, public testing::WithParamInterface<FlashEntryPoint> {};

TEST_P(FlashEntryPoints, GivesTheBitsOfTheImplementation) {
  constexpr Striding stridings[] = {Striding::contiguous, Striding::padded, Striding::transposed};
  std::size_t compared = 0;
  for (Asked asked : spec::plain_calls(GetParam())) {
    if (!is_small(asked.problem)) continue;
    asked.inputs = stridings[compared % 3];
    asked.outputs = stridings[compared / 3 % 3];
    expect_same_bits(asked);
    ++compared;
  }
  EXPECT_GE(compared, 6U);
}

/// A problem with a sink.
Op::Problem with_sink() {
  return {.input_layout = spec::Layout::bsnd,
          .dtype = spec::DType::fp16,
          .batch = 2,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = 21,
          .seq_kv = 37,
          .head_dim = 24,
          .head_dim_v = 24,
          .sink = spec::SinkShape::per_head};
}

TEST_F(Flash, GivesTheGradientOfSinksInEveryStridingAndLayout) {
  for (const Striding striding : {Striding::contiguous, Striding::padded, Striding::transposed})
    for (const auto layout : {spec::Layout::bsh, spec::Layout::sbh, spec::Layout::bnsd}) {
      Asked asked{.problem = with_sink(), .entry_point = FlashEntryPoint::g3};
      asked.problem.input_layout = layout;
      asked.inputs = asked.outputs = striding;
      expect_same_bits(asked);
    }
}

TEST_F(Flash, ReadsAnAttentionOutputOfFp32OnU5) {
  Asked asked{.problem = with_sink(), .entry_point = FlashEntryPoint::u5};
  asked.problem.input_layout = spec::Layout::tnd;
  Call call = asked.call();
  call.parameters.attention_in.dtype = spec::DType::fp32;
  test::expect_same_bits(call, asked.problem, *own, phase_2_of(asked.entry_point), stream);
}

/// The page of u5 names a second phase 1 with the same arguments.
TEST_F(Flash, HasASecondNameOfPhase1OnU5) {
  Asked asked{.problem = with_sink(), .entry_point = FlashEntryPoint::u5};
  asked.problem.input_layout = spec::Layout::tnd;
  const Call call = asked.call();
  Filling<Op> filling = filling_of(call);
  Handles handles(filling.uploaded.addresses());
  const Op::Parameters& p = call.parameters;
  const Op::Attributes& a = call.attributes;
  const auto tensor = [&](std::string_view name, const spec::Parameter& parameter) {
    return handles.tensor(name, parameter);
  };
  Prepared prepared;
  char layout[] = "TND", order[] = "";
  prepared.status = aclnnFlashAttentionUnpaddingScoreGradV5GetMaxWorkspaceSize(
      tensor("query", p.query), nullptr, tensor("key", p.key), nullptr, tensor("value", p.value),
      tensor("dy", p.dy), nullptr, nullptr, nullptr, nullptr, tensor("softmax_max", p.softmax_max),
      tensor("softmax_sum", p.softmax_sum), nullptr, tensor("attention_in", p.attention_in),
      tensor("sink", p.sink), nullptr, handles.array("actual_seq_qlen", p.actual_seq_qlen),
      handles.array("actual_seq_kvlen", p.actual_seq_kvlen), nullptr, nullptr, a.scale_value, 1,
      a.pre_tokens, a.next_tokens, a.head_num, layout, 0, 0, 1, order, tensor("dq", p.dq), nullptr,
      tensor("dk", p.dk), nullptr, tensor("dv", p.dv), nullptr, tensor("dsink", p.dsink),
      &prepared.workspace_size, &prepared.executor);
  ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
  Handles others(filling.uploaded.addresses());
  const Prepared usual = phase_1(call, others);
  EXPECT_EQ(prepared.workspace_size, usual.workspace_size);
  aclDestroyAclOpExecutor(usual.executor);
  run(phase_2_of(FlashEntryPoint::u5), prepared, stream);
  own->run(asked.problem, filling.inputs, filling.outputs);
  EXPECT_TRUE(filling.uploaded.download("dq") == filling.outputs.dq.bytes);
  EXPECT_TRUE(filling.uploaded.download("dsink") == filling.outputs.dsink->bytes);
}

/// The vendor's code treats a sink of shape [0] like a null pointer, and accepts a null or empty
/// dsinkOut. Our library must do the same.
TEST_F(Flash, TakesAnEmptySinkAndNoPlaceForItsGradient) {
  const auto empty = [](spec::Parameter& parameter) {
    parameter.shape = {0}, parameter.strides = {1};
  };
  for (const auto& [entry_point, layout] : {std::pair{FlashEntryPoint::g3, spec::Layout::bsnd},
                                            {FlashEntryPoint::u5, spec::Layout::tnd}}) {
    Asked asked{.problem = with_sink(), .entry_point = entry_point};
    asked.problem.input_layout = layout;
    Call unwritten = asked.call(), without_place = asked.call(), without_sink = asked.call();
    empty(unwritten.parameters.dsink);
    without_place.parameters.dsink = {};
    empty(without_sink.parameters.sink);
    without_sink.parameters.dsink = {};
    for (const Call& call : {unwritten, without_place, without_sink}) {
      Op::Problem problem = asked.problem;
      if (call.parameters.sink.shape != spec::Shape{4}) problem.sink = spec::SinkShape::absent;
      Filling<Op> filling = filling_of(call);
      Handles handles(filling.uploaded.addresses());
      const Prepared prepared = phase_1(call, handles);
      ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
      run(phase_2_of(entry_point), prepared, stream);
      filling.outputs.dsink.reset();
      if (!problem.has_sink()) filling.inputs.sink.reset();
      own->run(problem, filling.inputs, filling.outputs);
      EXPECT_TRUE(filling.uploaded.download("dq") == filling.outputs.dq.bytes);
      EXPECT_TRUE(filling.uploaded.download("dv") == filling.outputs.dv.bytes);
    }
  }
}

TEST_F(Flash, NeedsOneNumberPerRowMoreForASink) {
  const auto workspace_of = [](const Op::Problem& problem) {
    const Asked asked{.problem = problem, .entry_point = FlashEntryPoint::g3};
    Handles handles;
    const Prepared prepared = phase_1(asked.call(), handles);
    EXPECT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
    aclDestroyAclOpExecutor(prepared.executor);
    return prepared.workspace_size;
  };
  Op::Problem without = with_sink();
  without.sink = spec::SinkShape::absent;
  EXPECT_EQ(workspace_of(with_sink()) - workspace_of(without),
            1024U);  // 2 x 4 x 21 x 4 B, in 512 B
}

bool takes(const spec::Implementation<Op>& implementation, const Call& call) {
  try {
    implementation.check(call);
    return true;
  } catch (const spec::Rejected&) {
    return false;
  }
}

/// Returns a packed problem with two sequences of different lengths.
Op::Problem ragged() {
  return {.input_layout = spec::Layout::tnd,
          .dtype = spec::DType::fp16,
          .batch = 2,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = 21,
          .seq_kv = 37,
          .lengths_q = {13, 21},
          .lengths_kv = {37, 18},
          .head_dim = 24,
          .head_dim_v = 24};
}

/// The documentation of entry point u1 lists these shapes; the pages of u2 and u4 do not.
TEST_F(Flash, TakesEveryListedShapeOfABiasOfPackedSequences) {
  for (const Striding inputs : {Striding::contiguous, Striding::padded})
    for (const auto shape : {spec::PseShape::bnss, spec::PseShape::bn1s, spec::PseShape::one_nss}) {
      Asked asked{.problem = ragged(), .entry_point = FlashEntryPoint::u1};
      asked.problem.pse_shift = shape;
      asked.inputs = inputs;
      expect_same_bits(asked);
    }
}

TEST_F(Flash, TakesMasksWithBatchAndHeadAxesInEveryModeAndLayout) {
  using enum spec::MaskShape;
  for (const FlashEntryPoint entry_point : {FlashEntryPoint::g1, FlashEntryPoint::u1})
    for (const auto& [mode, shape] : {std::pair{std::int64_t{1}, b_one_ss},
                                      {0, bnss},
                                      {2, compressed_one_one_ss},
                                      {3, compressed_b_one_ss},
                                      {5, ss},
                                      {5, b_one_ss},
                                      {6, compressed_bnss}}) {
      Asked asked{.problem = ragged(), .entry_point = entry_point};
      Op::Problem& p = asked.problem;
      if (entry_point == FlashEntryPoint::g1)
        p.input_layout = spec::Layout::bsnd, p.lengths_q.clear(), p.lengths_kv.clear();
      p.sparse_mode = mode, p.atten_mask = shape;
      if (mode >= 5) p.prefix = {24, 17};
      expect_same_bits(asked);
    }
}

/// Sets the environment so that every call reads the softmax statistics in the memory order that
/// the vendor's code does not use.
struct OtherOrders {
  OtherOrders() {
    setenv("ASSAY_ACLNN_STATISTICS",
           "statistics_order=tokens_first,statistics_order_empty=tokens_first,"
           "statistics_order_same_as_input=heads_first",
           1);
  }
  ~OtherOrders() { unsetenv("ASSAY_ACLNN_STATISTICS"); }
};

/// The base class OtherOrders comes first, so that the environment is set before aclInit reads it.
class FlashOfOtherOrders : OtherOrders, public Flash {};

TEST_F(FlashOfOtherOrders, ReadsStatisticsAsTheEnvironmentSays) {
  using enum spec::StatisticsOrder;
  using enum spec::SoftmaxInLayout;
  for (const auto& [entry_point, layout, order] :
       {std::tuple{FlashEntryPoint::u1, empty, tokens_first},
        {FlashEntryPoint::u2, empty, tokens_first},
        {FlashEntryPoint::u4, empty, tokens_first},
        {FlashEntryPoint::u4, same_as_input, heads_first},
        {FlashEntryPoint::u5, empty, tokens_first},
        {FlashEntryPoint::u5, same_as_input, heads_first}}) {
    Asked asked{.problem = ragged(), .entry_point = entry_point};
    asked.problem.softmax_in_layout = layout;
    asked.problem.statistics_order = order;
    expect_same_bits(asked);
  }
}

TEST_F(Flash, ReadsStatisticsInEitherOrder) {
  using enum spec::SoftmaxInLayout;
  for (const auto layout : {empty, same_as_input})
    for (const FlashEntryPoint entry_point : {FlashEntryPoint::u4, FlashEntryPoint::u5}) {
      Asked asked{.problem = ragged(), .entry_point = entry_point};
      if (has_sink(entry_point)) asked.problem.sink = spec::SinkShape::per_head;
      asked.problem.softmax_in_layout = layout;
      asked.problem.statistics_order = upstream_order(layout);
      expect_same_bits(asked);
    }
}

TEST_F(Flash, TakesSlopesOfEitherTypeFromTheirStartIndices) {
  for (const FlashEntryPoint entry_point : {FlashEntryPoint::g2, FlashEntryPoint::u2})
    for (const spec::DType dtype : {spec::DType::fp16, spec::DType::fp32}) {
      Asked asked{.problem = ragged(), .entry_point = entry_point};
      Op::Problem& p = asked.problem;
      p.seq_q = p.seq_kv = 21, p.lengths_kv = p.lengths_q;
      if (entry_point == FlashEntryPoint::g2)
        p.input_layout = spec::Layout::bsnd, p.lengths_q.clear(), p.lengths_kv.clear();
      else if (dtype != spec::DType::fp32)
        continue;  // the documentation page of u2 lists only FLOAT slopes
      p.pse_type = 2, p.pse_shift = spec::PseShape::slopes_n, p.slope_dtype = dtype;
      p.q_start_idx = {5}, p.kv_start_idx = {3};
      expect_same_bits(asked);
    }
}

/// If the documentation contradicts itself about a call, the implementation may refuse the call.
/// The entry point must then give the same refusal.
TEST_F(Flash, GivesTheBitsOrTheRefusalOfTheImplementationForAnyLegalCall) {
  EXPECT_TRUE(rc::check([&] {
    const Asked asked = *spec::legal_call();
    RC_PRE(is_small(asked.problem));
    if (takes(*own, asked.call()))
      expect_same_bits(asked);
    else
      expect_same_answer(asked.call(), *own, phase_1_name(asked.entry_point));
    RC_ASSERT(!HasFailure());
  }));
}

TEST_P(FlashEntryPoints, AnswersEveryBrokenRowAsTheImplementationDoes) {
  std::vector<Call> calls;
  for (const Asked& asked : spec::plain_calls(GetParam())) calls.push_back(asked.call());
  EXPECT_GE(expect_same_refusals(calls, *own, phase_1_name(GetParam())), 30U);
}

std::string name_of(const testing::TestParamInfo<FlashEntryPoint>& entry_point) {
  return std::string(to_string(entry_point.param));
}

INSTANTIATE_TEST_SUITE_P(, FlashEntryPoints,
                         testing::Values(FlashEntryPoint::g1, FlashEntryPoint::g2,
                                         FlashEntryPoint::g3, FlashEntryPoint::u1,
                                         FlashEntryPoint::u2, FlashEntryPoint::u3,
                                         FlashEntryPoint::u4, FlashEntryPoint::u5),
                         name_of);

}  // namespace
