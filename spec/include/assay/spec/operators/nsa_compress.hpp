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

/// The entry points (API functions) of the operator. There is only one, aclnnNsaCompress.
enum class NsaCompressEntryPoint : std::uint8_t { f1 };

template <>
inline constexpr auto spellings_of<NsaCompressEntryPoint> =
    Spellings<NsaCompressEntryPoint, 1>{{{{NsaCompressEntryPoint::f1, "f1"}}}};

/// Returns whether the documentation page of the entry point lists the product (a2 or a3) as
/// supported.
bool supports(NsaCompressEntryPoint entry_point, Product product);
/// Returns the id of the requirement (NSCF-C10*) that lists the products with this entry point.
std::string_view product_requirement(NsaCompressEntryPoint entry_point, Product product);

namespace detail {
inline constexpr auto output_alone = std::to_array<std::string_view>({"output"});
inline constexpr auto nsa_compress_stages = std::to_array<Stage>({
    {"the weights, the choice of the tokens of a window, or the sum over them", output_alone},
});
}  // namespace detail

/// The operator NsaCompress, which shortens a key or value tensor by weighted sums over sliding
/// windows. Members have the documented names in snake_case, without the ending Optional.
struct NsaCompress {
  static constexpr std::string_view name = "nsa_compress";
  /// True if kernels of this operator compute a softmax. Kernels without a softmax have no P and no
  /// dS, so a declared rounding of P or dS does not apply to them.
  static constexpr bool has_softmax = false;

  using EntryPoint = NsaCompressEntryPoint;
  using Problem = CompressionProblem;
  using Attributes = CompressionAttributes;
  /// Inputs: input (T, heads, head_dim) and weight (compress_block_size, heads), where T is the
  /// number of tokens of all sequences.
  struct Inputs {
    using Operator = NsaCompress;
    Tensor input, weight;
  };

  /// Output: output (T', heads, head_dim), where T' is the number of windows of all sequences.
  struct Outputs {
    using Operator = NsaCompress;
    Tensor output;
  };

  /// The tensors, and the arrays in host memory, that phase 1 (the argument check) receives.
  struct Parameters {
    using Operator = NsaCompress;
    Parameter input, weight, output;
    std::optional<std::vector<std::int64_t>> act_seq_len;  ///< inclusive sums of the lengths
    bool workspace_size = true, executor = true;           ///< false: null pointers
  };

  /// The list of the operator's tensors and arguments, in the form that `table_of` needs.
  static constexpr auto table() {
    return std::tuple{TensorRow{"input", &Parameters::input, &Inputs::input, input_shape},
                      TensorRow{"weight", &Parameters::weight, &Inputs::weight, weight_shape},
                      TensorRow{"output", &Parameters::output, &Outputs::output, output_shape},
                      ArgumentRow{"act_seq_len", &Parameters::act_seq_len},
                      ArgumentRow{"workspace_size", &Parameters::workspace_size},
                      ArgumentRow{"executor", &Parameters::executor}};
  }
  /// Requirements NSCF-C*.
  static std::span<const Requirement<NsaCompress>> requirements();
  static constexpr std::span<const Stage> stages() { return detail::nsa_compress_stages; }
};

template <>
inline constexpr auto table_of<NsaCompress> = NsaCompress::table();

/// Builds a call that computes `problem`. `inputs` and `outputs` give the strides of the tensors.
Call<NsaCompress> call_of(const CompressionProblem& problem, NsaCompressEntryPoint entry_point,
                          Product product, const Strides& inputs, const Strides& outputs);

}  // namespace assay::spec
