#include "sparse_flash_attention_grad/checks.hpp"

#include "checks/refusals.hpp"

namespace assay::optimized::sparse_flash {
namespace {

using Call = Check::Call;
using spec::DType;

Refusal tensors(const Call& call) {
  const auto& p = call.parameters;
  return first_missing({{"query", p.query.present},
                        {"key", p.key.present},
                        {"sparseIndices", p.sparse_indices.present},
                        {"dOut", p.d_out.present},
                        {"out", p.out.present},
                        {"softmaxMax", p.softmax_max.present},
                        {"softmaxSum", p.softmax_sum.present},
                        {"dQueryOut", p.d_query.present},
                        {"dKeyOut", p.d_key.present}});
}

Refusal pointers(const Call& call) {
  return first_missing(
      {{"workspaceSize", call.parameters.workspace_size}, {"executor", call.parameters.executor}});
}

Refusal layout_given(const Call& call) {
  return first_missing({{"layout", call.attributes.layout.has_value()}});
}

Refusal merged_gradient(const Call& call) {
  const auto& p = call.parameters;
  return unless(is_given(p.value) || !is_given(p.d_value),
                "value is null, but dValueOut is not; without value, dKeyOut has both gradients");
}

Refusal value_gradient(const Call& call) {
  const auto& p = call.parameters;
  return unless(!is_given(p.value) || is_given(p.d_value),
                "dValueOut is null, but value is not; both must be given");
}

Refusal rope_pair(const Call& call) {
  const auto& p = call.parameters;
  return unless(is_given(p.query_rope) == is_given(p.key_rope),
                "one of queryRope and keyRope is null; give both or neither");
}

Refusal rope_gradients(const Call& call) {
  const auto& p = call.parameters;
  if (!is_given(p.query_rope)) return std::nullopt;
  return first_missing(
      {{"dQueryRopeOut", is_given(p.d_query_rope)}, {"dKeyRopeOut", is_given(p.d_key_rope)}});
}

Refusal operand_types(const Call& call) {
  const auto& p = call.parameters;
  return first_outside({{"query", &p.query},
                        {"key", &p.key},
                        {"value", &p.value},
                        {"dOut", &p.d_out},
                        {"out", &p.out},
                        {"queryRope", &p.query_rope},
                        {"keyRope", &p.key_rope}},
                       {DType::fp16, DType::bf16});
}

Refusal operands_alike(const Call& call) {
  const auto& p = call.parameters;
  return first_unlike_query(p.query, {{"key", &p.key},
                                      {"value", &p.value},
                                      {"dOut", &p.d_out},
                                      {"out", &p.out},
                                      {"queryRope", &p.query_rope},
                                      {"keyRope", &p.key_rope}});
}

Refusal other_types(const Call& call) {
  const auto& p = call.parameters;
  if (const Refusal refusal = first_outside(
          {{"softmaxMax", &p.softmax_max}, {"softmaxSum", &p.softmax_sum}}, {DType::fp32}))
    return refusal;
  return first_outside({{"sparseIndices", &p.sparse_indices},
                        {"actualSeqLengthsQuery", &p.actual_seq_lengths_query},
                        {"actualSeqLengthsKv", &p.actual_seq_lengths_kv}},
                       {DType::int32});
}

Refusal gradient_types(const Call& call) {
  const auto& p = call.parameters;
  return first_outside({{"dQueryOut", &p.d_query},
                        {"dKeyOut", &p.d_key},
                        {"dValueOut", &p.d_value},
                        {"dQueryRopeOut", &p.d_query_rope},
                        {"dKeyRopeOut", &p.d_key_rope}},
                       {DType::fp16, DType::bf16});
}

Refusal gradients_alike(const Call& call) {
  const auto& p = call.parameters;
  return first_unlike_query(p.query, {{"dQueryOut", &p.d_query},
                                      {"dKeyOut", &p.d_key},
                                      {"dValueOut", &p.d_value},
                                      {"dQueryRopeOut", &p.d_query_rope},
                                      {"dKeyRopeOut", &p.d_key_rope}});
}

Refusal formats(const Call& call) {
  Refusal refusal;
  visit_fields(call.parameters, [&](std::string_view name, const auto& parameter) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(parameter)>, spec::Parameter>) {
      const NamedParameter tensor{name, &parameter};
      if (!refusal) refusal = first_private({&tensor, 1});
    }
  });
  return refusal;
}

Refusal layout(const Call& call) {
  const std::string& given = *call.attributes.layout;
  return unless(given == "TND" || given == "BSND",
                "layout is \"" + given + "\"; it must be \"TND\" or \"BSND\"");
}

Refusal sparse_mode(const Call& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  return unless(mode == 0 || mode == 3,
                "sparseMode is " + std::to_string(mode) + "; it must be 0 or 3");
}

Refusal block_size(const Call& call) {
  const std::int64_t size = call.attributes.sparse_block_size;
  return unless(size == 1 || size == 8 || size == 16 || size == 32 || size == 64,
                "sparseBlockSize is " + std::to_string(size) + "; it must be 1, 8, 16, 32 or 64");
}

Refusal lengths_given(const Call& call) {
  if (*call.attributes.layout != "TND") return std::nullopt;
  const auto& p = call.parameters;
  return first_missing({{"actualSeqLengthsQuery", p.actual_seq_lengths_query.present},
                        {"actualSeqLengthsKv", p.actual_seq_lengths_kv.present}});
}

constexpr auto null = spec::Status::param_nullptr, invalid = spec::Status::param_invalid,
               tiling = spec::Status::inner_tiling_error;
constexpr Check checks[] = {
    {"SFAG-C02", null, tensors},
    {"SFAG-C02a", null, pointers},
    {"SFAG-C03", null, layout_given},
    {"SFAG-C04", invalid, merged_gradient},
    {"SFAG-C05", null, value_gradient},
    {"SFAG-C06", invalid, rope_pair},
    {"SFAG-C07", null, rope_gradients},
    {"SFAG-C13", invalid, operand_types},
    {"SFAG-C13a", invalid, operands_alike},
    {"SFAG-C14", invalid, other_types},
    {"SFAG-C15", invalid, gradient_types},
    {"SFAG-C15a", invalid, gradients_alike},
    {"SFAG-C16", invalid, formats},
    {"SFAG-C09", tiling, layout},
    {"SFAG-C10", tiling, sparse_mode},
    {"SFAG-C11", tiling, block_size},
    {"SFAG-C08", null, lengths_given},
};

}  // namespace

std::span<const Check> call_checks() { return checks; }

std::vector<Check> argument_checks() { return joined({call_checks(), shape_checks()}); }

void refuse_unless_legal(const Check::Call& call) {
  static const std::vector<Check> all = argument_checks();
  refuse_unless_all_hold<spec::SparseFlashAttentionGrad>(all, call);
}

}  // namespace assay::optimized::sparse_flash
