#include <gtest/gtest.h>

#include <algorithm>

#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "entries.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::FlashAttentionScoreGrad;
using Call = spec::Call<Op>;
using spec::FlashEntryPoint;
using spec::Parameter;
using spec::Tensor;

class FlashLimits : public Session {
 protected:
  std::unique_ptr<spec::Implementation<Op>> own =
      optimized::flash_attention_score_grad(device::a2());

  /// Runs the entry point on the modelled device and returns its outputs.
  Filling<Op> through(const Call& call) {
    Filling<Op> filling = filling_of(call);
    Handles handles(filling.uploaded.addresses());
    const Prepared prepared = phase_1(call, handles);
    EXPECT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
    if (prepared.status == ACLNN_SUCCESS) run(phase_2_of(call.entry_point), prepared, stream);
    visit_tensors_of(call.parameters, filling.outputs,
                     [&](std::string_view name, const Parameter&, Tensor& tensor) {
                       tensor.bytes = filling.uploaded.download(name);
                     });
    return filling;
  }
};

Call call_of(const Op::Problem& problem, FlashEntryPoint entry_point) {
  return spec::call_of(problem, entry_point, spec::Product::a2, spec::Striding::contiguous,
                       spec::Striding::contiguous);
}

Op::Problem packed() {
  return {.input_layout = spec::Layout::tnd,
          .dtype = spec::DType::fp16,
          .batch = 2,
          .heads_q = 2,
          .heads_kv = 1,
          .seq_q = 9,
          .seq_kv = 7,
          .lengths_q = {5, 9},
          .lengths_kv = {7, 4}};
}

std::size_t size_of(const Tensor& tensor) {
  return static_cast<std::size_t>(spec::element_count(tensor.shape) * spec::size_of(tensor.dtype));
}

bool all_are(std::span<const std::byte> bytes, std::byte value) {
  return std::ranges::all_of(bytes, [&](std::byte byte) { return byte == value; });
}

void lengthen(Parameter& parameter, std::int64_t tokens) {
  if (!parameter.present) return;
  parameter.shape[0] += tokens;
  parameter.strides = spec::contiguous_strides(parameter.shape);
}

/// The additional rows at the end belong to no sequence.
TEST_F(FlashLimits, RowsAfterTheLastSequenceAreZero) {
  const Op::Problem problem = packed();
  Call call = call_of(problem, FlashEntryPoint::u2);
  for (const auto member :
       {&Op::Parameters::query, &Op::Parameters::dy, &Op::Parameters::dq,
        &Op::Parameters::attention_in, &Op::Parameters::softmax_max, &Op::Parameters::softmax_sum})
    lengthen(call.parameters.*member, 3);
  for (const auto member :
       {&Op::Parameters::key, &Op::Parameters::value, &Op::Parameters::dk, &Op::Parameters::dv})
    lengthen(call.parameters.*member, 2);
  Filling<Op> actual = through(call);

  const Call exact = call_of(problem, FlashEntryPoint::u2);
  Filling<Op> expected = filling_of(exact);
  visit_tensors_of(exact.parameters, expected.inputs,
                   [&](std::string_view name, const Parameter&, Tensor& tensor) {
                     std::ranges::copy_n(actual.uploaded.download(name).begin(),
                                         static_cast<std::ptrdiff_t>(tensor.bytes.size()),
                                         tensor.bytes.begin());
                   });
  own->run(problem, expected.inputs, expected.outputs);
  for (const auto member : {&Op::Outputs::dq, &Op::Outputs::dk, &Op::Outputs::dv}) {
    const Tensor &is = actual.outputs.*member, &should_be = expected.outputs.*member;
    const auto sequences = static_cast<std::ptrdiff_t>(size_of(should_be));
    EXPECT_TRUE(
        std::equal(is.bytes.begin(), is.bytes.begin() + sequences, should_be.bytes.begin()));
    EXPECT_TRUE(
        all_are(std::span(is.bytes).subspan(size_of(should_be), size_of(is) - size_of(should_be)),
                std::byte{0}));
  }
}

TEST_F(FlashLimits, ACompressedMaskMayHaveFourAxes) {
  Op::Problem problem = {
      .seq_q = 40, .seq_kv = 50, .sparse_mode = 3, .atten_mask = spec::MaskShape::compressed};
  Call call = call_of(problem, FlashEntryPoint::g1);
  Filling<Op> flat = through(call);
  Parameter& mask = call.parameters.atten_mask;
  mask.shape = {1, 1, 2048, 2048};
  mask.strides = spec::contiguous_strides(mask.shape);
  Filling<Op> deep = through(call);
  EXPECT_TRUE(flat.outputs.dq.bytes == deep.outputs.dq.bytes);
  EXPECT_TRUE(flat.outputs.dk.bytes == deep.outputs.dk.bytes);
}

TEST_F(FlashLimits, ATensorOfRankZeroIsAbsent) {
  Call call = call_of({}, FlashEntryPoint::g2);
  const Filling<Op> without = through(call);
  for (const auto member : {&Op::Parameters::atten_mask, &Op::Parameters::pse_shift,
                            &Op::Parameters::drop_mask, &Op::Parameters::dpse})
    call.parameters.*member = {.present = true, .dtype = spec::DType::uint8};
  call.parameters.pse_shift.dtype = call.parameters.dpse.dtype = spec::DType::bf16;
  const Filling<Op> with = through(call);
  EXPECT_TRUE(with.outputs.dq.bytes == without.outputs.dq.bytes);
}

/// The reserved tensors of this call have no memory, so a kernel that accesses them fails.
TEST_F(FlashLimits, ReservedTensorsAreNotTouched) {
  Call call = call_of({}, FlashEntryPoint::g1);
  Filling<Op> filling = filling_of(call);
  Handles handles(filling.uploaded.addresses());
  const auto reserved = [](spec::DType dtype) {
    return Parameter{
        .present = true, .dtype = dtype, .shape = {1, 1, 16, 16}, .strides = {256, 256, 16, 1}};
  };
  call.parameters.padding_mask = reserved(spec::DType::uint8);
  call.parameters.softmax_in = call.parameters.dpse = reserved(spec::DType::bf16);
  const Prepared prepared = phase_1(call, handles);
  ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
  run(phase_2_of(call.entry_point), prepared, stream);
}

/// The drop mask of this call has no memory, so a kernel that accesses it fails.
TEST_F(FlashLimits, WithoutDropoutItsMaskIsNotTouched) {
  Call call = call_of({}, FlashEntryPoint::g1);
  Filling<Op> filling = filling_of(call);
  Handles handles(filling.uploaded.addresses());
  call.parameters.drop_mask = {
      .present = true, .dtype = spec::DType::uint8, .shape = {1}, .strides = {1}};
  const Prepared prepared = phase_1(call, handles);
  ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
  run(phase_2_of(call.entry_point), prepared, stream);
}

TEST_F(FlashLimits, ACallWithoutAnyOutputElementNeedsNothing) {
  const Call call = call_of({.seq_q = 0, .seq_kv = 0}, FlashEntryPoint::g1);
  Handles handles;  // no tensor needs memory
  const Prepared prepared = phase_1(call, handles);
  ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
  EXPECT_EQ(prepared.workspace_size, 0U);
  run(phase_2_of(call.entry_point), prepared, stream);
  EXPECT_EQ(phase_2_of(call.entry_point)(nullptr, 0, prepared.executor, stream),
            ACLNN_ERR_PARAM_INVALID)
      << "this executor may be used only once, too";
}

TEST_F(FlashLimits, TensorsOfACallWithoutAnyOutputElementMustLiveUntilPhase2) {
  const Call call = call_of({.seq_q = 0, .seq_kv = 0}, FlashEntryPoint::g1);
  Prepared prepared;
  {
    Handles short_lived;
    prepared = phase_1(call, short_lived);
    ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
  }
  EXPECT_EQ(phase_2_of(call.entry_point)(nullptr, 0, prepared.executor, stream),
            ACLNN_ERR_PARAM_INVALID);
}

TEST_F(FlashLimits, WithoutQueriesTheOtherGradientsAreZero) {
  for (const spec::Layout layout :
       {spec::Layout::bsh, spec::Layout::sbh, spec::Layout::bsnd, spec::Layout::bnsd}) {
    const Filling<Op> filling =
        through(call_of({.input_layout = layout, .seq_q = 0}, FlashEntryPoint::g1));
    for (const Tensor* output : {&filling.outputs.dk, &filling.outputs.dv})
      EXPECT_TRUE(all_are(std::span(output->bytes).first(size_of(*output)), std::byte{0}));
    const Filling<Op> apart =
        through(spec::call_of({.input_layout = layout, .seq_q = 0}, FlashEntryPoint::g1,
                              spec::Product::a2, spec::Striding::padded, spec::Striding::padded));
    EXPECT_TRUE(all_are(apart.outputs.dq.bytes, std::byte{0xAB})) << "a view without elements";
  }
}

/// The documentation accepts a prefix from max(Skv - Sq, 0) to Skv. The vendor's code accepts any
/// prefix, and the vendor's own test uses values outside this range.
TEST_F(FlashLimits, PrefixOutsideItsRangeIsAccepted) {
  Op::Problem problem = {
      .seq_q = 40, .seq_kv = 50, .sparse_mode = 6, .atten_mask = spec::MaskShape::compressed};
  for (const std::int64_t prefix :
       {std::int64_t{9}, std::int64_t{10}, std::int64_t{50}, std::int64_t{51}, std::int64_t{-1},
        std::int64_t{1} << 62, -(std::int64_t{1} << 62)}) {
    problem.prefix = {prefix};
    through(call_of(problem, FlashEntryPoint::g1));
  }
  through(call_of({.seq_q = 1,
                   .seq_kv = 1024,
                   .sparse_mode = 6,
                   .prefix = {32},
                   .atten_mask = spec::MaskShape::compressed},
                  FlashEntryPoint::g1));
}

/// The documentation allows 2K sequences, or 1K with a prefix. One of the vendor's tests passes
/// 2049 sequences.
TEST_F(FlashLimits, MoreSequencesThanThePagesAllowAreAccepted) {
  Op::Problem problem = {.input_layout = spec::Layout::tnd, .batch = 2049, .seq_q = 1, .seq_kv = 1};
  through(call_of(problem, FlashEntryPoint::u1));
  problem.batch = 1025;
  problem.sparse_mode = 6;
  problem.prefix.assign(1025, 1);
  problem.atten_mask = spec::MaskShape::compressed;
  through(call_of(problem, FlashEntryPoint::u1));
}

/// A tensor with a stride of 0 repeats the same elements along this axis.
TEST_F(FlashLimits, InputsMayBeBroadcast) {
  Call call = call_of({.heads_q = 2, .heads_kv = 2}, FlashEntryPoint::g1);
  call.parameters.key.strides[1] = 0;
  Filling<Op> filling = through(call);
  Filling<Op> expected = filling_of(call);
  own->run({.heads_q = 2, .heads_kv = 2}, expected.inputs, expected.outputs);
  EXPECT_TRUE(filling.outputs.dq.bytes == expected.outputs.dq.bytes);
}

/// Apart from the size of one tensor the call is legal. Checking it needs no memory for the tensor.
TEST_F(FlashLimits, ATensorLargerThanTheDeviceIsRefusedInPhase1) {
  Handles handles;
  const std::int64_t tokens = 1 << 20;
  const Prepared prepared = phase_1(call_of({.heads_q = 256,
                                             .heads_kv = 1,
                                             .seq_q = tokens,
                                             .seq_kv = 16,
                                             .head_dim = 256,
                                             .head_dim_v = 16},
                                            FlashEntryPoint::g1),
                                    handles);
  EXPECT_EQ(prepared.status, ACLNN_ERR_PARAM_INVALID);
  const std::string message = recent_message();
  EXPECT_NE(message.find("GetWorkspaceSize: query is larger than the "), std::string::npos)
      << message;
}

/// Query has 256 heads of 2^20 rows of 128 elements of 2 bytes. This is 64 GiB, exactly the memory
/// of the device.
TEST_F(FlashLimits, TensorAsLargeAsTheDeviceIsAccepted) {
  void* start = nullptr;
  EXPECT_EQ(aclrtMalloc(&start, (std::size_t{1} << 36) + 1, ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_BAD_ALLOC);
  const std::string message = recent_message();
  ASSERT_NE(message.find(" 68719476736 B are left"), std::string::npos) << message;
  Handles handles;
  const Prepared prepared = phase_1(call_of({.heads_q = 256,
                                             .heads_kv = 1,
                                             .seq_q = 1 << 20,
                                             .seq_kv = 16,
                                             .head_dim = 128,
                                             .head_dim_v = 16},
                                            FlashEntryPoint::g1),
                                    handles);
  EXPECT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
}

TEST_F(FlashLimits, AnEmptyArrayOfLengthsIsInvalid) {
  for (const auto member : {&Op::Parameters::actual_seq_qlen, &Op::Parameters::actual_seq_kvlen}) {
    Call call = call_of(packed(), FlashEntryPoint::u1);
    (call.parameters.*member).emplace();
    Handles handles;
    EXPECT_EQ(phase_1(call, handles).status, ACLNN_ERR_PARAM_INVALID);
    (call.parameters.*member).reset();
    EXPECT_EQ(phase_1(call, handles).status, ACLNN_ERR_PARAM_NULLPTR);
  }
}

TEST_F(FlashLimits, UnsupportedTypeIsRefusedByName) {
  const std::int64_t dims[] = {1, 1, 16, 16};
  aclTensor* const tensor =
      aclCreateTensor(dims, 4, ACL_COMPLEX64, nullptr, 0, ACL_FORMAT_ND, dims, 4, nullptr);
  ASSERT_NE(tensor, nullptr);
  Call call = call_of({}, FlashEntryPoint::g1);
  Handles handles;
  const Parameter query = call.parameters.query;
  const aclTensor* const key = handles.tensor("key", query);
  std::uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  char layout[] = "BNSD";
  EXPECT_EQ(
      aclnnFlashAttentionScoreGradGetWorkspaceSize(
          tensor, key, key, key, nullptr, nullptr, nullptr, nullptr, key, key, nullptr, key,
          nullptr, 1, 1, 65536, 65536, 1, layout, 0, 0, key, key, key, nullptr, &size, &executor),
      ACLNN_ERR_PARAM_INVALID);
  const std::string message = recent_message();
  EXPECT_NE(message.find("FAG-C20: type of query"), std::string::npos) << message;
  EXPECT_NE(message.find("query has aclDataType 16"), std::string::npos) << message;
  aclDestroyTensor(tensor);
}

TEST_F(FlashLimits, TheWorkspaceHoldsTheSumsOfTheGradients) {
  Handles handles;
  const Prepared prepared =
      phase_1(call_of({.heads_q = 2, .seq_q = 100, .head_dim = 24}, FlashEntryPoint::g1), handles);
  ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
  // The sizes of the buffers in the workspace (in float numbers; each buffer is rounded up to 512
  // B): dq 2 * 100 * 24, dk 16 * 24, dv 16 * 16, row terms (delta) 2 * 100.
  EXPECT_EQ(prepared.workspace_size, 19456U + 1536U + 1024U + 1024U);
}

TEST_F(FlashLimits, TheWorkspaceHoldsTheSumsOfTheGradientsOfRopes) {
  Handles handles;
  const Prepared prepared = phase_1(call_of({.input_layout = spec::Layout::tnd,
                                             .batch = 2,
                                             .heads_q = 2,
                                             .seq_q = 60,
                                             .seq_kv = 16,
                                             .lengths_q = {60, 40},
                                             .lengths_kv = {16, 10},
                                             .head_dim = 24,
                                             .head_dim_v = 24,
                                             .head_dim_rope = 8,
                                             .atten_mask = spec::MaskShape::ss},
                                            FlashEntryPoint::u3),
                                    handles);
  ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
  // The sizes of the buffers in the workspace (in float numbers; each buffer is rounded up to 512
  // B): dq 100 * 2 * 24, dq_rope 100 * 2 * 8, dk 26 * 24, dk_rope 26 * 8, dv 26 * 24, row terms
  // (delta) 2 * 100.
  EXPECT_EQ(prepared.workspace_size, 19456U + 6656U + 2560U + 1024U + 2560U + 1024U);
}

}  // namespace
