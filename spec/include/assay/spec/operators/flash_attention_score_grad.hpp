#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/constraint.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/tensor.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// How the attention mask is passed. `compressed` is the fixed 2048 x 2048 lower triangle of the sparse modes.
/// Source: aclnnFlashAttentionUnpaddingScoreGrad.md (attenMaskOptional).
enum class MaskShape : std::uint8_t { absent, ss, one_one_ss, b_one_ss, bnss, compressed };

template <>
inline constexpr auto spellings_of<MaskShape> = Spellings<MaskShape, 6>{{{
    {MaskShape::absent, "none"}, {MaskShape::ss, "SS"}, {MaskShape::one_one_ss, "11SS"},
    {MaskShape::b_one_ss, "B1SS"}, {MaskShape::bnss, "BNSS"},
    {MaskShape::compressed, "compressed"},
}}};

/// Entry points: g1 aclnnFlashAttentionScoreGrad, g2 ...V2 (adds start indices and pseType).
enum class FlashSurface : std::uint8_t { g1, g2 };

template <>
inline constexpr auto spellings_of<FlashSurface> =
    Spellings<FlashSurface, 2>{{{{FlashSurface::g1, "g1"}, {FlashSurface::g2, "g2"}}}};

/// Edge of the compressed masks.
inline constexpr std::int64_t compressed_mask_edge = 2048;
/// Softmax statistics are stored this many times in a row, all equal.
inline constexpr std::int64_t statistics_replicas = 8;
/// The customary "unbounded" number of tokens.
inline constexpr std::int64_t unbounded_tokens = 2147483647;

/// Gradient of softmax attention; the documents' names, in snake_case, without Optional, In and Out.
struct FlashAttentionScoreGrad {
  static constexpr std::string_view name = "flash_attention_score_grad";

  using Surface = FlashSurface;

  /// One legal computation, whatever the entry point that asks for it.
  struct Problem {
    Layout input_layout = Layout::bnsd;
    DType dtype = DType::bf16;
    std::int64_t batch = 1, heads_q = 1, heads_kv = 1, seq_q = 16, seq_kv = 16;
    std::int64_t head_dim = 16;
    std::int64_t head_dim_v = 16;  ///< of value, dy, attention_in, dv; at most head_dim
    double scale_value = 0.25;     ///< a value that float represents
    double keep_prob = 1.0;
    std::int64_t sparse_mode = 0;
    std::int64_t pre_tokens = unbounded_tokens, next_tokens = unbounded_tokens;
    MaskShape atten_mask = MaskShape::absent;
    DType mask_dtype = DType::boolean;

    std::int64_t group() const { return heads_q / heads_kv; }
    friend bool operator==(const Problem&, const Problem&) = default;
  };

  /// Shapes: query, dy, attention_in of the layout with heads_q; key, value with heads_kv;
  ///         softmax_max, softmax_sum (batch, heads_q, seq_q, 8) in every layout.
  struct Inputs {
    Tensor query, key, value, dy, softmax_max, softmax_sum, attention_in;
    std::optional<Tensor> atten_mask;  ///< 1 excludes
  };

  struct Outputs {
    Tensor dq, dk, dv;
  };

  /// Phase 1's tensors and host arrays, by their documented names.
  struct Parameters {
    Parameter query, key, value, dy, pse_shift, drop_mask, padding_mask, atten_mask, softmax_max,
        softmax_sum, softmax_in, attention_in, dq, dk, dv, dpse;
    std::optional<std::vector<std::int64_t>> prefix, q_start_idx, kv_start_idx;
    bool workspace_size = true, executor = true;  ///< false: null pointers
  };

  struct Attributes {
    double scale_value = 1.0, keep_prob = 1.0;
    std::int64_t pre_tokens = unbounded_tokens, next_tokens = unbounded_tokens, head_num = 1;
    std::optional<std::string> input_layout;  ///< nullopt: a null pointer
    std::int64_t inner_precise = 0, sparse_mode = 0, pse_type = 1;
  };

  /// Rows FAG-C* that speak about the surfaces above.
  static std::span<const Constraint<FlashAttentionScoreGrad>> constraints();
};

/// Calls visit(name, member, meaning) for every field of a problem: flags, JSON, HDF5 and shrinking read this list.
template <class Problem, class Visitor>
  requires std::same_as<std::remove_const_t<Problem>, FlashAttentionScoreGrad::Problem>
void visit_fields(Problem& problem, Visitor&& visit) {
  visit("layout", problem.input_layout, "axis order of the tensors");
  visit("dtype", problem.dtype, "element type of query, key, value, dy and the gradients");
  visit("batch", problem.batch, "batch size B");
  visit("heads_q", problem.heads_q, "query heads N1");
  visit("heads_kv", problem.heads_kv, "key and value heads N2, a divisor of N1");
  visit("seq_q", problem.seq_q, "query length Sq");
  visit("seq_kv", problem.seq_kv, "key and value length Skv");
  visit("head_dim", problem.head_dim, "head size D of query and key");
  visit("head_dim_v", problem.head_dim_v, "head size Dv of value and dy, at most D");
  visit("scale_value", problem.scale_value, "factor of the scores");
  visit("keep_prob", problem.keep_prob, "share of kept probabilities, 1: no dropout");
  visit("sparse_mode", problem.sparse_mode, "sparse mode of the mask");
  visit("pre_tokens", problem.pre_tokens, "left edge of the window");
  visit("next_tokens", problem.next_tokens, "right edge of the window");
  visit("atten_mask", problem.atten_mask, "shape in which the mask is passed");
  visit("mask_dtype", problem.mask_dtype, "element type of the mask");
}

/// Extents of the tensors on the query side: query and dq with head_dim, dy and attention_in with head_dim_v.
inline Extents query_extents(const FlashAttentionScoreGrad::Problem& p) {
  return {p.batch, p.heads_q, p.seq_q, p.head_dim};
}
inline Extents dy_extents(const FlashAttentionScoreGrad::Problem& p) {
  return {p.batch, p.heads_q, p.seq_q, p.head_dim_v};
}
inline Extents key_extents(const FlashAttentionScoreGrad::Problem& p) {
  return {p.batch, p.heads_kv, p.seq_kv, p.head_dim};
}
inline Extents value_extents(const FlashAttentionScoreGrad::Problem& p) {
  return {p.batch, p.heads_kv, p.seq_kv, p.head_dim_v};
}

/// The shape in which a mask is passed. Errors: std::invalid_argument for `absent`.
Shape mask_shape(const FlashAttentionScoreGrad::Problem& problem);

/// How the tensors of a call are strided.
/// padded: rows further apart than needed, behind an offset; transposed: storage with the first two axes exchanged.
enum class Striding : std::uint8_t { contiguous, padded, transposed };

template <>
inline constexpr auto spellings_of<Striding> = Spellings<Striding, 3>{{{
    {Striding::contiguous, "contiguous"}, {Striding::padded, "padded"},
    {Striding::transposed, "transposed"},
}}};

/// Sets `parameter`'s strides and offset for its shape.
void apply_striding(Parameter& parameter, Striding striding);

/// The legal call that asks for `problem`. Inputs and outputs are strided separately; the statistics and the mask as inputs.
Call<FlashAttentionScoreGrad> call_of(const FlashAttentionScoreGrad::Problem& problem,
                                      FlashSurface surface, Product product, Striding inputs,
                                      Striding outputs);

}  // namespace assay::spec
