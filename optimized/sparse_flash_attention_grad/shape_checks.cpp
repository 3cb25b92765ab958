#include <vector>

#include "checks/refusals.hpp"
#include "sparse_flash_attention_grad/checks.hpp"

namespace assay::optimized::sparse_flash {
namespace {

using Call = Check::Call;
using Problem = spec::SparseFlashProblem;

constexpr std::int64_t most_sequences = 256, longest_query = 128 * 1024, most_heads = 128;

bool is_packed(const Call& call) { return *call.attributes.layout == "TND"; }

/// Returns the extent of an axis. Axes are counted from the last one: 0 means channels, 1 means
/// heads, 2 means tokens.
std::int64_t from_last(const spec::Parameter& tensor, std::size_t axis) {
  return tensor.shape[tensor.shape.size() - 1 - axis];
}

/// Returns `shape` with `heads` heads and `channels` channels in its last two axes.
spec::Shape with(spec::Shape shape, std::int64_t heads, std::int64_t channels) {
  shape[shape.size() - 2] = heads;
  shape.back() = channels;
  return shape;
}

/// Returns a text about the first given tensor with another shape, or nothing.
Refusal first_of_other_shape(const spec::Shape& expected,
                             std::initializer_list<NamedParameter> tensors) {
  for (const NamedParameter& tensor : tensors)
    if (is_given(*tensor.parameter))
      if (const Refusal refusal = shape_is(tensor, expected)) return refusal;
  return std::nullopt;
}

Refusal ranks(const Call& call) {
  const auto& p = call.parameters;
  const std::size_t rank = is_packed(call) ? 3 : 4;
  for (const NamedParameter& tensor :
       std::vector<NamedParameter>{{"query", &p.query},
                                   {"key", &p.key},
                                   {"value", &p.value},
                                   {"sparseIndices", &p.sparse_indices},
                                   {"dOut", &p.d_out},
                                   {"out", &p.out},
                                   {"queryRope", &p.query_rope},
                                   {"keyRope", &p.key_rope},
                                   {"dQueryOut", &p.d_query},
                                   {"dKeyOut", &p.d_key},
                                   {"dValueOut", &p.d_value},
                                   {"dQueryRopeOut", &p.d_query_rope},
                                   {"dKeyRopeOut", &p.d_key_rope}})
    if (tensor.parameter->present && tensor.parameter->shape.size() != rank)
      return "rank of " + std::string(tensor.name) + " is " +
             std::to_string(tensor.parameter->shape.size()) + "; it must be " +
             std::to_string(rank) + " with layout " + *call.attributes.layout;
  return std::nullopt;
}

Refusal heads(const Call& call) {
  const auto& p = call.parameters;
  const std::int64_t q = from_last(p.query, 1), kv = from_last(p.key, 1);
  if (kv != 1) return "number of heads of key is " + std::to_string(kv) + "; it must be 1";
  return unless(q > 0 && q <= most_heads && (q & (q - 1)) == 0,
                "number of heads of query is " + std::to_string(q) +
                    "; it must be 1, 2, 4, 8, 16, 32, 64 or 128");
}

Refusal head_size(const Call& call) {
  const std::int64_t dim = from_last(call.parameters.query, 0);
  return unless(dim == Problem::head_dim,
                "head size of query is " + std::to_string(dim) + "; it must be 512");
}

Refusal rope_size(const Call& call) {
  const auto& p = call.parameters;
  for (const NamedParameter& tensor :
       {NamedParameter{"queryRope", &p.query_rope}, {"keyRope", &p.key_rope}})
    if (is_given(*tensor.parameter) && from_last(*tensor.parameter, 0) != Problem::most_rope)
      return "head size of " + std::string(tensor.name) + " is " +
             std::to_string(from_last(*tensor.parameter, 0)) + "; it must be 64";
  return std::nullopt;
}

Refusal outputs(const Call& call) {
  const auto& p = call.parameters;
  if (const Refusal refusal = first_of_other_shape(p.query.shape, {{"dQueryOut", &p.d_query}}))
    return refusal;
  if (const Refusal refusal = first_of_other_shape(
          p.key.shape, {{"value", &p.value}, {"dKeyOut", &p.d_key}, {"dValueOut", &p.d_value}}))
    return refusal;
  if (!is_given(p.query_rope)) return std::nullopt;
  if (const Refusal refusal =
          first_of_other_shape(p.query_rope.shape, {{"dQueryRopeOut", &p.d_query_rope}}))
    return refusal;
  return first_of_other_shape(p.key_rope.shape, {{"dKeyRopeOut", &p.d_key_rope}});
}

Refusal attention(const Call& call) {
  const auto& p = call.parameters;
  return first_of_other_shape(p.query.shape, {{"dOut", &p.d_out}, {"out", &p.out}});
}

/// Checks the shapes of the softmax statistics: the key-head axis precedes the tokens, and the
/// query heads are the last axis.
Refusal statistics(const Call& call) {
  const auto& p = call.parameters;
  spec::Shape expected = {1, from_last(p.query, 2), from_last(p.query, 1)};
  if (!is_packed(call)) expected.insert(expected.begin(), p.query.shape[0]);
  return first_of_other_shape(expected,
                              {{"softmaxMax", &p.softmax_max}, {"softmaxSum", &p.softmax_sum}});
}

Refusal indices(const Call& call) {
  const auto& p = call.parameters;
  const std::int64_t entries = from_last(p.sparse_indices, 0);
  if (const Refusal refusal = at_least("number of entries of a list", entries, 1)) return refusal;
  if (const Refusal refusal = first_of_other_shape(with(p.query.shape, 1, entries),
                                                   {{"sparseIndices", &p.sparse_indices}}))
    return refusal;
  if (const Refusal refusal =
          first_of_other_shape(with(p.query.shape, from_last(p.query, 1), Problem::most_rope),
                               {{"queryRope", &p.query_rope}}))
    return refusal;
  return first_of_other_shape(with(p.key.shape, 1, Problem::most_rope), {{"keyRope", &p.key_rope}});
}

Refusal lengths_counted(const Call& call) {
  const auto& p = call.parameters;
  for (const NamedParameter& lengths :
       {NamedParameter{"actualSeqLengthsQuery", &p.actual_seq_lengths_query},
        {"actualSeqLengthsKv", &p.actual_seq_lengths_kv}})
    if (lengths.parameter->present && lengths.parameter->shape.empty())
      return std::string(lengths.name) +
             " has no axis; it must have one, with an entry per sequence";
  if (!is_packed(call)) return std::nullopt;
  return first_of_other_shape(p.actual_seq_lengths_query.shape,
                              {{"actualSeqLengthsKv", &p.actual_seq_lengths_kv}});
}

Refusal sequences(const Call& call) {
  const auto& p = call.parameters;
  const spec::Shape& counted = is_packed(call) ? p.actual_seq_lengths_query.shape : p.query.shape;
  return within("number of sequences", counted.empty() ? 0 : counted[0], 1, most_sequences);
}

Refusal tokens(const Call& call) {
  if (is_packed(call)) return std::nullopt;  // phase 1 cannot read the lengths
  return within("number of tokens of query", call.parameters.query.shape[1], 1, longest_query);
}

Refusal sequences_alike(const Call& call) {
  const auto& p = call.parameters;
  return unless(is_packed(call) || p.query.shape[0] == p.key.shape[0],
                "query has " + std::to_string(p.query.shape[0]) + " sequences, key " +
                    std::to_string(p.key.shape[0]) + "; the counts must be equal");
}

constexpr auto invalid = spec::Status::param_invalid, tiling = spec::Status::inner_tiling_error;
constexpr Check checks[] = {
    {"SFAG-C17", tiling, ranks},           {"SFAG-C20", tiling, heads},
    {"SFAG-C18", tiling, head_size},       {"SFAG-C19", tiling, rope_size},
    {"SFAG-C21", tiling, outputs},         {"SFAG-C22", tiling, attention},
    {"SFAG-C23", tiling, statistics},      {"SFAG-C25", tiling, indices},
    {"SFAG-C26", tiling, lengths_counted}, {"SFAG-C27", tiling, sequences},
    {"SFAG-C28", tiling, tokens},          {"SFAG-C37", invalid, sequences_alike},
};

}  // namespace

std::span<const Check> shape_checks() { return checks; }

}  // namespace assay::optimized::sparse_flash
