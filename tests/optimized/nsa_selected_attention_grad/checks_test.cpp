#include "nsa_selected_attention_grad/checks.hpp"

#include <gtest/gtest.h>

#include "../implementation_checks.hpp"

namespace {

using namespace assay;
using Op = spec::NsaSelectedAttentionGrad;
using Call = spec::Call<Op>;
using spec::SelectedMask;
using spec::Striding;

std::string refusal(const Call& call) {
  return test::refusal_of(optimized::selected::refuse_unless_legal, call);
}

Op::Problem packed() {
  return {.batch = 3,
          .heads_q = 6,
          .heads_kv = 2,
          .seq_q = 20,
          .seq_kv = 96,
          .lengths_q = {5, 20, 1},
          .lengths_kv = {64, 96, 32},
          .selected_block_size = 32,
          .selected_block_count = 1};
}

Op::Problem masked() {
  Op::Problem p = packed();
  p.sparse_mode = 2, p.atten_mask = SelectedMask::compressed;
  return p;
}

Call call_of(const Op::Problem& p, Striding striding = Striding::contiguous,
             spec::Product product = spec::Product::a2) {
  return spec::call_of(p, spec::SelectedEntryPoint::s1, product, striding, striding);
}

TEST(SelectedChecks, TakeLegalCallsHoweverStridedOnEveryProduct) {
  for (Op::Problem p : {packed(), masked()})
    for (const Striding striding : {Striding::contiguous, Striding::padded, Striding::transposed})
      for (const spec::Product product : {spec::Product::a2, spec::Product::a3})
        for (const spec::DType mask : {spec::DType::boolean, spec::DType::uint8}) {
          p.mask_dtype = mask;
          EXPECT_EQ(refusal(call_of(p, striding, product)), "");
        }
}

TEST(SelectedChecks, TakeBothEndsOfEveryRange) {
  Op::Problem p = {.heads_q = 128, .heads_kv = 128, .seq_q = 131072, .seq_kv = 131072};
  p.selected_block_size = 128, p.selected_block_count = 32;
  EXPECT_EQ(refusal(call_of(p)), "");
  p = {.batch = 16, .heads_q = 32, .seq_q = 131072, .seq_kv = 131072};
  EXPECT_EQ(refusal(call_of(p)), "");
  p = {.batch = 131072, .seq_q = 16, .seq_kv = 16, .selected_block_count = 1};
  EXPECT_EQ(refusal(call_of(p)), "");
  for (const std::int64_t size : {16, 32, 48, 64, 80, 96, 112, 128}) {
    p = {.seq_kv = size, .selected_block_size = size, .selected_block_count = 1};
    EXPECT_EQ(refusal(call_of(p)), "") << size;
  }
}

/// The example program in the documentation passes the format NCHW for tensors with three axes.
TEST(SelectedChecks, TakeTheCallOfTheDocumentedExample) {
  Call call = call_of({.dtype = spec::DType::fp16,
                       .seq_q = 1,
                       .seq_kv = 1024,
                       .head_dim_v = 192,
                       .scale_value = 1,
                       .selected_block_size = 64,
                       .selected_block_count = 16});
  auto& t = call.parameters;
  for (spec::Parameter* tensor : {&t.query, &t.key, &t.value, &t.topk_indices, &t.dq})
    tensor->format = spec::Format::nchw;
  EXPECT_EQ(refusal(call), "");
}

TEST(SelectedChecks, NameTheNumberOfSequences) {
  Call call = call_of(packed());
  call.parameters.actual_seq_kvlen.emplace();
  EXPECT_EQ(refusal(call),
            "NSAS-C24: number of entries of actual_seq_kvlen is 0; it must be 1 to 2097152");
}

TEST(SelectedChecks, TakeAMaskOfRankZeroForNone) {
  Call call = call_of(packed());
  call.parameters.atten_mask = {.present = true, .dtype = spec::DType::fp32};
  EXPECT_EQ(refusal(call), "");
}

TEST(SelectedChecks, NameTheCulpritTheValueAndTheLimit) {
  const auto refusal_after = [](void (*change)(Call&)) {
    Call call = call_of(packed());
    change(call);
    return refusal(call);
  };
  EXPECT_EQ(refusal_after([](Call& c) {
              c.parameters.actual_seq_qlen = {5, 5, 26};
            }),
            "NSAS-C15: entry 1 of actual_seq_qlen is 5; it must be larger than the previous sum, "
            "which is 5");
  EXPECT_EQ(refusal_after([](Call& c) {
              c.parameters.actual_seq_kvlen = {0, 64, 192};
            }),
            "NSAS-C15: entry 0 of actual_seq_kvlen is 0; it must be larger than the previous sum, "
            "which is 0");
  EXPECT_EQ(refusal_after([](Call& c) { c.parameters.actual_seq_kvlen->back() = 200; }),
            "NSAS-C15: last entry of actual_seq_kvlen is 200; it must be the number of tokens, "
            "which is 192");
  EXPECT_EQ(refusal_after([](Call& c) {
              c.parameters.actual_seq_kvlen = {64, 150, 192};
            }),
            "NSAS-C30: length of key of sequence 1 is 86; it must be a multiple of "
            "selectedBlockSize, which is 32");
  EXPECT_EQ(refusal_after([](Call& c) { c.attributes.head_num = 2; }),
            "NSAS-C17a: headNum is 2, query has 6 heads; they must be equal");
  EXPECT_EQ(refusal_after([](Call& c) { c.parameters.topk_indices.shape[2] = 2; }),
            "NSAS-C32: shape of topk_indices is [26, 2, 2]; it must be [26, 2, 1]");
  EXPECT_EQ(refusal_after([](Call& c) { c.attributes.sparse_mode = 3; }),
            "NSAS-C33: sparseMode is 3; it must be 0 or 2");
}

/// The number of selected blocks multiplied by the block size does not fit in 64 bits.
TEST(SelectedChecks, DoNotOverflowOnHugeCounts) {
  Call call = call_of(packed());
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  call.attributes.selected_block_count = call.parameters.topk_indices.shape[2] = huge;
  EXPECT_EQ(refusal(call), "");
}

}  // namespace
