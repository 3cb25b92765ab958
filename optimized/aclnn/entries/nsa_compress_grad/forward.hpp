#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::aclnn {

/// A call of the forward operator. The spec library does not define this operator.
struct CompressCall {
  spec::Parameter input, weight, output;
  std::optional<std::vector<std::int64_t>> act_seq_len;  ///< cumulative lengths (inclusive)
  std::optional<std::string> layout;
  std::int64_t compress_block_size, compress_stride, act_seq_len_type;
  bool workspace_size, executor;  ///< false: null pointer
};

/// Checks a call in phase 1. Errors: spec::Rejected; the message names the argument, its value and
/// the limit. Source: NSA operators, section 2.11.
void refuse_unless_legal(const CompressCall& call);

/// Returns the sequences of a legal call, with their windows.
struct Compression {
  std::vector<std::int64_t> lengths;
  std::int64_t compress_block_size, compress_stride;
};

/// output[window] = sum over the tokens t of the window of weight[t] * input[window start + t], for
/// each head and channel. Each sum is one fp32 chain over the tokens in ascending order, rounded
/// once; ties are rounded away from zero. Shapes: contiguous, input (T, N, D), weight
/// (compress_block_size, N), output (T', N, D).
void compress(const Compression& compression, const spec::Tensor& input, const spec::Tensor& weight,
              spec::Tensor& output);

}  // namespace assay::aclnn
