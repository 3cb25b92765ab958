#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "assay/spec/layout.hpp"
#include "assay/spec/tensor.hpp"

/// The common part of NsaCompress and its gradient: the description of a computation, its windows,
/// and the attributes of a call.
namespace assay::spec {

/// Describes one legal computation of NsaCompress or NsaCompressGrad: shapes, types and options,
/// but no tensors. The layout is TND.
struct CompressionProblem {
  DType dtype = DType::bf16;
  std::int64_t batch = 1, heads = 1, seq = 64;
  /// The length of every sequence, which may be 0. Empty: all sequences have length `seq`.
  /// Otherwise there are `batch` lengths, and `seq` is their maximum.
  std::vector<std::int64_t> lengths;
  std::int64_t head_dim = 16;
  std::int64_t compress_block_size = 32;  ///< tokens of a window
  std::int64_t compress_stride = 16;      ///< tokens between the starts of consecutive windows

  std::int64_t length(std::int64_t b) const {
    return lengths.empty() ? seq : lengths[static_cast<std::size_t>(b)];
  }
  friend bool operator==(const CompressionProblem&, const CompressionProblem&) = default;
};

/// The attributes of a call: the numbers and strings that phase 1 (the argument check) receives, by
/// their documented names.
struct CompressionAttributes {
  std::int64_t compress_block_size = 32, compress_stride = 16, act_seq_len_type = 0;
  std::optional<std::string> layout;  ///< nullopt: a null pointer
};

/// Calls visit(name, member, meaning) for every field of this struct. Command-line flags, JSON,
/// HDF5 and the reduction of failing test cases use this list.
template <class Problem, class Visitor>
requires std::same_as<std::remove_const_t<Problem>, CompressionProblem>
void visit_fields(Problem& problem, Visitor&& visit) {
  visit("dtype", problem.dtype, "element type of all tensors");
  visit("batch", problem.batch, "number of sequences B");
  visit("heads", problem.heads, "heads N");
  visit("seq", problem.seq, "longest sequence");
  visit("lengths", problem.lengths,
        "length of every sequence; COUNTxLENGTH stands for COUNT equal "
        "lengths");
  visit("head_dim", problem.head_dim, "head size D");
  visit("compress_block_size", problem.compress_block_size, "tokens of a window");
  visit("compress_stride", problem.compress_stride,
        "number of tokens from the start of one window to the start of the next; the gradient "
        "accepts only numbers below compress_block_size");
}

/// Calls visit(name, member) for every attribute of a call.
template <class Attributes, class Visitor>
requires std::same_as<std::remove_const_t<Attributes>, CompressionAttributes>
void visit_fields(Attributes& attributes, Visitor&& visit) {
  visit("compress_block_size", attributes.compress_block_size);
  visit("compress_stride", attributes.compress_stride);
  visit("act_seq_len_type", attributes.act_seq_len_type);
  visit("layout", attributes.layout);
}

/// Returns the number of windows that fit in `length` tokens. Returns 0 if the size or the stride
/// of the windows is not positive.
std::int64_t window_count(std::int64_t length, std::int64_t compress_block_size,
                          std::int64_t compress_stride);

/// Return the extents and shapes of input and output. Their gradients have the same extents and
/// shapes. Each sequence of the output has one row per window of the corresponding input sequence.
Extents input_extents(const CompressionProblem& problem);
Extents output_extents(const CompressionProblem& problem);
Shape input_shape(const CompressionProblem& problem);
Shape output_shape(const CompressionProblem& problem);

/// The shape of weight and of its gradient.
Shape weight_shape(const CompressionProblem& problem);

}  // namespace assay::spec
