#include "assay/optimized/sparse_flash_attention_grad.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "aclnnop/aclnn_sparse_flash_attention_grad.h"
#include "nsa_calls.hpp"
#include "refusals.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::SparseFlashAttentionGrad;
using Call = spec::Call<Op>;
using spec::Striding;

Op::Problem padded() {
  return {.batch = 2,
          .heads_q = 4,
          .seq_q = 5,
          .seq_kv = 21,
          .sparse_block_size = 8,
          .sparse_block_count = 2};
}
Op::Problem packed() {
  return {.dtype = spec::DType::fp16,
          .layout = spec::Layout::tnd,
          .batch = 2,
          .heads_q = 2,
          .seq_q = 7,
          .seq_kv = 30,
          .lengths_q = {7, 3},
          .lengths_kv = {2, 30},
          .head_dim_rope = 0,
          .value_form = spec::SparseValue::merged,
          .sparse_block_count = 6,
          .sparse_mode = 3};
}

class SparseFlash : public Session {
 protected:
  /// Stores the numbers in the tensor, and copies the tensor to the device.
  static void set(Filling<Op>& filling, std::string_view name, spec::Tensor& tensor,
                  const std::vector<double>& numbers) {
    const auto elements = spec::viewed_elements(tensor);
    for (std::size_t k = 0; k < elements.size(); ++k) tensor.store(elements[k], numbers.at(k));
    EXPECT_EQ(aclrtMemcpy(filling.uploaded.addresses().at(name), tensor.bytes.size(),
                          tensor.bytes.data(), tensor.bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE),
              ACL_SUCCESS);
  }
  static std::vector<double> sums(const std::vector<std::int64_t>& lengths) {
    std::vector<double> all;
    for (const std::int64_t length : lengths)
      all.push_back((all.empty() ? 0 : all.back()) + static_cast<double>(length));
    return all;
  }
  /// Makes tensors with random elements, the lengths of the problem, and block lists. The list of
  /// each token contains the first blocks that the token may attend to, in descending order.
  static Filling<Op> filled(const Call& call, const Op::Problem& p) {
    Filling<Op> filling = filling_of(call);
    std::vector<double> lists;
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t s = 0; s < p.length_q(b); ++s) {
        const std::int64_t hidden = p.sparse_mode == 3 ? p.length_q(b) - 1 - s : 0;
        const std::int64_t seen = std::max<std::int64_t>(0, p.length_kv(b) - hidden),
                           blocks = device::ceil_divide(seen, p.sparse_block_size),
                           used = std::min(blocks, p.sparse_block_count);
        for (std::int64_t slot = 0; slot < p.sparse_block_count; ++slot)
          lists.push_back(slot < used ? static_cast<double>(used - 1 - slot) : -1);
      }
    set(filling, "sparse_indices", filling.inputs.sparse_indices, lists);
    if (p.lengths_q.empty()) return filling;
    set(filling, "actual_seq_lengths_query", *filling.inputs.actual_seq_lengths_query,
        sums(p.lengths_q));
    set(filling, "actual_seq_lengths_kv", *filling.inputs.actual_seq_lengths_kv,
        sums(p.lengths_kv));
    return filling;
  }
  /// Runs both phases. `outcome` is the expected result of the next synchronization.
  void launch(const Call& call, const Filling<Op>& filling, aclError outcome = ACL_SUCCESS) {
    Handles handles(filling.uploaded.addresses());
    const Prepared prepared = phase_1(call, handles);
    ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
    const Workspace workspace(prepared.workspace_size);
    EXPECT_EQ(aclnnSparseFlashAttentionGrad(workspace.get(), prepared.workspace_size,
                                            prepared.executor, stream),
              ACLNN_SUCCESS)
        << recent_message();
    EXPECT_EQ(aclrtSynchronizeStream(stream), outcome) << recent_message();
  }

  std::unique_ptr<spec::Implementation<Op>> own =
      optimized::sparse_flash_attention_grad(device::a2());
};

TEST_F(SparseFlash, GivesTheBitsOfTheImplementation) {
  for (const Op::Problem& p : {padded(), packed()})
    for (const Striding striding : {Striding::contiguous, Striding::padded, Striding::transposed}) {
      const Call call = call_on_a2<Op>(p, striding);
      Filling<Op> filling = filled(call, p);
      launch(call, filling);
      own->run(p, filling.inputs, filling.outputs);
      expect_equal_bytes(call, filling);
    }
}

TEST_F(SparseFlash, AnswersEveryBrokenRowAsTheImplementationDoes) {
  const std::vector<Call> calls = {call_on_a2<Op>(padded()), call_on_a2<Op>(packed())};
  EXPECT_GE(expect_same_refusals(calls, *own, "aclnnSparseFlashAttentionGradGetWorkspaceSize"),
            25U);
}

TEST_F(SparseFlash, TokensAfterTheLastSumHaveZeroGradients) {
  Op::Problem p = packed(), all = p;
  all.lengths_q.back() += 2, all.lengths_kv.back() += 3, all.seq_kv += 3;
  const Call call = call_on_a2<Op>(all);
  Filling<Op> filling = filled(call, all);
  set(filling, "actual_seq_lengths_query", *filling.inputs.actual_seq_lengths_query,
      sums(p.lengths_q));
  set(filling, "actual_seq_lengths_kv", *filling.inputs.actual_seq_lengths_kv, sums(p.lengths_kv));
  // Copies the block lists from a problem with shorter sequences.
  const Filling<Op> shorter = filled(call_on_a2<Op>(p), p);
  std::copy(shorter.inputs.sparse_indices.bytes.begin(),
            shorter.inputs.sparse_indices.bytes.begin() + 10 * 6 * 4,
            filling.inputs.sparse_indices.bytes.begin());
  EXPECT_EQ(aclrtMemcpy(filling.uploaded.addresses().at("sparse_indices"), 10 * 6 * 4,
                        filling.inputs.sparse_indices.bytes.data(), 10 * 6 * 4,
                        ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS);
  launch(call, filling);
  const auto is_zero = [&](std::string_view name, std::int64_t row, std::int64_t size) {
    const std::vector<std::byte> bytes = filling.uploaded.download(name);
    const auto first = bytes.begin() + 2 * row * size;
    return std::all_of(first, first + 2 * size, [](std::byte byte) { return byte == std::byte{}; });
  };
  EXPECT_FALSE(is_zero("d_query", 9, 2 * 512));
  EXPECT_TRUE(is_zero("d_query", 10, 2 * 512) && is_zero("d_query", 11, 2 * 512));
  EXPECT_FALSE(is_zero("d_key", 2, 512));
  for (const std::int64_t key : {32, 33, 34}) EXPECT_TRUE(is_zero("d_key", key, 512));
}

TEST_F(SparseFlash, PhaseTwoReportsListsAndLengthsThatPhaseOneCannotRead) {
  const Call call = call_on_a2<Op>(packed());
  Filling<Op> filling = filled(call, packed());
  set(filling, "actual_seq_lengths_kv", *filling.inputs.actual_seq_lengths_kv, {2, 33});
  launch(call, filling, ACL_ERROR_RT_FAILURE);
  EXPECT_NE(recent_message().find("SFAG-C30: entry 1 of actualSeqLengthsKv is 33; it must be 2 to "
                                  "32"),
            std::string::npos)
      << recent_message();
  filling = filled(call, packed());
  std::vector<double> lists(60, -1);
  lists[59 - 5] = 31;
  set(filling, "sparse_indices", filling.inputs.sparse_indices, lists);
  launch(call, filling, ACL_ERROR_RT_FAILURE);
  EXPECT_NE(recent_message().find("SFAG-C32: entry 0 of the list of query 2 of sequence 1 is block "
                                  "31; the query sees 30 blocks"),
            std::string::npos)
      << recent_message();
}

TEST_F(SparseFlash, TheWorkspaceHoldsTheSumsOfTheGradients) {
  // The sizes of the buffers in the workspace (in float numbers): d_query with its rope part 2 * 5
  // * 4 rows of 576; d_key 2 * 21 rows of 576; d_value 2 * 21 rows of 512; 40 row terms (delta),
  // rounded up to 512 B.
  expect_workspace<Op>(padded(), 92160U + 96768U + 86016U + 512U);
}

TEST_F(SparseFlash, ATensorOfShapeZeroStandsForAnAbsentGradient) {
  Call call = call_on_a2<Op>(packed());
  call.parameters.d_value = {
      .present = true, .dtype = spec::DType::fp16, .shape = {0}, .strides = {1}};
  Handles handles;
  const Prepared prepared = phase_1(call, handles);
  EXPECT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
}

TEST_F(SparseFlash, AnEmptyQueryNeedsNoWorkspace) {
  Op::Problem p = packed();
  p.lengths_q = {0, 0}, p.seq_q = 0;
  expect_workspace<Op>(p, 0);
}

}  // namespace
