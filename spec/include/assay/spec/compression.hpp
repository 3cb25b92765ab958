#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "assay/spec/layout.hpp"
#include "assay/spec/tensor.hpp"

/// The parts that NsaCompress and its gradient share: one legal computation, its windows, and the
/// attributes of a call.
namespace assay::spec {

/// One legal computation of NsaCompress or NsaCompressGrad; the layout is TND.
struct CompressionProblem {
  DType dtype = DType::bf16;
  std::int64_t batch = 1, heads = 1, seq = 64;
  /// The length of every sequence, which may be 0; empty: all sequences have length seq.
  /// Otherwise it has batch entries, whose maximum is seq.
  std::vector<std::int64_t> lengths;
  std::int64_t head_dim = 16;
  std::int64_t compress_block_size = 32;  ///< tokens of a window
  std::int64_t compress_stride = 16;      ///< tokens between the starts of consecutive windows

  std::int64_t length(std::int64_t b) const {
    return lengths.empty() ? seq : lengths[static_cast<std::size_t>(b)];
  }
  friend bool operator==(const CompressionProblem&, const CompressionProblem&) = default;
};

/// The numbers and strings of phase 1, by their documented names.
struct CompressionAttributes {
  std::int64_t compress_block_size = 32, compress_stride = 16, act_seq_len_type = 0;
  std::optional<std::string> layout;  ///< nullopt: a null pointer
};

/// Calls visit(name, member, meaning) for every field of a problem. Flags, JSON, HDF5 and the
/// shrinking of failing cases use this list.
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
        "tokens from the start of one window to the start of the next; the gradient accepts only "
        "fewer than the tokens of a window");
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

/// Number of windows that fit into `length` tokens; 0 if the window or the stride is not positive.
std::int64_t window_count(std::int64_t length, std::int64_t compress_block_size,
                          std::int64_t compress_stride);

/// Return the extents and shapes of input and output; the gradients of input and output have the
/// same. A sequence of output contains one row for each window of the sequence of input.
Extents input_extents(const CompressionProblem& problem);
Extents output_extents(const CompressionProblem& problem);
Shape input_shape(const CompressionProblem& problem);
Shape output_shape(const CompressionProblem& problem);

/// The shape of weight and of its gradient.
Shape weight_shape(const CompressionProblem& problem);

}  // namespace assay::spec
