#include "assay/spec/striding.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "assay/spec/operators.hpp"

namespace assay::spec {
namespace {

/// Returns the tensor parameters of a call, with their names.
template <class Op>
std::vector<std::pair<std::string, Parameter>> tensors_of(const Call<Op>& call) {
  std::vector<std::pair<std::string, Parameter>> all;
  visit_fields(call.parameters, [&]<class Member>(std::string_view name, const Member& member) {
    if constexpr (std::same_as<Member, Parameter>)
      if (member.present) all.emplace_back(name, member);
  });
  return all;
}

bool is_contiguous(const Parameter& p) {
  return p.offset == 0 && p.strides == contiguous_strides(p.shape);
}

/// Expects that all tensors of the call have different strides. Then a kernel that uses the strides
/// of another tensor, or ignores strides, reads wrong elements.
template <class Op>
void expect_all_different(const Call<Op>& call) {
  const auto all = tensors_of(call);
  for (const auto& [name, tensor] : all) {
    EXPECT_FALSE(is_contiguous(tensor)) << name;
    for (const auto& [other_name, other] : all) {
      if (name >= other_name || tensor.shape.size() != other.shape.size()) continue;
      EXPECT_NE(std::pair(tensor.strides, tensor.offset), std::pair(other.strides, other.offset))
          << name << ' ' << other_name;
      if (tensor.shape.size() > 1) {
        EXPECT_NE(tensor.strides, other.strides) << name << ' ' << other_name;
      }
    }
  }
}

constexpr Striding mixed = Striding::mixed;

TEST(Mixed, GivesEveryTensorStridesThatNoOtherHas) {
  FlashAttentionScoreGrad::Problem p{.batch = 2,
                                     .heads_q = 2,
                                     .heads_kv = 2,
                                     .keep_prob = 0.5,
                                     .drop_mask = DropMask::exact,
                                     .atten_mask = MaskShape::bnss,
                                     .pse_shift = PseShape::bnss};
  for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd}) {
    p.input_layout = layout;
    expect_all_different(call_of(p, FlashEntryPoint::g2, Product::a2, mixed, mixed));
  }
  p.input_layout = Layout::tnd;
  p.head_dim_rope = 16;
  expect_all_different(call_of(p, FlashEntryPoint::u3, Product::a2, mixed, mixed));
}

TEST(Mixed, GivesEveryTensorOfEveryOperatorStridesThatNoOtherHas) {
  for_each_operator([]<class Op> {
    SCOPED_TRACE(Op::name);
    typename Op::Problem p;
    visit_fields(p, [](std::string_view name, auto& member, const auto&) {
      if constexpr (std::same_as<decltype(member), std::int64_t&>)
        if (name.starts_with("heads")) member = 2;
    });
    expect_all_different(call_of(p, typename Op::EntryPoint{}, Product::a2, mixed, mixed));
  });
}

TEST(Far, SpansMoreElementsThan31BitsCount) {
  for (const Shape& shape :
       {Shape{2, 3, 5}, Shape{1, 3, 5}, Shape{1, 1}, Shape{7}, Shape{1000, 2, 8}}) {
    Parameter parameter{.present = true, .dtype = DType::bf16, .shape = shape};
    apply_striding(parameter, Striding::far);
    EXPECT_GT(storage_elements(shape, parameter.strides, parameter.offset), far_elements);
    EXPECT_TRUE(is_sparse(parameter));
  }
  Parameter nothing{.present = true, .dtype = DType::bf16, .shape = {2, 0, 5}};
  apply_striding(nothing, Striding::far);
  EXPECT_FALSE(is_sparse(nothing));
}

TEST(Strides, StridesOfSomeTensorsLeaveTheOthersContiguous) {
  Strides inputs;
  inputs.set("dy", Striding::transposed);
  inputs.set("value", Striding::padded);
  const FlashAttentionScoreGrad::Problem p{.batch = 2, .heads_q = 2, .heads_kv = 2};
  const auto call = call_of(p, FlashEntryPoint::g1, Product::a2, inputs, Striding::contiguous);
  for (const auto& [name, tensor] : tensors_of(call))
    EXPECT_EQ(is_contiguous(tensor), name != "dy" && name != "value") << name;
  EXPECT_EQ(to_text(inputs), "dy:transposed,value:padded");
  EXPECT_FALSE(inputs.is_contiguous());
  inputs.set("dy", Striding::contiguous);
  inputs.set("value", Striding::contiguous);
  EXPECT_EQ(inputs, Strides());
}

TEST(Padding, LengthensThePackedTensorsOfItsSide) {
  const FlashAttentionScoreGrad::Problem p{.input_layout = Layout::tnd,
                                           .batch = 2,
                                           .seq_q = 3,
                                           .seq_kv = 4,
                                           .lengths_q = {3, 2},
                                           .lengths_kv = {1, 4},
                                           .padding_q = 6,
                                           .padding_kv = 7};
  const auto t =
      call_of(p, FlashEntryPoint::u1, Product::a2, Striding::contiguous, Striding::contiguous)
          .parameters;
  for (const Parameter* tensor : {&t.query, &t.dy, &t.attention_in, &t.dq, &t.softmax_max})
    EXPECT_EQ(tensor->shape[0], 11);
  for (const Parameter* tensor : {&t.key, &t.value, &t.dk, &t.dv}) EXPECT_EQ(tensor->shape[0], 12);
  EXPECT_EQ(t.actual_seq_qlen->back(), 5);
  EXPECT_EQ(query_extents(p).tokens(), 5);
  EXPECT_THROW(shape_of(Layout::bnsd, {.batch = 1, .heads = 1, .seq = 1, .dim = 1, .padding = 1}),
               std::invalid_argument);
}

}  // namespace
}  // namespace assay::spec
