#pragma once

#include <gtest/gtest.h>

#include <string>

#include "entries.hpp"

/// Makes calls of the NSA operators, and checks the answers that all their entry points must give.
namespace assay::test {

inline spec::SelectionProblem plain_selection() {
  return {.dtype = spec::DType::bf16,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = 9,
          .seq_kv = 64,
          .head_dim = 192,
          .head_dim_v = 128};
}
inline spec::SelectionProblem packed_selection() {
  spec::SelectionProblem p = plain_selection();
  p.dtype = spec::DType::fp16;
  p.batch = 3, p.seq_q = 7, p.seq_kv = 96;
  p.lengths_q = {3, 7, 1}, p.lengths_kv = {32, 96, 64};
  return p;
}
inline spec::SelectionProblem causal_selection() {
  spec::SelectionProblem p = packed_selection();
  p.sparse_mode = 2, p.atten_mask = spec::SelectedMask::compressed;
  return p;
}

/// Returns a problem with sequences that are empty or too short for a window, and with tokens after
/// the last sequence or window.
inline spec::CompressionProblem packed_compression(std::int64_t stride = 16) {
  return {.dtype = spec::DType::fp16,
          .batch = 5,
          .heads = 3,
          .seq = 90,
          .lengths = {0, 90, 31, 64, 47},
          .head_dim = 16,
          .compress_block_size = 32,
          .compress_stride = stride};
}

/// Returns a call of an operator that has only one entry point.
template <class Op>
spec::Call<Op> call_on_a2(const typename Op::Problem& problem,
                          spec::Striding striding = spec::Striding::contiguous) {
  return spec::call_of(problem, typename Op::EntryPoint(), spec::Product::a2, striding, striding);
}

/// Expects that a call with a tensor larger than the device is refused, with a message that starts
/// with `start`.
template <class Op>
void expect_too_large(const typename Op::Problem& problem, const std::string& start) {
  Handles handles;
  EXPECT_EQ(phase_1(call_on_a2<Op>(problem), handles).status, ACLNN_ERR_PARAM_INVALID);
  const std::string message = recent_message();
  EXPECT_TRUE(message.starts_with(start)) << message;
}

/// Expects that an empty array of sequence lengths is refused as invalid, and a missing array with
/// another error code.
template <class Op>
void expect_lengths_needed(const typename Op::Problem& problem) {
  using P = typename Op::Parameters;
  for (const auto member : {&P::actual_seq_qlen, &P::actual_seq_kvlen}) {
    spec::Call<Op> call = call_on_a2<Op>(problem);
    (call.parameters.*member).emplace();
    Handles handles;
    EXPECT_EQ(phase_1(call, handles).status, ACLNN_ERR_PARAM_INVALID) << recent_message();
    (call.parameters.*member).reset();
    EXPECT_EQ(phase_1(call, handles).status, ACLNN_ERR_PARAM_NULLPTR) << recent_message();
  }
}

/// Expects that phase 1 accepts the call and returns this workspace size (bytes).
template <class Op>
void expect_workspace(const typename Op::Problem& problem, std::uint64_t size) {
  Handles handles;
  const Prepared prepared = phase_1(call_on_a2<Op>(problem), handles);
  ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
  EXPECT_EQ(prepared.workspace_size, size);
}

/// Expects that the entry point gives the same bits as our implementation, for every problem and
/// with several strides.
template <class Op, class Phase2>
void expect_bits_of(const std::vector<typename Op::Problem>& problems,
                    spec::Implementation<Op>& own, Phase2 phase_2, aclrtStream stream) {
  using spec::Striding;
  for (const auto& problem : problems)
    for (const Striding striding : {Striding::contiguous, Striding::padded, Striding::transposed})
      expect_same_bits(call_on_a2<Op>(problem, striding), problem, own, phase_2, stream);
}

}  // namespace assay::test
