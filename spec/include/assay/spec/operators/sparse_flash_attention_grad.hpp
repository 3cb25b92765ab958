#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/requirement.hpp"
#include "assay/spec/stage.hpp"
#include "assay/spec/striding.hpp"
#include "assay/spec/table.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// The entry points (API functions) of the operator. There is only one,
/// aclnnSparseFlashAttentionGrad.
enum class SparseFlashEntryPoint : std::uint8_t { g1 };

template <>
inline constexpr auto spellings_of<SparseFlashEntryPoint> =
    Spellings<SparseFlashEntryPoint, 1>{{{{SparseFlashEntryPoint::g1, "g1"}}}};

/// The first function returns whether the documentation page of the entry point lists the product
/// as supported. The second returns the id of the requirement that says so.
bool supports(SparseFlashEntryPoint entry_point, Product product);
std::string_view product_requirement(SparseFlashEntryPoint entry_point, Product product);

/// How a call passes the values. given: `value` is a tensor with the same elements as key. merged:
/// `value` is a null pointer, the kernel uses the keys without their rope part as values, and d_key
/// is the sum of both gradients.
enum class SparseValue : std::uint8_t { given, merged };

template <>
inline constexpr auto spellings_of<SparseValue> = Spellings<SparseValue, 2>{{{
    {SparseValue::given, "given"},
    {SparseValue::merged, "merged"},
}}};

/// Describes one legal computation: shapes, types and options, but no tensors. Key and value have
/// one head, with 512 channels.
struct SparseFlashProblem {
  static constexpr std::int64_t head_dim = 512, most_rope = 64;

  DType dtype = DType::bf16;
  Layout layout = Layout::bsnd;  ///< BSND or TND
  std::int64_t batch = 1, heads_q = 1, seq_q = 4, seq_kv = 16;
  /// TND: the length of every sequence. Empty: all sequences have length seq_q (seq_kv). Otherwise
  /// there are `batch` lengths, and seq_q (seq_kv) is their maximum.
  std::vector<std::int64_t> lengths_q, lengths_kv;
  std::int64_t head_dim_rope = most_rope;  ///< 64, or 0: no rope tensors
  SparseValue value_form = SparseValue::given;
  double scale_value = 0.0625;  ///< must be representable as float
  std::int64_t sparse_block_size = 1, sparse_block_count = 1024;
  std::int64_t sparse_mode = 0;

  bool is_merged() const { return value_form == SparseValue::merged; }
  std::int64_t length_q(std::int64_t b) const { return length(lengths_q, seq_q, b); }
  std::int64_t length_kv(std::int64_t b) const { return length(lengths_kv, seq_kv, b); }
  friend bool operator==(const SparseFlashProblem&, const SparseFlashProblem&) = default;

 private:
  static std::int64_t length(const std::vector<std::int64_t>& lengths, std::int64_t all,
                             std::int64_t b) {
    return lengths.empty() ? all : lengths[static_cast<std::size_t>(b)];
  }
};

/// Calls visit(name, member, meaning) for every field of this struct.
template <class Problem, class Visitor>
requires std::same_as<std::remove_const_t<Problem>, SparseFlashProblem>
void visit_fields(Problem& p, Visitor&& visit) {
  visit("dtype", p.dtype, "element type of query, key, value, d_out, out and the gradients");
  visit("layout", p.layout, "BSND or TND");
  visit("batch", p.batch, "number of sequences B");
  visit("heads_q", p.heads_q, "query heads N1: a power of two, at most 128");
  visit("seq_q", p.seq_q, "longest query sequence");
  visit("seq_kv", p.seq_kv, "longest key sequence");
  visit("lengths_q", p.lengths_q,
        "TND: query length of every sequence; COUNTxLENGTH stands for COUNT equal lengths");
  visit("lengths_kv", p.lengths_kv, "TND: key length of every sequence");
  visit("head_dim_rope", p.head_dim_rope, "head size of the rope tensors: 64, or 0 without them");
  visit("value_form", p.value_form,
        "given: value is passed and equals key; merged: value is null, and d_key is the sum of "
        "both gradients");
  visit("scale_value", p.scale_value, "factor of the scores");
  visit("sparse_block_size", p.sparse_block_size, "keys of one listed block: 1, 8, 16, 32 or 64");
  visit("sparse_block_count", p.sparse_block_count, "entries of the list of each query");
  visit("sparse_mode", p.sparse_mode,
        "0: a query sees every key that it lists; 3: causal mask in which the last query sees all "
        "keys up to the last one");
}

/// Return the extents of: query, out, d_out and d_query; key, value and their gradients; the rope
/// tensors (dim 0 without rope); sparse_indices.
Extents query_extents(const SparseFlashProblem& problem);
Extents key_extents(const SparseFlashProblem& problem);
Extents query_rope_extents(const SparseFlashProblem& problem);
Extents key_rope_extents(const SparseFlashProblem& problem);
Extents sparse_indices_extents(const SparseFlashProblem& problem);

namespace detail {
inline constexpr auto sparse_d_query = std::to_array<std::string_view>({"d_query"});
inline constexpr auto sparse_d_query_rope = std::to_array<std::string_view>({"d_query_rope"});
inline constexpr auto sparse_d_key = std::to_array<std::string_view>({"d_key"});
inline constexpr auto sparse_d_key_rope = std::to_array<std::string_view>({"d_key_rope"});
inline constexpr auto sparse_d_value = std::to_array<std::string_view>({"d_value"});
inline constexpr auto sparse_of_query =
    std::to_array<std::string_view>({"d_query", "d_query_rope"});
inline constexpr auto sparse_of_key = std::to_array<std::string_view>({"d_key", "d_key_rope"});
inline constexpr auto sparse_of_queries =
    std::to_array<std::string_view>({"d_key", "d_key_rope", "d_value"});
inline constexpr auto sparse_of_dscore =
    std::to_array<std::string_view>({"d_query", "d_query_rope", "d_key", "d_key_rope"});
inline constexpr auto sparse_of_all =
    std::to_array<std::string_view>({"d_query", "d_query_rope", "d_key", "d_key_rope", "d_value"});
inline constexpr auto sparse_flash_stages = std::to_array<Stage>({
    {"the sum over keys that gives d_query", sparse_d_query},
    {"the sum over keys that gives d_query_rope", sparse_d_query_rope},
    {"the sum over queries that gives d_key", sparse_d_key},
    {"the sum over queries that gives d_key_rope", sparse_d_key_rope},
    {"the P that enters d_value, or the sum over queries that gives d_value", sparse_d_value},
    {"the dS that enters d_query and d_query_rope", sparse_of_query},
    {"the dS that enters d_key and d_key_rope", sparse_of_key},
    {"the rows and heads over which d_key and d_value sum, or P", sparse_of_queries},
    {"dP, the row term or dS", sparse_of_dscore},
    {"P (the scores, the choice of the keys or the softmax statistics)", sparse_of_all},
});
}  // namespace detail

/// The gradient of softmax attention in which every query attends to the tokens or blocks of tokens
/// in its list. All query heads read the same key head. Query and key have an additional rope part,
/// which takes part only in the scores. Members have the documented names in snake_case, without
/// the endings Optional and Out; `out` keeps its name.
struct SparseFlashAttentionGrad {
  static constexpr std::string_view name = "sparse_flash_attention_grad";
  /// True if kernels of this operator compute a softmax. Kernels without a softmax have no P and no
  /// dS, so a declared rounding of P or dS does not apply to them.
  static constexpr bool has_softmax = true;

  using EntryPoint = SparseFlashEntryPoint;
  using Problem = SparseFlashProblem;

  /// Inputs, with their shapes in TND and in BSND: query, d_out, out (T1, N1, 512), (B, S1, N1,
  /// 512); key, value (T2, 1, 512), (B, S2, 1, 512); softmax_max and softmax_sum (1, T1, N1), (B,
  /// 1, S1, N1); sparse_indices (T1, 1, K), (B, S1, 1, K); query_rope and key_rope like query and
  /// key, with 64 channels.
  struct Inputs {
    using Operator = SparseFlashAttentionGrad;
    Tensor query, key;
    std::optional<Tensor> value = {};
    /// int32. The entry v means the block of keys that starts at key v * sparse_block_size of the
    /// query's own sequence. If a list has fewer entries than its row, the rest of the row is -1.
    Tensor sparse_indices;
    Tensor d_out, out, softmax_max, softmax_sum;
    std::optional<Tensor> actual_seq_lengths_query = {},
                          actual_seq_lengths_kv = {};  ///< TND: int32, inclusive sums
    std::optional<Tensor> query_rope = {}, key_rope = {};
  };

  /// The tensors that phase 2 (the kernel run) fills.
  struct Outputs {
    using Operator = SparseFlashAttentionGrad;
    Tensor d_query, d_key;
    std::optional<Tensor> d_value = {}, d_query_rope = {}, d_key_rope = {};
  };

  /// The tensors that phase 1 (the argument check) receives, by their documented names.
  struct Parameters {
    using Operator = SparseFlashAttentionGrad;
    Parameter query, key, value, sparse_indices, d_out, out, softmax_max, softmax_sum,
        actual_seq_lengths_query, actual_seq_lengths_kv, query_rope, key_rope;
    Parameter d_query, d_key, d_value, d_query_rope, d_key_rope;
    bool workspace_size = true, executor = true;  ///< false: null pointers
  };

  /// The attributes of a call: the numbers and strings that phase 1 (the argument check) receives,
  /// by their documented names.
  struct Attributes {
    double scale_value = 1.0;
    std::int64_t sparse_block_size = 1;
    std::optional<std::string> layout;  ///< nullopt: a null pointer
    std::int64_t sparse_mode = 0;
    std::int64_t pre_tokens = 2147483647, next_tokens = 2147483647;
    std::int64_t deterministic = 0;
  };

  /// The list of the operator's tensors with their shapes, in the form that `table_of` needs. A
  /// shape without axes means a null pointer.
  static constexpr auto table() {
    const auto of_fp32 = [](const Problem&) { return DType::fp32; };
    const auto of_int32 = [](const Problem&) { return DType::int32; };
    return std::tuple{
        TensorRow{"query", &Parameters::query, &Inputs::query, query_shape},
        TensorRow{"key", &Parameters::key, &Inputs::key, key_shape},
        TensorRow{"value", &Parameters::value, &Inputs::value, value_shape},
        TensorRow{"sparse_indices", &Parameters::sparse_indices, &Inputs::sparse_indices,
                  indices_shape, of_int32},
        TensorRow{"d_out", &Parameters::d_out, &Inputs::d_out, query_shape},
        TensorRow{"out", &Parameters::out, &Inputs::out, query_shape},
        TensorRow{"softmax_max", &Parameters::softmax_max, &Inputs::softmax_max, statistics_shape,
                  of_fp32},
        TensorRow{"softmax_sum", &Parameters::softmax_sum, &Inputs::softmax_sum, statistics_shape,
                  of_fp32},
        TensorRow{"actual_seq_lengths_query", &Parameters::actual_seq_lengths_query,
                  &Inputs::actual_seq_lengths_query, lengths_shape, of_int32},
        TensorRow{"actual_seq_lengths_kv", &Parameters::actual_seq_lengths_kv,
                  &Inputs::actual_seq_lengths_kv, lengths_shape, of_int32},
        TensorRow{"query_rope", &Parameters::query_rope, &Inputs::query_rope, query_rope_shape},
        TensorRow{"key_rope", &Parameters::key_rope, &Inputs::key_rope, key_rope_shape},
        TensorRow{"d_query", &Parameters::d_query, &Outputs::d_query, query_shape},
        TensorRow{"d_key", &Parameters::d_key, &Outputs::d_key, key_shape},
        TensorRow{"d_value", &Parameters::d_value, &Outputs::d_value, value_shape},
        TensorRow{"d_query_rope", &Parameters::d_query_rope, &Outputs::d_query_rope,
                  query_rope_shape},
        TensorRow{"d_key_rope", &Parameters::d_key_rope, &Outputs::d_key_rope, key_rope_shape},
        ArgumentRow{"workspace_size", &Parameters::workspace_size},
        ArgumentRow{"executor", &Parameters::executor}};
  }

  /// Requirements SFAG-C*.
  static std::span<const Requirement<SparseFlashAttentionGrad>> requirements();
  static constexpr std::span<const Stage> stages() { return detail::sparse_flash_stages; }

 private:
  static Shape query_shape(const Problem& problem);
  static Shape key_shape(const Problem& problem);
  static Shape value_shape(const Problem& problem);
  static Shape query_rope_shape(const Problem& problem);
  static Shape key_rope_shape(const Problem& problem);
  static Shape indices_shape(const Problem& problem);
  static Shape statistics_shape(const Problem& problem);
  static Shape lengths_shape(const Problem& problem);
};

template <>
inline constexpr auto table_of<SparseFlashAttentionGrad> = SparseFlashAttentionGrad::table();

/// Calls visit(name, member) for every attribute of a call.
template <class Attributes, class Visitor>
requires std::same_as<std::remove_const_t<Attributes>, SparseFlashAttentionGrad::Attributes>
void visit_fields(Attributes& a, Visitor&& visit) {
  visit("scale_value", a.scale_value);
  visit("sparse_block_size", a.sparse_block_size);
  visit("layout", a.layout);
  visit("sparse_mode", a.sparse_mode);
  visit("pre_tokens", a.pre_tokens);
  visit("next_tokens", a.next_tokens);
  visit("deterministic", a.deterministic);
}

/// Builds a call that computes `problem`. `inputs` and `outputs` give the strides of the tensors.
Call<SparseFlashAttentionGrad> call_of(const SparseFlashProblem& problem,
                                       SparseFlashEntryPoint entry_point, Product product,
                                       const Strides& inputs, const Strides& outputs);

}  // namespace assay::spec
