#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::aclnn {

/// A call of the forward operator, which the contract does not hold.
struct CompressCall {
  spec::Parameter input, weight, output;
  std::optional<std::vector<std::int64_t>> act_seq_len;  ///< inclusive sums of the lengths
  std::optional<std::string> layout;
  std::int64_t compress_block_size, compress_stride, act_seq_len_type;
  bool workspace_size, executor;  ///< false: null pointers
};

/// Phase 1. Errors: spec::Rejected, naming the culprit, its value and the limit.
/// Source: NSA operators, section 2.11.
void refuse_unless_legal(const CompressCall& call);

/// Sequences and windows of a legal call.
struct Compression {
  std::vector<std::int64_t> lengths;
  std::int64_t compress_block_size, compress_stride;
};

/// output[window] = sum over the tokens t of the window of weight[t] * input[window start + t], per
/// head and channel. Each sum is one fp32 chain over the tokens in ascending order, rounded once,
/// half away from zero.
/// Shapes: contiguous, input (T, N, D), weight (compress_block_size, N), output (T', N, D).
void compress(const Compression& compression, const spec::Tensor& input, const spec::Tensor& weight,
              spec::Tensor& output);

}  // namespace assay::aclnn
