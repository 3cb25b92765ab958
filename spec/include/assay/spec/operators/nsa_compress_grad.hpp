#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/requirement.hpp"
#include "assay/spec/stage.hpp"
#include "assay/spec/striding.hpp"
#include "assay/spec/tensor.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// The one entry point, aclnnNsaCompressGrad.
enum class CompressEntryPoint : std::uint8_t { c1 };

template <>
inline constexpr auto spellings_of<CompressEntryPoint> =
    Spellings<CompressEntryPoint, 1>{{{{CompressEntryPoint::c1, "c1"}}}};

/// Returns whether the entry point's page offers it on the product. The next function returns the
/// requirement NSAC-C01* that says so.
bool supports(CompressEntryPoint entry_point, Product product);
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

/// The gradient of a compression: weighted sums over sliding windows shorten a key or value tensor.
/// Names are those of the documents, in snake_case, without the endings Optional and Out.
struct NsaCompressGrad {
  static constexpr std::string_view name = "nsa_compress_grad";
  /// True if kernels compute a softmax: then the P and dS fields of numerics presets apply.
  static constexpr bool has_softmax = false;

  using EntryPoint = CompressEntryPoint;

  /// One legal computation; the layout is TND.
  struct Problem {
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
    friend bool operator==(const Problem&, const Problem&) = default;
  };

  /// Shapes, where T is the number of tokens of all sequences and T' the number of windows:
  /// output_grad (T', heads, head_dim), input (T, heads, head_dim), weight (compress_block_size,
  /// heads).
  struct Inputs {
    Tensor output_grad, input, weight;
  };

  /// Tensors that phase 2 fills.
  struct Outputs {
    Tensor input_grad, weight_grad;
  };

  /// The tensors and host arrays of phase 1, by their documented names.
  struct Parameters {
    Parameter output_grad, input, weight, input_grad, weight_grad;
    std::optional<std::vector<std::int64_t>> act_seq_len;  ///< inclusive sums of the lengths
    bool workspace_size = true, executor = true;           ///< false: null pointers
  };

  /// The numbers and strings of phase 1, by their documented names.
  struct Attributes {
    std::int64_t compress_block_size = 32, compress_stride = 16, act_seq_len_type = 0;
    std::optional<std::string> layout;  ///< nullopt: a null pointer
  };

  /// Requirements NSAC-C*.
  static std::span<const Requirement<NsaCompressGrad>> requirements();
  static constexpr std::span<const Stage> stages() { return compress_stages; }
};

/// Calls visit(name, member, meaning) for every field of a problem. Flags, JSON, HDF5 and the
/// shrinking of failing cases use this list.
template <class Problem, class Visitor>
requires std::same_as<std::remove_const_t<Problem>, NsaCompressGrad::Problem>
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
        "tokens from the start of one window to the start of the next, fewer than the tokens of a "
        "window");
}

/// Calls visit(name, member) for every input, a Tensor or an optional one, by its documented name.
template <class Inputs, class Visitor>
requires std::same_as<std::remove_const_t<Inputs>, NsaCompressGrad::Inputs>
void visit_fields(Inputs& inputs, Visitor&& visit) {
  visit("output_grad", inputs.output_grad);
  visit("input", inputs.input);
  visit("weight", inputs.weight);
}

/// Calls visit(name, member) for every output.
template <class Outputs, class Visitor>
requires std::same_as<std::remove_const_t<Outputs>, NsaCompressGrad::Outputs>
void visit_fields(Outputs& outputs, Visitor&& visit) {
  visit("input_grad", outputs.input_grad);
  visit("weight_grad", outputs.weight_grad);
}

/// Calls visit(name, member) for every tensor (a Parameter), host array (optional) and null pointer
/// (bool) of a call.
template <class Parameters, class Visitor>
requires std::same_as<std::remove_const_t<Parameters>, NsaCompressGrad::Parameters>
void visit_fields(Parameters& parameters, Visitor&& visit) {
  visit("output_grad", parameters.output_grad);
  visit("input", parameters.input);
  visit("weight", parameters.weight);
  visit("input_grad", parameters.input_grad);
  visit("weight_grad", parameters.weight_grad);
  visit("act_seq_len", parameters.act_seq_len);
  visit("workspace_size", parameters.workspace_size);
  visit("executor", parameters.executor);
}

/// Calls visit(name, member) for every attribute of a call.
template <class Attributes, class Visitor>
requires std::same_as<std::remove_const_t<Attributes>, NsaCompressGrad::Attributes>
void visit_fields(Attributes& attributes, Visitor&& visit) {
  visit("compress_block_size", attributes.compress_block_size);
  visit("compress_stride", attributes.compress_stride);
  visit("act_seq_len_type", attributes.act_seq_len_type);
  visit("layout", attributes.layout);
}

/// Number of windows that fit into `length` tokens; 0 if the window or the stride is not positive.
std::int64_t window_count(std::int64_t length, std::int64_t compress_block_size,
                          std::int64_t compress_stride);

/// Extents of input and input_grad; extents of output_grad. A sequence of output_grad contains one
/// row for each window of a sequence of input.
Extents input_extents(const NsaCompressGrad::Problem& problem);
Extents output_extents(const NsaCompressGrad::Problem& problem);

/// The shape of weight and weight_grad.
Shape weight_shape(const NsaCompressGrad::Problem& problem);

/// Builds the call for `problem`. Strides are given for inputs and for outputs.
Call<NsaCompressGrad> call_of(const NsaCompressGrad::Problem& problem,
                              CompressEntryPoint entry_point, Product product,
                              const Strides& inputs, const Strides& outputs);

}  // namespace assay::spec
