#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "assay/spec/attention.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/tensor.hpp"
#include "assay/spec/text_enum.hpp"

/// The common part of NsaSelectedAttention and its gradient: the description of a computation, and
/// the attributes of a call.
namespace assay::spec {

/// The form in which a call passes the attention mask: not at all, or as a lower triangle of 2048 x
/// 2048 elements. In sparse mode 0 its elements are zeros.
/// Source: aclnnNsaSelectedAttentionGrad.md (attenMaskOptional).
enum class SelectedMask : std::uint8_t { absent, compressed };

template <>
inline constexpr auto spellings_of<SelectedMask> = Spellings<SelectedMask, 2>{{{
    {SelectedMask::absent, "none"},
    {SelectedMask::compressed, "compressed"},
}}};

/// Describes one legal computation of NsaSelectedAttention or of its gradient: shapes, types and
/// options, but no tensors. The layout is TND.
struct SelectionProblem {
  DType dtype = DType::bf16;
  std::int64_t batch = 1, heads_q = 1, heads_kv = 1, seq_q = 16, seq_kv = 64;
  /// The length of every sequence. Empty: all sequences have length seq_q (seq_kv). Otherwise there
  /// are `batch` lengths, and seq_q (seq_kv) is their maximum. No sequence is empty. Lengths of
  /// keys are multiples of selected_block_size.
  std::vector<std::int64_t> lengths_q, lengths_kv;
  std::int64_t head_dim = 192, head_dim_v = 128;  ///< 192 or 128 each
  double scale_value = 0.0625;                    ///< must be representable as float
  std::int64_t selected_block_size = 16, selected_block_count = 2;
  std::int64_t sparse_mode = 0;
  SelectedMask atten_mask = SelectedMask::absent;
  DType mask_dtype = DType::boolean;

  std::int64_t group() const { return heads_q / heads_kv; }
  std::int64_t length_q(std::int64_t b) const {
    return lengths_q.empty() ? seq_q : lengths_q[static_cast<std::size_t>(b)];
  }
  std::int64_t length_kv(std::int64_t b) const {
    return lengths_kv.empty() ? seq_kv : lengths_kv[static_cast<std::size_t>(b)];
  }
  friend bool operator==(const SelectionProblem&, const SelectionProblem&) = default;
};

/// The attributes of a call: the numbers and strings that phase 1 (the argument check) receives, by
/// their documented names.
struct SelectionAttributes {
  double scale_value = 1.0;
  std::int64_t selected_block_size = 64, selected_block_count = 16, head_num = 1;
  std::optional<std::string> input_layout;  ///< nullopt: a null pointer
  std::int64_t sparse_mode = 0;
};

/// Calls visit(name, member, meaning) for every field of this struct. Command-line flags, JSON,
/// HDF5 and the reduction of failing test cases use this list.
template <class Problem, class Visitor>
requires std::same_as<std::remove_const_t<Problem>, SelectionProblem>
void visit_fields(Problem& problem, Visitor&& visit) {
  visit("dtype", problem.dtype,
        "element type of query, key, value, attention_out and the gradients");
  visit("batch", problem.batch, "number of sequences B");
  visit("heads_q", problem.heads_q, "query heads N1");
  visit("heads_kv", problem.heads_kv, "key and value heads N2, a divisor of N1");
  visit("seq_q", problem.seq_q, "longest query sequence");
  visit("seq_kv", problem.seq_kv, "longest key and value sequence");
  visit("lengths_q", problem.lengths_q,
        "query length of every sequence; COUNTxLENGTH stands for "
        "COUNT equal lengths");
  visit("lengths_kv", problem.lengths_kv, "key length of every sequence");
  visit("head_dim", problem.head_dim, "head size of query and key: 192 or 128");
  visit("head_dim_v", problem.head_dim_v, "head size of value and attention_out: 192 or 128");
  visit("scale_value", problem.scale_value, "factor of the scores");
  visit("selected_block_size", problem.selected_block_size, "keys of one selected block");
  visit("selected_block_count", problem.selected_block_count,
        "number of blocks that each query lists");
  visit("sparse_mode", problem.sparse_mode,
        "0: a query sees every key that it lists; 2: only listed keys up to its own position");
  visit("atten_mask", problem.atten_mask,
        "whether the mask is passed; the gradient's mode 2 without a mask is disputed");
  visit("mask_dtype", problem.mask_dtype, "element type of the mask");
}

/// Calls visit(name, member) for every attribute of a call.
template <class Attributes, class Visitor>
requires std::same_as<std::remove_const_t<Attributes>, SelectionAttributes>
void visit_fields(Attributes& attributes, Visitor&& visit) {
  visit("scale_value", attributes.scale_value);
  visit("selected_block_size", attributes.selected_block_size);
  visit("selected_block_count", attributes.selected_block_count);
  visit("head_num", attributes.head_num);
  visit("input_layout", attributes.input_layout);
  visit("sparse_mode", attributes.sparse_mode);
}

/// Return the extents of: query and dq; attention_out and its gradient; key and dk; value and dv;
/// topk_indices. topk_indices has one row of selected_block_count indices for every token and key
/// head. Cost: O(batch) if the lengths differ.
Extents query_extents(const SelectionProblem& problem);
Extents attention_out_extents(const SelectionProblem& problem);
Extents key_extents(const SelectionProblem& problem);
Extents value_extents(const SelectionProblem& problem);
Extents topk_extents(const SelectionProblem& problem);

/// Return the shapes of the tensors: query, attention_out, key, value and topk_indices.
Shape query_shape(const SelectionProblem& problem);
Shape attention_out_shape(const SelectionProblem& problem);
Shape key_shape(const SelectionProblem& problem);
Shape value_shape(const SelectionProblem& problem);
Shape topk_shape(const SelectionProblem& problem);

/// Return the shapes of the softmax statistics and of the mask. Errors: std::invalid_argument if
/// the call has no mask.
Shape statistics_shape(const SelectionProblem& problem);
Shape mask_shape(const SelectionProblem& problem);
/// Returns statistics_shape(problem). Every struct that describes a computation has a function with
/// this name, so that templates can use it.
Shape row_statistics_shape(const SelectionProblem& problem);
/// Returns the shape of the mask; without axes if the mask is absent.
Shape passed_mask_shape(const SelectionProblem& problem);

}  // namespace assay::spec
