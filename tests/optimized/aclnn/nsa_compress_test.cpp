#include "assay/optimized/nsa_compress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "aclnnop/aclnn_nsa_compress.h"
#include "nsa_calls.hpp"
#include "refusals.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::NsaCompress;
using Call = spec::Call<Op>;
using spec::Striding;

class NsaCompressForward : public Session {
 protected:
  std::unique_ptr<spec::Implementation<Op>> own = optimized::nsa_compress(device::a2());
};

TEST_F(NsaCompressForward, AnswersEveryBrokenRowAsTheImplementationDoes) {
  const std::vector<Call> calls = {call_on_a2<Op>(packed_compression()),
                                   call_on_a2<Op>(packed_compression(32))};
  EXPECT_GE(expect_same_refusals(calls, *own, "aclnnNsaCompressGetWorkspaceSize"), 14U);
}

/// Computes the outputs of the forward operator in fp32, as documented.
std::vector<float> expected_windows(const Op::Problem& p, const Op::Inputs& inputs) {
  const auto input = spec::viewed_elements(inputs.input);
  const auto weight = spec::viewed_elements(inputs.weight);
  std::vector<float> windows;
  std::int64_t start = 0;
  for (const std::int64_t length : p.lengths) {
    for (std::int64_t at = 0; at + p.compress_block_size <= length; at += p.compress_stride)
      for (std::int64_t n = 0; n < p.heads; ++n)
        for (std::int64_t c = 0; c < p.head_dim; ++c) {
          float sum = 0;
          for (std::int64_t t = 0; t < p.compress_block_size; ++t) {
            const std::int64_t row = (start + at + t) * p.heads + n;
            const auto x = static_cast<std::size_t>(row * p.head_dim + c);
            const auto w = static_cast<std::size_t>(t * p.heads + n);
            sum += static_cast<float>(inputs.weight.load(weight[w]) * inputs.input.load(input[x]));
          }
          windows.push_back(sum);
        }
    start += length;
  }
  return windows;
}

TEST_F(NsaCompressForward, SumsTheTokensOfEveryWindow) {
  for (const std::int64_t stride : {16, 32})
    for (const Striding striding : {Striding::contiguous, Striding::padded, Striding::transposed}) {
      const Op::Problem problem = packed_compression(stride);
      const Call call = call_on_a2<Op>(problem, striding);
      Filling<Op> filling = filling_of(call);
      Handles handles(filling.uploaded.addresses());
      const Prepared prepared = phase_1(call, handles);
      ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
      run(aclnnNsaCompress, prepared, stream);
      own->run(problem, filling.inputs, filling.outputs);
      expect_equal_bytes(call, filling);
      const std::vector<float> expected = expected_windows(problem, filling.inputs);
      const auto elements = spec::viewed_elements(filling.outputs.output);
      ASSERT_EQ(elements.size(), expected.size());
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const double ulp = std::max(std::abs(expected[k]) * 0x1p-10, 0x1p-24);
        // The result is rounded once, so its error is at most half an ulp.
        ASSERT_LE(
            std::abs(filling.outputs.output.load(elements[k]) - static_cast<double>(expected[k])),
            ulp / 2);
      }
    }
}

TEST_F(NsaCompressForward, RefusesATensorLargerThanTheDevice) {
  expect_too_large<Op>(
      {.dtype = spec::DType::fp16, .heads = 128, .seq = std::int64_t{1} << 30, .head_dim = 256},
      "aclnnNsaCompressGetWorkspaceSize: input is larger than the ");
}

}  // namespace
