#pragma once

#include <array>
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

/// The entry points (API functions) of the operator. There is only one, aclnnNsaSelectedAttention.
enum class SelectedForwardEntryPoint : std::uint8_t { f1 };

template <>
inline constexpr auto spellings_of<SelectedForwardEntryPoint> =
    Spellings<SelectedForwardEntryPoint, 1>{{{{SelectedForwardEntryPoint::f1, "f1"}}}};

/// Returns whether the documentation page of the entry point lists the product (a2 or a3) as
/// supported.
bool supports(SelectedForwardEntryPoint entry_point, Product product);
/// Returns the id of the requirement (NSSF-C14*) that lists the products with this entry point.
std::string_view product_requirement(SelectedForwardEntryPoint entry_point, Product product);

namespace detail {
inline constexpr auto selected_output = std::to_array<std::string_view>({"attention_out"});
inline constexpr auto selected_outputs =
    std::to_array<std::string_view>({"softmax_max", "softmax_sum", "attention_out"});
inline constexpr auto selected_forward_stages = std::to_array<Stage>({
    {"the P that is multiplied by value, or the sum over keys", selected_output},
    {"the scores, their mask, the choice of the keys or the softmax statistics", selected_outputs},
});
}  // namespace detail

/// Softmax attention in which every query attends to the key blocks in its list. It also computes
/// the statistics for its gradient. Members have the documented names in snake_case, without the
/// endings Optional and Out; attention_out keeps its "out".
struct NsaSelectedAttention {
  static constexpr std::string_view name = "nsa_selected_attention";
  /// True if kernels of this operator compute a softmax. Kernels without a softmax have no P and no
  /// dS, so a declared rounding of P or dS does not apply to them.
  static constexpr bool has_softmax = true;

  using EntryPoint = SelectedForwardEntryPoint;
  using Problem = SelectionProblem;
  using Attributes = SelectionAttributes;

  /// The inputs. Inputs with the same names in the gradient have the same shapes and meanings.
  struct Inputs {
    using Operator = NsaSelectedAttention;
    Tensor query, key, value;
    Tensor topk_indices;  ///< int32: block v is the keys v * selected_block_size ... of the query's
                          ///< own sequence
    std::optional<Tensor> atten_mask = {};  ///< 1 excludes; ignored except in sparse mode 2
  };

  /// Outputs: softmax_max and softmax_sum (T1, heads_q, 8), which hold eight equal copies of each
  /// number; attention_out (T1, heads_q, head_dim_v).
  struct Outputs {
    using Operator = NsaSelectedAttention;
    Tensor softmax_max, softmax_sum, attention_out;
  };

  /// The tensors, and the arrays in host memory, that phase 1 (the argument check) receives.
  struct Parameters {
    using Operator = NsaSelectedAttention;
    Parameter query, key, value, topk_indices, atten_mask, softmax_max, softmax_sum, attention_out;
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
        TensorRow{"topk_indices", &Parameters::topk_indices, &Inputs::topk_indices, topk_shape,
                  [](const Problem&) { return DType::int32; }},
        TensorRow{"atten_mask", &Parameters::atten_mask, &Inputs::atten_mask, passed_mask_shape,
                  [](const Problem& problem) { return problem.mask_dtype; }},
        TensorRow{"softmax_max", &Parameters::softmax_max, &Outputs::softmax_max,
                  row_statistics_shape, of_fp32},
        TensorRow{"softmax_sum", &Parameters::softmax_sum, &Outputs::softmax_sum,
                  row_statistics_shape, of_fp32},
        TensorRow{"attention_out", &Parameters::attention_out, &Outputs::attention_out,
                  attention_out_shape},
        ArgumentRow{"actual_seq_qlen", &Parameters::actual_seq_qlen},
        ArgumentRow{"actual_seq_kvlen", &Parameters::actual_seq_kvlen},
        ArgumentRow{"workspace_size", &Parameters::workspace_size},
        ArgumentRow{"executor", &Parameters::executor}};
  }

  /// Requirements NSSF-C*.
  static std::span<const Requirement<NsaSelectedAttention>> requirements();
  static constexpr std::span<const Stage> stages() { return detail::selected_forward_stages; }
};

template <>
inline constexpr auto table_of<NsaSelectedAttention> = NsaSelectedAttention::table();

/// Builds a call that computes `problem`. `inputs` and `outputs` give the strides of the tensors.
Call<NsaSelectedAttention> call_of(const SelectionProblem& problem,
                                   SelectedForwardEntryPoint entry_point, Product product,
                                   const Strides& inputs, const Strides& outputs);

}  // namespace assay::spec
