#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "assay/spec/attention.hpp"
#include "assay/spec/call.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/requirement.hpp"
#include "assay/spec/stage.hpp"
#include "assay/spec/striding.hpp"
#include "assay/spec/tensor.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// How the attention mask is passed: not at all, or as the lower triangle of 2048 x 2048 elements.
/// In sparse mode 0 its elements are zeros.
/// Source: aclnnNsaSelectedAttentionGrad.md (attenMaskOptional).
enum class SelectedMask : std::uint8_t { absent, compressed };

template <>
inline constexpr auto spellings_of<SelectedMask> = Spellings<SelectedMask, 2>{{{
    {SelectedMask::absent, "none"},
    {SelectedMask::compressed, "compressed"},
}}};

/// The one entry point, aclnnNsaSelectedAttentionGrad.
enum class SelectedEntryPoint : std::uint8_t { s1 };

template <>
inline constexpr auto spellings_of<SelectedEntryPoint> =
    Spellings<SelectedEntryPoint, 1>{{{{SelectedEntryPoint::s1, "s1"}}}};

/// Returns whether the entry point's page says that the product has it. The next function returns
/// the requirement NSAS-C01* for this.
bool supports(SelectedEntryPoint entry_point, Product product);
std::string_view product_requirement(SelectedEntryPoint entry_point, Product product);

/// The gradient of softmax attention in which every query attends to the key blocks that it lists.
/// Names are those of the documentation, in snake_case, without the ending Optional. The names of
/// the gradients also lose the ending Out; attentionOut and attentionOutGrad keep it.
struct NsaSelectedAttentionGrad {
  static constexpr std::string_view name = "nsa_selected_attention_grad";
  /// True if kernels compute a softmax: then the P and dS fields of numerics presets apply.
  static constexpr bool has_softmax = true;

  using EntryPoint = SelectedEntryPoint;

  /// One legal computation; the layout is TND.
  struct Problem {
    DType dtype = DType::bf16;
    std::int64_t batch = 1, heads_q = 1, heads_kv = 1, seq_q = 16, seq_kv = 64;
    /// The length of every sequence; empty: all sequences have length seq_q (seq_kv). Otherwise it
    /// has batch entries, whose maximum is seq_q (seq_kv). No sequence is empty. Lengths of keys
    /// are multiples of selected_block_size.
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
    friend bool operator==(const Problem&, const Problem&) = default;
  };

  /// Shapes, where T1 and T2 are the numbers of tokens of all sequences: query (T1, heads_q,
  /// head_dim), attention_out and attention_out_grad (T1, heads_q, head_dim_v), key (T2, heads_kv,
  /// head_dim), value (T2, heads_kv, head_dim_v), softmax_max and softmax_sum (T1, heads_q, 8),
  /// topk_indices (T1, heads_kv, selected_block_count).
  struct Inputs {
    Tensor query, key, value, attention_out, attention_out_grad, softmax_max, softmax_sum;
    Tensor topk_indices;  ///< int32: block v is the keys v * selected_block_size ... of the query's
                          ///< own sequence
    std::optional<Tensor> atten_mask = {};  ///< 1 excludes; ignored except in sparse mode 2
  };

  /// Tensors that phase 2 fills.
  struct Outputs {
    Tensor dq, dk, dv;
  };

  /// The tensors and host arrays of phase 1, by their documented names.
  struct Parameters {
    Parameter query, key, value, attention_out, attention_out_grad, softmax_max, softmax_sum,
        topk_indices, atten_mask, dq, dk, dv;
    std::optional<std::vector<std::int64_t>> actual_seq_qlen,
        actual_seq_kvlen;                         ///< inclusive sums of the lengths
    bool workspace_size = true, executor = true;  ///< false: null pointers
  };

  /// The numbers and strings of phase 1, by their documented names.
  struct Attributes {
    double scale_value = 1.0;
    std::int64_t selected_block_size = 64, selected_block_count = 16, head_num = 1;
    std::optional<std::string> input_layout;  ///< nullopt: a null pointer
    std::int64_t sparse_mode = 0;
  };

  /// Requirements NSAS-C*.
  static std::span<const Requirement<NsaSelectedAttentionGrad>> requirements();
  static constexpr std::span<const Stage> stages() { return attention_stages; }
};

/// Calls visit(name, member, meaning) for every field of a problem. Flags, JSON, HDF5 and the
/// shrinking of failing cases use this list.
template <class Problem, class Visitor>
requires std::same_as<std::remove_const_t<Problem>, NsaSelectedAttentionGrad::Problem>
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
        "whether the mask is passed; mode 2 without a mask is disputed");
  visit("mask_dtype", problem.mask_dtype, "element type of the mask");
}

/// Calls visit(name, member) for every input, a Tensor or an optional one, by its documented name.
template <class Inputs, class Visitor>
requires std::same_as<std::remove_const_t<Inputs>, NsaSelectedAttentionGrad::Inputs>
void visit_fields(Inputs& inputs, Visitor&& visit) {
  visit("query", inputs.query);
  visit("key", inputs.key);
  visit("value", inputs.value);
  visit("attention_out", inputs.attention_out);
  visit("attention_out_grad", inputs.attention_out_grad);
  visit("softmax_max", inputs.softmax_max);
  visit("softmax_sum", inputs.softmax_sum);
  visit("topk_indices", inputs.topk_indices);
  visit("atten_mask", inputs.atten_mask);
}

/// Calls visit(name, member) for every output.
template <class Outputs, class Visitor>
requires std::same_as<std::remove_const_t<Outputs>, NsaSelectedAttentionGrad::Outputs>
void visit_fields(Outputs& outputs, Visitor&& visit) {
  visit("dq", outputs.dq);
  visit("dk", outputs.dk);
  visit("dv", outputs.dv);
}

/// Calls visit(name, member) for every tensor (a Parameter), host array (optional) and null pointer
/// (bool) of a call.
template <class Parameters, class Visitor>
requires std::same_as<std::remove_const_t<Parameters>, NsaSelectedAttentionGrad::Parameters>
void visit_fields(Parameters& parameters, Visitor&& visit) {
  visit("query", parameters.query);
  visit("key", parameters.key);
  visit("value", parameters.value);
  visit("attention_out", parameters.attention_out);
  visit("attention_out_grad", parameters.attention_out_grad);
  visit("softmax_max", parameters.softmax_max);
  visit("softmax_sum", parameters.softmax_sum);
  visit("topk_indices", parameters.topk_indices);
  visit("atten_mask", parameters.atten_mask);
  visit("dq", parameters.dq);
  visit("dk", parameters.dk);
  visit("dv", parameters.dv);
  visit("actual_seq_qlen", parameters.actual_seq_qlen);
  visit("actual_seq_kvlen", parameters.actual_seq_kvlen);
  visit("workspace_size", parameters.workspace_size);
  visit("executor", parameters.executor);
}

/// Calls visit(name, member) for every attribute of a call.
template <class Attributes, class Visitor>
requires std::same_as<std::remove_const_t<Attributes>, NsaSelectedAttentionGrad::Attributes>
void visit_fields(Attributes& attributes, Visitor&& visit) {
  visit("scale_value", attributes.scale_value);
  visit("selected_block_size", attributes.selected_block_size);
  visit("selected_block_count", attributes.selected_block_count);
  visit("head_num", attributes.head_num);
  visit("input_layout", attributes.input_layout);
  visit("sparse_mode", attributes.sparse_mode);
}

/// Extents of query and dq; of attention_out and its gradient; of key and dk; of value and dv; of
/// topk_indices. topk_indices has one row of selected_block_count indices for every token and key
/// head. Cost: O(batch) if the lengths differ.
Extents query_extents(const NsaSelectedAttentionGrad::Problem& problem);
Extents attention_out_extents(const NsaSelectedAttentionGrad::Problem& problem);
Extents key_extents(const NsaSelectedAttentionGrad::Problem& problem);
Extents value_extents(const NsaSelectedAttentionGrad::Problem& problem);
Extents topk_extents(const NsaSelectedAttentionGrad::Problem& problem);

/// The shapes of the statistics and of the mask. Errors: std::invalid_argument without a mask.
Shape statistics_shape(const NsaSelectedAttentionGrad::Problem& problem);
Shape mask_shape(const NsaSelectedAttentionGrad::Problem& problem);

/// Builds the call for `problem`. Strides are given for inputs and for outputs.
Call<NsaSelectedAttentionGrad> call_of(const NsaSelectedAttentionGrad::Problem& problem,
                                       SelectedEntryPoint entry_point, Product product,
                                       const Strides& inputs, const Strides& outputs);

}  // namespace assay::spec
