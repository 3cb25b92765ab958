#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/compression.hpp"
#include "assay/spec/requirement.hpp"
#include "assay/spec/stage.hpp"
#include "assay/spec/striding.hpp"
#include "assay/spec/table.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// The entry points (API functions) of the operator. There is only one, aclnnNsaCompressGrad.
enum class CompressEntryPoint : std::uint8_t { c1 };

template <>
inline constexpr auto spellings_of<CompressEntryPoint> =
    Spellings<CompressEntryPoint, 1>{{{{CompressEntryPoint::c1, "c1"}}}};

/// Returns whether the documentation page of the entry point lists the product (a2 or a3) as
/// supported.
bool supports(CompressEntryPoint entry_point, Product product);
/// Returns the id of the requirement (NSAC-C01*) that lists the products with this entry point.
std::string_view product_requirement(CompressEntryPoint entry_point, Product product);

namespace detail {
inline constexpr auto input_grad_alone = std::to_array<std::string_view>({"input_grad"});
inline constexpr auto weight_grad_alone = std::to_array<std::string_view>({"weight_grad"});
inline constexpr auto of_windows = std::to_array<std::string_view>({"input_grad", "weight_grad"});
}  // namespace detail

/// Stages of NsaCompressGrad.
inline constexpr auto compress_stages = std::to_array<Stage>({
    {"the weight that enters input_grad, or the sum over windows", detail::input_grad_alone},
    {"the sums over channels and windows that give weight_grad", detail::weight_grad_alone},
    {"output_grad, or the choice of the windows that contain a token", detail::of_windows},
});

/// The gradient of NsaCompress, which shortens a key or value tensor by weighted sums over sliding
/// windows. Members have the documented names in snake_case, without the endings Optional and Out.
struct NsaCompressGrad {
  static constexpr std::string_view name = "nsa_compress_grad";
  /// True if kernels of this operator compute a softmax. Kernels without a softmax have no P and no
  /// dS, so a declared rounding of P or dS does not apply to them.
  static constexpr bool has_softmax = false;

  using EntryPoint = CompressEntryPoint;
  using Problem = CompressionProblem;
  using Attributes = CompressionAttributes;

  /// Inputs: output_grad (T', heads, head_dim), input (T, heads, head_dim), weight
  /// (compress_block_size, heads). T is the number of tokens of all sequences, T' the number of
  /// windows.
  struct Inputs {
    using Operator = NsaCompressGrad;
    Tensor output_grad, input, weight;
  };

  /// The tensors that phase 2 (the kernel run) fills.
  struct Outputs {
    using Operator = NsaCompressGrad;
    Tensor input_grad, weight_grad;
  };

  /// The tensors, and the arrays in host memory, that phase 1 (the argument check) receives, by
  /// their documented names.
  struct Parameters {
    using Operator = NsaCompressGrad;
    Parameter output_grad, input, weight, input_grad, weight_grad;
    std::optional<std::vector<std::int64_t>> act_seq_len;  ///< inclusive sums of the lengths
    bool workspace_size = true, executor = true;           ///< false: null pointers
  };

  /// Requirements NSAC-C*.
  static std::span<const Requirement<NsaCompressGrad>> requirements();
  static constexpr std::span<const Stage> stages() { return compress_stages; }
};

template <>
inline constexpr auto table_of<NsaCompressGrad> =
    std::tuple{TensorRow{"output_grad", &NsaCompressGrad::Parameters::output_grad,
                         &NsaCompressGrad::Inputs::output_grad, output_shape},
               TensorRow{"input", &NsaCompressGrad::Parameters::input,
                         &NsaCompressGrad::Inputs::input, input_shape},
               TensorRow{"weight", &NsaCompressGrad::Parameters::weight,
                         &NsaCompressGrad::Inputs::weight, weight_shape},
               TensorRow{"input_grad", &NsaCompressGrad::Parameters::input_grad,
                         &NsaCompressGrad::Outputs::input_grad, input_shape},
               TensorRow{"weight_grad", &NsaCompressGrad::Parameters::weight_grad,
                         &NsaCompressGrad::Outputs::weight_grad, weight_shape},
               ArgumentRow{"act_seq_len", &NsaCompressGrad::Parameters::act_seq_len},
               ArgumentRow{"workspace_size", &NsaCompressGrad::Parameters::workspace_size},
               ArgumentRow{"executor", &NsaCompressGrad::Parameters::executor}};

/// Builds a call that computes `problem`. `inputs` and `outputs` give the strides of the tensors.
Call<NsaCompressGrad> call_of(const CompressionProblem& problem, CompressEntryPoint entry_point,
                              Product product, const Strides& inputs, const Strides& outputs);

}  // namespace assay::spec
