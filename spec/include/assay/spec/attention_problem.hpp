#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "assay/spec/dtype.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/tensor.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

struct Numerics;

/// The form in which a call passes the attention mask. `compressed` and the values after it are the
/// fixed pattern of the sparse modes: a lower triangle of 2048 x 2048 elements; in mode 6 the 1024
/// rows of the prefix follow below it. The documentation lists the same shapes for every mode, so a
/// fixed pattern may also have batch and head axes, with the same pattern in each slice. In TND, S
/// is the length of the longest sequence, and i and j count from the start of sequence b. Source:
/// aclnnFlashAttentionUnpaddingScoreGrad.md (attenMaskOptional).
enum class MaskShape : std::uint8_t {
  absent,
  ss,
  one_one_ss,
  b_one_ss,
  bnss,
  compressed,
  compressed_one_one_ss,
  compressed_b_one_ss,
  compressed_bnss
};

template <>
inline constexpr auto spellings_of<MaskShape> = Spellings<MaskShape, 9>{{{
    {MaskShape::absent, "none"},
    {MaskShape::ss, "SS"},
    {MaskShape::one_one_ss, "11SS"},
    {MaskShape::b_one_ss, "B1SS"},
    {MaskShape::bnss, "BNSS"},
    {MaskShape::compressed, "compressed"},
    {MaskShape::compressed_one_one_ss, "compressed_11SS"},
    {MaskShape::compressed_b_one_ss, "compressed_B1SS"},
    {MaskShape::compressed_bnss, "compressed_BNSS"},
}}};

/// Returns whether the mask is the fixed pattern of the sparse modes.
constexpr bool is_compressed(MaskShape shape) { return shape >= MaskShape::compressed; }
/// Returns whether the caller chooses the elements of the mask.
constexpr bool is_written_out(MaskShape shape) {
  return shape != MaskShape::absent && !is_compressed(shape);
}

/// The form in which a call passes pseShift, the position bias. pseType 0 and 1 use `bnss` to
/// `packed_bnss`; pseType 2 and 3 use `slopes_n` and `slopes_bn`. `bnss`, `bn1s`, `one_nss`: in
/// TND, S is the length of the longest sequence, and i and j count from the start of sequence b, as
/// in a mask. The documentation page lists these shapes for TND but does not explain them. `bnhs`,
/// `one_nhs`: only the last H = 1024 query rows of a bias that depends only on i - j, under a
/// causal mask; in TND the number of columns is the longest key length. If the longest query length
/// is 1024, the whole bias has the same shape, and the tensor is read as the whole bias.
/// `packed_bn1s`, `packed_bnss`: in TND, sequence by sequence without gaps; these two forms come
/// from the host code, all others from the documentation page. Source:
/// aclnnFlashAttentionUnpaddingScoreGrad.md (pseShiftOptional).
enum class PseShape : std::uint8_t {
  absent,
  bnss,
  bn1s,
  one_nss,
  bnhs,
  one_nhs,
  packed_bn1s,
  packed_bnss,
  slopes_n,
  slopes_bn
};

template <>
inline constexpr auto spellings_of<PseShape> = Spellings<PseShape, 10>{{{
    {PseShape::absent, "none"},
    {PseShape::bnss, "BNSS"},
    {PseShape::bn1s, "BN1S"},
    {PseShape::one_nss, "1NSS"},
    {PseShape::bnhs, "BNHS"},
    {PseShape::one_nhs, "1NHS"},
    {PseShape::packed_bn1s, "packed_BN1S"},
    {PseShape::packed_bnss, "packed_BNSS"},
    {PseShape::slopes_n, "N"},
    {PseShape::slopes_bn, "BN"},
}}};

/// The form in which a call passes dropMask, one bit per score. `exact`: the minimal number of
/// bytes. `granules`: rounded up to a multiple of 128 bits, followed by 32 spare bytes.
/// Source: aclnnFlashAttentionUnpaddingScoreGrad.md (dropMaskOptional).
enum class DropMask : std::uint8_t { absent, exact, granules };

template <>
inline constexpr auto spellings_of<DropMask> = Spellings<DropMask, 3>{{{
    {DropMask::absent, "none"},
    {DropMask::exact, "exact"},
    {DropMask::granules, "granules"},
}}};

/// The form in which a call passes the sink. `per_head`: one fp32 logit for each query head. The
/// logit takes part in the maximum and the sum of a softmax row like the score of a key with value
/// zero. It is not scaled, biased, masked or dropped.
/// Source: aclnnFlashAttentionScoreGradV3.md (sinkInOptional), aclnnFlashAttentionScoreV3.md.
enum class SinkShape : std::uint8_t { absent, per_head };

template <>
inline constexpr auto spellings_of<SinkShape> = Spellings<SinkShape, 2>{{{
    {SinkShape::absent, "none"},
    {SinkShape::per_head, "N"},
}}};

/// The value of the attribute softmaxInLayout (entry points u4 and u5 of the gradient) or
/// softmaxOutLayout (entry point l5 of the forward): "" or "same_as_input".
enum class SoftmaxInLayout : std::uint8_t { empty, same_as_input };

template <>
inline constexpr auto spellings_of<SoftmaxInLayout> = Spellings<SoftmaxInLayout, 2>{{{
    {SoftmaxInLayout::empty, "empty"},
    {SoftmaxInLayout::same_as_input, "same_as_input"},
}}};

/// The memory order of softmax_max and softmax_sum in TND. The shape is (T, N, 8) in both orders.
/// `heads_first`: sequence by sequence, and within a sequence head by head, as the vendor's code
/// reads the tensors. `tokens_first`: token by token, as the shape says. The documentation of every
/// entry point contradicts itself about the order (requirement FAG-C83a).
enum class StatisticsOrder : std::uint8_t { heads_first, tokens_first };

template <>
inline constexpr auto spellings_of<StatisticsOrder> = Spellings<StatisticsOrder, 2>{{{
    {StatisticsOrder::heads_first, "heads_first"},
    {StatisticsOrder::tokens_first, "tokens_first"},
}}};

/// Returns the memory order in which the vendor's code reads softmax_max and softmax_sum, for a
/// value of the attribute softmaxInLayout. Entry points without this attribute behave as if its
/// value were "".
constexpr StatisticsOrder upstream_order(SoftmaxInLayout layout) {
  return layout == SoftmaxInLayout::empty ? StatisticsOrder::heads_first
                                          : StatisticsOrder::tokens_first;
}

/// The number of rows that a prefix adds to a compressed mask, and the number of rows of a
/// compressed position bias.
inline constexpr std::int64_t compressed_prefix_rows = 1024;
inline constexpr std::int64_t compressed_pse_rows = 1024;
/// The value of preTokens and nextTokens that usually means "unbounded".
inline constexpr std::int64_t unbounded_tokens = 2147483647;

/// Describes one legal computation of softmax attention, either of the forward operator
/// FlashAttentionScore or of its gradient, for any of their entry points. It contains shapes, types
/// and options, but no tensors. Fields have the documented names in snake_case, without the endings
/// Optional, In and Out. Where the operators' names differ (realShift), the field has the name of
/// the gradient.
struct AttentionProblem {
  Layout input_layout = Layout::bnsd;
  DType dtype = DType::bf16;
  std::int64_t batch = 1, heads_q = 1, heads_kv = 1, seq_q = 16, seq_kv = 16;
  /// TND: the length of every sequence. Empty: all sequences have length seq_q (seq_kv). Otherwise
  /// there are `batch` lengths, and seq_q (seq_kv) is their maximum.
  std::vector<std::int64_t> lengths_q, lengths_kv;
  /// TND: the number of tokens of query (of keyIn) that follow the last sequence and belong to no
  /// sequence.
  std::int64_t padding_q = 0, padding_kv = 0;
  std::int64_t head_dim = 16;
  std::int64_t head_dim_v = 16;    ///< of value, dy, dv and the output; at most head_dim
  std::int64_t head_dim_rope = 0;  ///< of query_rope, key_rope, dq_rope, dk_rope; 0: absent
  double scale_value = 0.25;       ///< must be representable as float
  double keep_prob = 1.0;
  DropMask drop_mask = DropMask::absent;
  std::int64_t sparse_mode = 0;
  std::int64_t pre_tokens = unbounded_tokens, next_tokens = unbounded_tokens;
  std::vector<std::int64_t>
      prefix;  ///< of every sequence; read by sparse modes 5 and 6; empty: a null pointer
  MaskShape atten_mask = MaskShape::absent;
  DType mask_dtype = DType::boolean;
  std::int64_t pse_type = 1;
  PseShape pse_shift = PseShape::absent;
  DType slope_dtype = DType::fp32;  ///< of the slopes of pse_type 2 and 3: fp32, or dtype
  std::vector<std::int64_t> q_start_idx,
      kv_start_idx;  ///< only element 0 is read, if both have one; pse_type 2 and 3
  SoftmaxInLayout softmax_in_layout =
      SoftmaxInLayout::empty;  ///< softmaxOutLayout on l5 of the forward
  StatisticsOrder statistics_order = StatisticsOrder::heads_first;  ///< read in TND
  SinkShape sink = SinkShape::absent;

  std::int64_t group() const { return heads_q / heads_kv; }
  std::int64_t length_q(std::int64_t b) const {
    return lengths_q.empty() ? seq_q : lengths_q[static_cast<std::size_t>(b)];
  }
  std::int64_t length_kv(std::int64_t b) const {
    return lengths_kv.empty() ? seq_kv : lengths_kv[static_cast<std::size_t>(b)];
  }
  bool has_dropout() const { return keep_prob != 1.0; }
  bool has_sink() const { return sink != SinkShape::absent; }
  friend bool operator==(const AttentionProblem&, const AttentionProblem&) = default;
};

/// Calls visit(name, member, meaning) for every field of this struct. Command-line flags, JSON,
/// HDF5 and the reduction of failing test cases use this list.
template <class Problem, class Visitor>
requires std::same_as<std::remove_const_t<Problem>, AttentionProblem>
void visit_fields(Problem& problem, Visitor&& visit) {
  visit("layout", problem.input_layout, "axis order of the tensors");
  visit("dtype", problem.dtype, "element type of query, key, value, dy and the gradients");
  visit("batch", problem.batch, "batch size B");
  visit("heads_q", problem.heads_q, "query heads N1");
  visit("heads_kv", problem.heads_kv, "key and value heads N2, a divisor of N1");
  visit("seq_q", problem.seq_q, "query length Sq");
  visit("seq_kv", problem.seq_kv, "key and value length Skv");
  visit("lengths_q", problem.lengths_q,
        "TND: query length of every sequence; COUNTxLENGTH stands for COUNT equal lengths");
  visit("lengths_kv", problem.lengths_kv, "TND: key length of every sequence");
  visit("padding_q", problem.padding_q, "TND: tokens of query after the last sequence");
  visit("padding_kv", problem.padding_kv, "TND: tokens of key and value after the last sequence");
  visit("head_dim", problem.head_dim, "head size D of query and key");
  visit("head_dim_v", problem.head_dim_v, "head size Dv of value and dy, at most D");
  visit("head_dim_rope", problem.head_dim_rope, "head size Dr of the rope tensors, 0: none");
  visit("scale_value", problem.scale_value, "factor of the scores");
  visit("keep_prob", problem.keep_prob,
        "share of the probabilities that dropout keeps; 1: no "
        "dropout");
  visit("drop_mask", problem.drop_mask, "size of the buffer that contains the dropout bits");
  visit("sparse_mode", problem.sparse_mode, "sparse mode of the mask");
  visit("pre_tokens", problem.pre_tokens, "left edge of the window");
  visit("next_tokens", problem.next_tokens, "right edge of the window");
  visit("prefix", problem.prefix, "sparse modes 5 and 6: visible keys of every sequence");
  visit("atten_mask", problem.atten_mask, "shape in which the mask is passed");
  visit("mask_dtype", problem.mask_dtype, "element type of the mask");
  visit("pse_type", problem.pse_type,
        "0: scale, then add the bias; 1: add the bias, then scale; 2: slope times distance; 3: "
        "slope times root of the distance");
  visit("pse_shift", problem.pse_shift, "shape in which the position bias is passed");
  visit("slope_dtype", problem.slope_dtype,
        "pse_type 2 and 3: element type of the slopes, fp32 or dtype");
  visit("q_start_idx", problem.q_start_idx, "position of the first query, pse_type 2 and 3");
  visit("kv_start_idx", problem.kv_start_idx, "position of the first key");
  visit("softmax_in_layout", problem.softmax_in_layout,
        "u4, u5: value of the attribute softmaxInLayout; l5: of softmaxOutLayout");
  visit("statistics_order", problem.statistics_order,
        "TND: memory order of the statistics; default: the order in which the vendor's code reads "
        "them, which depends on softmax_in_layout");
  visit("sink", problem.sink,
        "g3, u5, f3, l5: shape in which the sink is passed, a logit per query head that joins the "
        "softmax sum");
}

/// Return the extents of the tensors on the query side. The number of channels is head_dim for
/// query and dq, head_dim_v for dy and attention_in, and head_dim_rope for the rope part. Cost:
/// O(batch) if the lengths differ.
Extents query_extents(const AttentionProblem& problem);
Extents dy_extents(const AttentionProblem& problem);
Extents query_rope_extents(const AttentionProblem& problem);
Extents key_extents(const AttentionProblem& problem);
Extents value_extents(const AttentionProblem& problem);
Extents key_rope_extents(const AttentionProblem& problem);

/// Returns the extents of sink and dsink: one element per query head. The extent `dim` is 0 if the
/// problem has no sink.
Extents sink_extents(const AttentionProblem& problem);

/// Returns the number of scores of all sequences and query heads, including masked ones. A drop
/// mask has this number of bits.
std::int64_t score_count(const AttentionProblem& problem);

/// The shapes of the statistics, mask, position bias and dropout bits. Errors:
/// std::invalid_argument if the tensor is `absent`.
Shape statistics_shape(const AttentionProblem& problem);
Shape mask_shape(const AttentionProblem& problem);
Shape pse_shape(const AttentionProblem& problem);
Shape drop_mask_shape(const AttentionProblem& problem);
/// Returns whether the two memory orders of the statistics differ for this problem. They differ in
/// TND if there are several heads and a sequence with several tokens. Cost: O(batch).
bool is_order_of_statistics_seen(const AttentionProblem& problem);
/// Returns the memory order of the statistics that a kernel declares in `numerics`, or nothing.
/// `by_layout`: whether the entry point has an attribute for this order. `layout`: the value of
/// that attribute.
std::optional<StatisticsOrder> declared_order(const Numerics& numerics, bool by_layout,
                                              SoftmaxInLayout layout);
/// Returns the element type of pseShift: the type of query, or for slopes the type of query or
/// fp32.
DType pse_dtype(const AttentionProblem& problem);

}  // namespace assay::spec
