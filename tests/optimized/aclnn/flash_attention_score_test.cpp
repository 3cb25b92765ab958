#include "assay/optimized/flash_attention_score.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "entries.hpp"
#include "refusals.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::FlashAttentionScore;
using Call = spec::Call<Op>;
using EntryPoint = spec::FlashForwardEntryPoint;
using spec::Striding;

class FlashForwardEntries : public Session {
 protected:
  std::unique_ptr<spec::Implementation<Op>> own = optimized::flash_attention_score(device::a2());
};

/// Returns legal problems. Each entry point has a problem with the parameters that only this entry
/// point has.
std::vector<std::pair<EntryPoint, Op::Problem>> problems() {
  const Op::Problem dense = {.input_layout = spec::Layout::bsnd,
                             .dtype = spec::DType::fp16,
                             .batch = 2,
                             .heads_q = 4,
                             .heads_kv = 2,
                             .seq_q = 19,
                             .seq_kv = 19,
                             .head_dim = 24,
                             .head_dim_v = 16};
  Op::Problem masked = dense, banded = dense, sloped = dense, packed = dense;
  masked.sparse_mode = 3, masked.atten_mask = spec::MaskShape::compressed;
  masked.keep_prob = 0.5, masked.drop_mask = spec::DropMask::exact;
  banded.sparse_mode = 4, banded.atten_mask = spec::MaskShape::compressed;
  banded.pre_tokens = 9, banded.next_tokens = 2;
  sloped.dtype = spec::DType::fp32;
  sloped.pse_type = 2, sloped.pse_shift = spec::PseShape::slopes_n;
  sloped.q_start_idx = {3}, sloped.kv_start_idx = {5};
  packed.input_layout = spec::Layout::tnd;
  packed.lengths_q = {7, 12}, packed.lengths_kv = {9, 19};
  packed.seq_q = 12;
  Op::Problem packed_slopes = sloped, roped = packed;
  packed_slopes.input_layout = spec::Layout::tnd;
  roped.dtype = spec::DType::bf16;
  roped.head_dim_rope = 8;
  roped.sparse_mode = 2, roped.atten_mask = spec::MaskShape::compressed;
  std::vector<std::pair<EntryPoint, Op::Problem>> all = {
      {EntryPoint::f1, masked}, {EntryPoint::f1, banded},        {EntryPoint::f2, sloped},
      {EntryPoint::l1, packed}, {EntryPoint::l2, packed_slopes}, {EntryPoint::l3, roped}};
  // f3 and l5 may have a sink, l5 also statistics in another order.
  using enum spec::SoftmaxInLayout;
  for (Op::Problem* p : {&masked, &packed, &packed_slopes, &roped}) {
    const EntryPoint entry_point = is_packed(p->input_layout) ? EntryPoint::l5 : EntryPoint::f3;
    all.emplace_back(entry_point, *p);
    p->sink = spec::SinkShape::per_head;
    all.emplace_back(entry_point, *p);
    if (entry_point == EntryPoint::f3) continue;
    p->softmax_in_layout = same_as_input;
    p->statistics_order = upstream_order(same_as_input);
    all.emplace_back(entry_point, *p);
  }
  return all;
}

TEST_F(FlashForwardEntries, GiveTheBitsOfTheImplementation) {
  for (const auto& [entry_point, problem] : problems())
    for (const Striding striding : {Striding::contiguous, Striding::padded, Striding::transposed}) {
      SCOPED_TRACE(spec::to_string(entry_point));
      const Call call = spec::call_of(problem, entry_point, spec::Product::a2, striding, striding);
      expect_same_bits(call, problem, *own, phase_2_of(entry_point), stream);
    }
}

/// As the vendor's code: a sink of shape [0] counts as null.
TEST_F(FlashForwardEntries, TakeAnEmptySink) {
  for (const auto& [entry_point, problem] : problems()) {
    if (!problem.has_sink()) continue;
    Op::Problem without = problem;
    without.sink = spec::SinkShape::absent;
    Call call = spec::call_of(without, entry_point, spec::Product::a2, Striding::contiguous,
                              Striding::contiguous);
    call.parameters.sink = {
        .present = true, .dtype = spec::DType::fp32, .shape = {0}, .strides = {1}};
    expect_same_bits(call, without, *own, phase_2_of(entry_point), stream);
  }
}

TEST_F(FlashForwardEntries, AnswerEveryBrokenRowAsTheImplementationDoes) {
  for (const auto& [entry_point, problem] : problems()) {
    const std::vector<Call> calls = {spec::call_of(problem, entry_point, spec::Product::a2,
                                                   Striding::contiguous, Striding::contiguous)};
    EXPECT_GE(expect_same_refusals(calls, *own, phase_1_name(entry_point)), 20U)
        << spec::to_string(entry_point);
  }
}

}  // namespace
