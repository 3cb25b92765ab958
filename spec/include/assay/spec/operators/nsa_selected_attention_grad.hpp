#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/operators/selection.hpp"
#include "assay/spec/requirement.hpp"
#include "assay/spec/stage.hpp"
#include "assay/spec/striding.hpp"
#include "assay/spec/table.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// The entry points (API functions) of the operator. There is only one,
/// aclnnNsaSelectedAttentionGrad.
enum class SelectedEntryPoint : std::uint8_t { s1 };

template <>
inline constexpr auto spellings_of<SelectedEntryPoint> =
    Spellings<SelectedEntryPoint, 1>{{{{SelectedEntryPoint::s1, "s1"}}}};

/// Returns whether the documentation page of the entry point lists the product (a2 or a3) as
/// supported.
bool supports(SelectedEntryPoint entry_point, Product product);
/// Returns the id of the requirement (NSAS-C01*) that lists the products with this entry point.
std::string_view product_requirement(SelectedEntryPoint entry_point, Product product);

/// The gradient of softmax attention in which every query attends to the key blocks in its list.
/// Members have the documented names in snake_case, without the ending Optional. The gradients also
/// lose the ending Out; attentionOut and attentionOutGrad keep it.
struct NsaSelectedAttentionGrad {
  static constexpr std::string_view name = "nsa_selected_attention_grad";
  /// True if kernels of this operator compute a softmax. Kernels without a softmax have no P and no
  /// dS, so a declared rounding of P or dS does not apply to them.
  static constexpr bool has_softmax = true;

  using EntryPoint = SelectedEntryPoint;

  using Problem = SelectionProblem;
  using Attributes = SelectionAttributes;

  /// Inputs, where T1 and T2 are the numbers of query tokens and key tokens of all sequences: query
  /// (T1, heads_q, head_dim), attention_out and attention_out_grad (T1, heads_q, head_dim_v), key
  /// (T2, heads_kv, head_dim), value (T2, heads_kv, head_dim_v), softmax_max and softmax_sum (T1,
  /// heads_q, 8), topk_indices (T1, heads_kv, selected_block_count).
  struct Inputs {
    using Operator = NsaSelectedAttentionGrad;
    Tensor query, key, value, attention_out, attention_out_grad, softmax_max, softmax_sum;
    Tensor topk_indices;  ///< int32: block v is the keys v * selected_block_size ... of the query's
                          ///< own sequence
    std::optional<Tensor> atten_mask = {};  ///< 1 excludes; ignored except in sparse mode 2
  };

  /// The tensors that phase 2 (the kernel run) fills.
  struct Outputs {
    using Operator = NsaSelectedAttentionGrad;
    Tensor dq, dk, dv;
  };

  /// The tensors, and the arrays in host memory, that phase 1 (the argument check) receives, by
  /// their documented names.
  struct Parameters {
    using Operator = NsaSelectedAttentionGrad;
    Parameter query, key, value, attention_out, attention_out_grad, softmax_max, softmax_sum,
        topk_indices, atten_mask, dq, dk, dv;
    std::optional<std::vector<std::int64_t>> actual_seq_qlen,
        actual_seq_kvlen;                         ///< inclusive sums of the lengths
    bool workspace_size = true, executor = true;  ///< false: null pointers
  };

  /// The list of the operator's tensors and arguments, in the form that `table_of` needs.
  static constexpr auto table() {
    const auto of_fp32 = [](const Problem&) { return DType::fp32; };
    return std::tuple{
        TensorRow{"query", &Parameters::query, &Inputs::query, query_shape},
        TensorRow{"key", &Parameters::key, &Inputs::key, key_shape},
        TensorRow{"value", &Parameters::value, &Inputs::value, value_shape},
        TensorRow{"attention_out", &Parameters::attention_out, &Inputs::attention_out,
                  attention_out_shape},
        TensorRow{"attention_out_grad", &Parameters::attention_out_grad,
                  &Inputs::attention_out_grad, attention_out_shape},
        TensorRow{"softmax_max", &Parameters::softmax_max, &Inputs::softmax_max,
                  row_statistics_shape, of_fp32},
        TensorRow{"softmax_sum", &Parameters::softmax_sum, &Inputs::softmax_sum,
                  row_statistics_shape, of_fp32},
        TensorRow{"topk_indices", &Parameters::topk_indices, &Inputs::topk_indices, topk_shape,
                  [](const Problem&) { return DType::int32; }},
        TensorRow{"atten_mask", &Parameters::atten_mask, &Inputs::atten_mask, passed_mask_shape,
                  [](const Problem& problem) { return problem.mask_dtype; }},
        TensorRow{"dq", &Parameters::dq, &Outputs::dq, query_shape},
        TensorRow{"dk", &Parameters::dk, &Outputs::dk, key_shape},
        TensorRow{"dv", &Parameters::dv, &Outputs::dv, value_shape},
        ArgumentRow{"actual_seq_qlen", &Parameters::actual_seq_qlen},
        ArgumentRow{"actual_seq_kvlen", &Parameters::actual_seq_kvlen},
        ArgumentRow{"workspace_size", &Parameters::workspace_size},
        ArgumentRow{"executor", &Parameters::executor}};
  }

  /// Requirements NSAS-C*.
  static std::span<const Requirement<NsaSelectedAttentionGrad>> requirements();
  static constexpr std::span<const Stage> stages() { return attention_stages; }
};

template <>
inline constexpr auto table_of<NsaSelectedAttentionGrad> = NsaSelectedAttentionGrad::table();

/// Builds a call that computes `problem`. `inputs` and `outputs` give the strides of the tensors.
Call<NsaSelectedAttentionGrad> call_of(const SelectionProblem& problem,
                                       SelectedEntryPoint entry_point, Product product,
                                       const Strides& inputs, const Strides& outputs);

}  // namespace assay::spec
