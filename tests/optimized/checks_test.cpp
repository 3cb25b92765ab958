#include "flash_attention_score_grad/checks.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "assay/optimized/flash_attention_score_grad.hpp"

namespace {

using namespace assay;
using Op = spec::FlashAttentionScoreGrad;
using Call = spec::Call<Op>;
using spec::DType;
using spec::FlashSurface;
using spec::Format;
using spec::Layout;
using spec::MaskShape;
using spec::Parameter;
using spec::Shape;
using spec::Status;

Parameter parameter(DType dtype, const Shape& shape) {
  return {
      .present = true, .dtype = dtype, .shape = shape, .strides = spec::contiguous_strides(shape)};
}

Call legal(Layout layout = Layout::bnsd, FlashSurface surface = FlashSurface::g2) {
  const Op::Problem problem = {.input_layout = layout,
                               .dtype = DType::bf16,
                               .batch = 3,
                               .heads_q = 4,
                               .heads_kv = 2,
                               .seq_q = 20,
                               .seq_kv = 30,
                               .head_dim = 24,
                               .head_dim_v = 16,
                               .atten_mask = MaskShape::ss};
  return spec::call_of(problem, surface, spec::Product::a2, spec::Striding::contiguous,
                       spec::Striding::contiguous);
}

void resize(Parameter& tensor, std::size_t axis, std::int64_t extent) {
  tensor.shape[axis] = extent;
  tensor.strides = spec::contiguous_strides(tensor.shape);
}

std::string refusal(const Call& call) {
  try {
    optimized::refuse_unless_legal(call);
  } catch (const spec::Rejected& rejected) {
    return rejected.what();
  }
  return "";
}

/// A call that breaks one row, and the row.
struct Broken {
  std::string_view id;
  std::function<void(Call&)> apply;
};

const std::vector<Broken>& broken_calls() {
  static const std::vector<Broken> calls = {
      {"FAG-C01", [](Call& c) { c.parameters.dy.present = false; }},
      {"FAG-C02", [](Call& c) { c.parameters.dv.present = false; }},
      {"FAG-C02", [](Call& c) { c.parameters.executor = false; }},
      {"FAG-C03", [](Call& c) { c.parameters.attention_in.present = false; }},
      {"FAG-C03", [](Call& c) { c.parameters.attention_in.shape.clear(); }},
      {"FAG-C04", [](Call& c) { c.parameters.softmax_sum.present = false; }},
      {"FAG-C07", [](Call& c) { c.attributes.input_layout.reset(); }},
      {"FAG-C12", [](Call& c) { c.attributes.keep_prob = 0.5; }},
      {"FAG-C20", [](Call& c) { c.parameters.query.dtype = DType::int8; }},
      {"FAG-C20", [](Call& c) { c.parameters.value.dtype = DType::fp16; }},
      {"FAG-C21", [](Call& c) { c.parameters.dk.dtype = DType::fp32; }},
      {"FAG-C22", [](Call& c) { c.parameters.key.dtype = DType::float8_e5m2; }},
      {"FAG-C23",
       [](Call& c) {
         c.parameters.pse_shift = parameter(DType::fp32, {3, 4, 20, 30});
       }},
      {"FAG-C24", [](Call& c) { c.parameters.drop_mask = parameter(DType::int8, {900}); }},
      {"FAG-C25", [](Call& c) { c.parameters.atten_mask.dtype = DType::fp16; }},
      {"FAG-C26", [](Call& c) { c.parameters.softmax_max.dtype = DType::fp16; }},
      {"FAG-C28", [](Call& c) { c.parameters.dq.format = Format::fractal_nz; }},
      {"FAG-C29",
       [](Call& c) {
         c.parameters.padding_mask = parameter(DType::fp32, {3, 30});
       }},
      {"FAG-C29",
       [](Call& c) {
         c.parameters.softmax_in = parameter(DType::int32, {3, 30});
       }},
      {"FAG-C30", [](Call& c) { c.attributes.input_layout = "bnsd"; }},
      {"FAG-C32", [](Call& c) { c.parameters.key.shape.pop_back(); }},
      {"FAG-C33", [](Call& c) { resize(c.parameters.value, 0, 2); }},
      {"FAG-C34", [](Call& c) { resize(c.parameters.key, 3, 25); }},
      {"FAG-C35", [](Call& c) { resize(c.parameters.value, 3, 25); }},
      {"FAG-C36", [](Call& c) { resize(c.parameters.value, 2, 31); }},
      {"FAG-C36", [](Call& c) { resize(c.parameters.dy, 2, 21); }},
      {"FAG-C37", [](Call& c) { resize(c.parameters.key, 1, 3); }},
      {"FAG-C38", [](Call& c) { c.attributes.head_num = 0; }},
      {"FAG-C38", [](Call& c) { c.attributes.head_num = 2; }},
      {"FAG-C46", [](Call& c) { resize(c.parameters.softmax_max, 3, 1); }},
      {"FAG-C47", [](Call& c) { resize(c.parameters.attention_in, 3, 24); }},
      {"FAG-C48", [](Call& c) { resize(c.parameters.dv, 2, 29); }},
      {"FAG-C49", [](Call& c) { resize(c.parameters.query, 2, 0); }},
      {"FAG-C60", [](Call& c) { c.attributes.keep_prob = 0; }},
      {"FAG-C60", [](Call& c) { c.attributes.keep_prob = 1.5; }},
      {"FAG-C62",
       [](Call& c) {
         c.attributes.keep_prob = 0.5;
         c.parameters.drop_mask = parameter(DType::uint8, {899});
       }},
      {"FAG-C63", [](Call& c) { c.attributes.sparse_mode = 9; }},
      {"FAG-C63", [](Call& c) { c.attributes.sparse_mode = -1; }},
      {"FAG-C64", [](Call& c) { c.attributes.sparse_mode = 7; }},
      {"FAG-C67", [](Call& c) { resize(c.parameters.atten_mask, 1, 31); }},
      {"FAG-C67", [](Call& c) { c.attributes.sparse_mode = 2; }},
      {"FAG-C68", [](Call& c) { c.attributes.pre_tokens = -31; }},
      {"FAG-C68", [](Call& c) { c.attributes.next_tokens = -21; }},
      {"FAG-C68", [](Call& c) { c.attributes.pre_tokens = 3, c.attributes.next_tokens = -4; }},
      {"FAG-C71",
       [](Call& c) {
         c.parameters.atten_mask = parameter(DType::uint8, {2048, 2048});
         c.attributes.sparse_mode = 4;
         c.attributes.pre_tokens = 3, c.attributes.next_tokens = -4;
       }},
      {"FAG-C72",
       [](Call& c) {
         c.parameters.atten_mask = parameter(DType::uint8, {3072, 2048});
         c.attributes.sparse_mode = 6;
       }},
      {"FAG-C76", [](Call& c) { c.attributes.pse_type = 4; }},
      {"FAG-C78", [](Call& c) { c.attributes.pse_type = 0; }},
      {"FAG-C79",
       [](Call& c) {
         c.parameters.pse_shift = parameter(DType::bf16, {3, 4, 2, 30});
       }},
      {"FAG-C80",
       [](Call& c) {
         c.parameters.pse_shift = parameter(DType::fp32, {4});
         c.attributes.pse_type = 2;
       }},
  };
  return calls;
}

TEST(Checks, AcceptALegalCallInEveryLayoutOfBothSurfaces) {
  for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd})
    for (const FlashSurface surface : {FlashSurface::g1, FlashSurface::g2})
      EXPECT_EQ(refusal(legal(layout, surface)), "");
}

TEST(Checks, NameTheRowThatACallBreaks) {
  for (const Broken& broken : broken_calls()) {
    Call call = legal();
    broken.apply(call);
    EXPECT_EQ(refusal(call).substr(0, 7), broken.id) << refusal(call);
  }
}

/// Extents beyond the limits need tensors of their own.
TEST(Checks, NameTheLimitThatAnExtentPasses) {
  const auto refused = [](const Op::Problem& problem) {
    return refusal(spec::call_of(problem, FlashSurface::g2, spec::Product::a2,
                                 spec::Striding::contiguous, spec::Striding::contiguous));
  };
  EXPECT_EQ(refused({.heads_q = 257, .heads_kv = 257}),
            "FAG-C39: number of query heads is 257; it must be 1 to 256");
  EXPECT_EQ(refused({.batch = 2097153}), "FAG-C40: batch is 2097153; it must be 1 to 2097152");
  EXPECT_EQ(refused({.seq_q = 1048577}),
            "FAG-C41: length of query is 1048577; it must be 1 to 1048576");
  EXPECT_EQ(refused({.head_dim = 769}), "FAG-C44: head size of query is 769; it must be 1 to 768");
  EXPECT_EQ(refused({.heads_q = 256, .heads_kv = 256, .head_dim = 768}), "");
}

TEST(Checks, NameParameterValueAndLimit) {
  Call call = legal();
  resize(call.parameters.key, 3, 65);
  EXPECT_EQ(refusal(call),
            "FAG-C34: head size of key is 65, that of query is 24; they must be equal");
  call = legal();
  call.parameters.softmax_max.dtype = DType::fp16;
  EXPECT_EQ(refusal(call), "FAG-C26: type of softmax_max is fp16; it must be fp32");
}

TEST(Checks, AnswerAMissingArgumentWithItsOwnStatus) {
  for (const Broken& broken : broken_calls()) {
    Call call = legal();
    broken.apply(call);
    const std::set<std::string_view> missing = {"FAG-C01", "FAG-C02", "FAG-C03",
                                                "FAG-C04", "FAG-C07", "FAG-C12"};
    try {
      optimized::refuse_unless_legal(call);
      ADD_FAILURE() << broken.id;
    } catch (const spec::Rejected& rejected) {
      EXPECT_EQ(rejected.status(),
                missing.contains(broken.id) ? Status::param_nullptr : Status::param_invalid)
          << broken.id;
    }
  }
}

TEST(Checks, AreEachBrokenBySomeCall) {
  std::set<std::string_view> broken = {"FAG-C39", "FAG-C40", "FAG-C41", "FAG-C44", "FAG-C81"};
  for (const Broken& call : broken_calls()) broken.insert(call.id);
  for (const auto& check : optimized::argument_checks())
    EXPECT_TRUE(broken.contains(check.id)) << check.id;
}

TEST(Checks, FindUnequalHeadsWhereHeadsAndChannelsShareAnAxis) {
  Call call = legal(Layout::bsh);
  call.attributes.head_num = 5;
  EXPECT_EQ(refusal(call),
            "FAG-C38: last extent of query is 96, not a multiple of headNum, which is 5");
  call = legal(Layout::sbh);
  resize(call.parameters.key, 2, 49);
  EXPECT_EQ(refusal(call).substr(0, 7), "FAG-C34");
}

TEST(Checks, NeedACausalWindowForCompressedAlibi) {
  Op::Problem problem = {
      .dtype = DType::bf16, .seq_q = 1500, .seq_kv = 1500, .pre_tokens = 1500, .next_tokens = 0};
  const auto asked = [&] {
    Call call = spec::call_of(problem, FlashSurface::g1, spec::Product::a2,
                              spec::Striding::contiguous, spec::Striding::contiguous);
    call.parameters.pse_shift = parameter(DType::bf16, {1, 1, 1024, problem.seq_kv});
    return refusal(call);
  };
  EXPECT_EQ(asked(), "");
  problem.next_tokens = 1;
  EXPECT_EQ(asked().substr(0, 7), "FAG-C81");
  problem.next_tokens = 0, problem.seq_kv = 1600;
  EXPECT_EQ(asked().substr(0, 7), "FAG-C81");
}

TEST(Checks, IgnorePseTypeOnTheEntryPointWithoutIt) {
  Call call = legal(Layout::bnsd, FlashSurface::g1);
  call.attributes.pse_type = 4;
  EXPECT_EQ(refusal(call), "");
}

TEST(Checks, TakeAnyCallWithoutAnyOutputElement) {
  Call call = legal();
  for (Parameter* output : {&call.parameters.dq, &call.parameters.dk, &call.parameters.dv})
    resize(*output, 0, 0);
  call.attributes.head_num = -1;
  EXPECT_EQ(refusal(call), "");
  call.parameters.query.present = false;
  EXPECT_EQ(refusal(call).substr(0, 7), "FAG-C01");
}

TEST(Checks, TakeAnEmptyQueryOrKey) {
  for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd})
    for (const auto& [sq, skv] : {std::pair{0, 9}, {9, 0}, {0, 0}}) {
      const Op::Problem problem = {.input_layout = layout, .seq_q = sq, .seq_kv = skv};
      EXPECT_EQ(refusal(spec::call_of(problem, FlashSurface::g2, spec::Product::a2,
                                      spec::Striding::contiguous, spec::Striding::contiguous)),
                "");
    }
}

TEST(Unsupported, NamesAFeatureThatIsMissingButNotOneOfAnIllegalCall) {
  const auto implementation = optimized::flash_attention_score_grad(device::a2());
  Call call = legal();
  EXPECT_EQ(implementation->unsupported(call), std::nullopt);
  call.parameters.pse_shift = parameter(DType::bf16, {3, 4, 20, 30});
  EXPECT_NE(implementation->unsupported(call), std::nullopt);
  call.attributes.head_num = 0;
  EXPECT_EQ(implementation->unsupported(call), std::nullopt);
  call = legal();
  call.attributes.keep_prob = 0.5;
  call.parameters.drop_mask = parameter(DType::uint8, {900});
  EXPECT_NE(implementation->unsupported(call), std::nullopt);
  call = legal();
  call.parameters.atten_mask = parameter(DType::uint8, {2048, 2048});
  call.attributes.sparse_mode = 6;
  call.parameters.atten_mask = parameter(DType::uint8, {3072, 2048});
  call.parameters.prefix = std::vector<std::int64_t>{10, 20, 30};
  EXPECT_NE(implementation->unsupported(call), std::nullopt);
}

}  // namespace
