#include "flash_attention_score/checks.hpp"

#include <algorithm>
#include <string>

#include "attention/checks/attribute.hpp"
#include "attention/checks/layout.hpp"
#include "attention/checks/pse.hpp"
#include "attention/checks/shape.hpp"
#include "attention/checks/sink.hpp"

namespace assay::optimized::attention_forward {
namespace {

using Call = Check::Call;
using namespace attention;
using spec::DType;

// Checks null pointers, and the arguments that only some entry points have.

Refusal inputs_given(const Call& c) {
  const auto& p = c.parameters;
  return first_missing(
      {{"query", p.query.present}, {"key", p.key.present}, {"value", p.value.present}});
}

Refusal outputs_given(const Call& c) {
  const auto& p = c.parameters;
  return first_missing({{"softmax_max", p.softmax_max.present},
                        {"softmax_sum", p.softmax_sum.present},
                        {"attention_out", p.attention_out.present},
                        {"workspaceSize", p.workspace_size},
                        {"executor", p.executor}});
}

Refusal layout_given(const Call& c) {
  return first_missing({{"inputLayout", c.attributes.input_layout.has_value()}});
}

Refusal statistics_layout(const Call& c) {
  if (!spec::has_softmax_in_layout(c.entry_point)) return std::nullopt;
  const auto& given = c.attributes.softmax_out_layout;
  if (!given) return "softmaxOutLayout is null; it must be \"\" or \"same_as_input\"";
  return unless(given->empty() || *given == "same_as_input",
                "softmaxOutLayout is \"" + *given + "\"; it must be \"\" or \"same_as_input\"");
}

Refusal packed_layout(const Call& c) {
  const std::string& given = *c.attributes.input_layout;
  return unless(!is_tnd(c) || given == "TND",
                "inputLayout is \"" + given + "\"; it must be \"TND\"");
}

Refusal lengths_given(const Call& c) {
  if (!is_tnd(c)) return std::nullopt;
  const auto& p = c.parameters;
  return first_missing({{"actual_seq_qlen", p.actual_seq_qlen.has_value()},
                        {"actual_seq_kvlen", p.actual_seq_kvlen.has_value()}});
}

Refusal ropes_given(const Call& c) {
  if (!takes_ropes(c)) return std::nullopt;
  const auto& p = c.parameters;
  return first_missing({{"query_rope", p.query_rope.present}, {"key_rope", p.key_rope.present}});
}

Refusal mask_given(const Call& c) {
  return unless(!takes_ropes(c) || is_given(c.parameters.atten_mask),
                "atten_mask is null; " + name_with_ropes(c) + " requires it");
}

Refusal absent_with_ropes(const Call& c, const NamedParameter& tensor) {
  return unless(!takes_ropes(c) || !is_given(*tensor.parameter),
                std::string(tensor.name) + " has shape " + text_of(tensor.parameter->shape) +
                    "; it must be null on " + name_with_ropes(c));
}
Refusal no_pse(const Call& c) {
  return absent_with_ropes(c, {"pse_shift", &c.parameters.pse_shift});
}
Refusal no_drop_mask(const Call& c) {
  return absent_with_ropes(c, {"drop_mask", &c.parameters.drop_mask});
}

/// Checks that keep_prob is 1. Another check refuses numbers outside (0, 1].
Refusal no_dropout(const Call& c) {
  const double given = c.attributes.keep_prob;
  return unless(!takes_ropes(c) || !(given > 0) || given >= 1,
                "keepProb is " + text_of(given) + "; it must be 1 on " + name_with_ropes(c));
}

// Types and formats.

Refusal operand_types(const Call& c) {
  const auto& p = c.parameters;
  return first_outside({{"query", &p.query}, {"key", &p.key}, {"value", &p.value}},
                       {DType::fp16, DType::bf16, DType::fp32});
}

Refusal equal_types(const Call& c) {
  const auto& p = c.parameters;
  return first_unlike_query(p.query, {{"key", &p.key}, {"value", &p.value}});
}

Refusal rope_types(const Call& c) {
  if (!takes_ropes(c)) return std::nullopt;
  const auto& p = c.parameters;
  return first_outside(
      {{"query", &p.query}, {"query_rope", &p.query_rope}, {"key_rope", &p.key_rope}},
      {DType::bf16});
}

/// The documentation page of entry point f2 does not state the type of slopes; the vendor's code
/// requires FLOAT32.
Refusal pse_type_of_query(const Call& c) {
  const spec::Parameter& pse = c.parameters.pse_shift;
  if (generated(c)) return first_outside({{"pse_shift", &pse}}, {DType::fp32});
  return first_unlike_query(c.parameters.query, {{"pse_shift", &pse}});
}

Refusal mask_type(const Call& c) {
  return first_outside({{"atten_mask", &c.parameters.atten_mask}}, {DType::boolean, DType::uint8});
}

Refusal drop_mask_type(const Call& c) {
  return first_outside({{"drop_mask", &c.parameters.drop_mask}}, {DType::uint8});
}

Refusal statistics_type(const Call& c) {
  const auto& p = c.parameters;
  return first_outside({{"softmax_max", &p.softmax_max}, {"softmax_sum", &p.softmax_sum}},
                       {DType::fp32});
}

Refusal output_type(const Call& c) {
  return first_unlike_query(c.parameters.query, {{"attention_out", &c.parameters.attention_out}});
}

Refusal formats(const Call& c) {
  const auto& p = c.parameters;
  const NamedParameter all[] = {{"query", &p.query},
                                {"query_rope", &p.query_rope},
                                {"key", &p.key},
                                {"key_rope", &p.key_rope},
                                {"value", &p.value},
                                {"pse_shift", &p.pse_shift},
                                {"drop_mask", &p.drop_mask},
                                {"padding_mask", &p.padding_mask},
                                {"atten_mask", &p.atten_mask},
                                {"sink", &p.sink},
                                {"softmax_max", &p.softmax_max},
                                {"softmax_sum", &p.softmax_sum},
                                {"softmax_out", &p.softmax_out},
                                {"attention_out", &p.attention_out}};
  return first_private(all);
}

// Shapes.

Refusal ranks(const Call& c) {
  const auto& p = c.parameters;
  std::vector<NamedParameter> tensors = {{"query", &p.query},
                                         {"key", &p.key},
                                         {"value", &p.value},
                                         {"attention_out", &p.attention_out}};
  if (takes_ropes(c))
    tensors.insert(tensors.end(), {{"query_rope", &p.query_rope}, {"key_rope", &p.key_rope}});
  return ranks_of(c, tensors);
}

Refusal batches(const Call& c) {
  return batches_equal_in(c, {{"key", &c.parameters.key}, {"value", &c.parameters.value}});
}

Refusal value_shape(const Call& c) {
  const CallExtents e = extents_of(c);
  const auto& p = c.parameters;
  return shape_is({"value", &p.value}, with_head_size(c, p.key.shape, e.heads_kv, e.head_dim_v));
}

Refusal output_shape(const Call& c) {
  const CallExtents e = extents_of(c);
  const auto& p = c.parameters;
  return shape_is({"attention_out", &p.attention_out},
                  with_head_size(c, p.query.shape, e.heads_q, e.head_dim_v));
}

Refusal narrow_ropes(const Call& c) {
  if (!takes_ropes(c)) return std::nullopt;
  const std::int64_t rope = c.parameters.query_rope.shape.back(),
                     value = c.parameters.value.shape.back();
  return unless(rope <= value, "head size of query_rope is " + std::to_string(rope) +
                                   "; it must be at most the head size of value, which is " +
                                   std::to_string(value));
}

// Attributes.

Refusal no_mode_5(const Call& c) {
  return unless(!is_tnd(c) || c.attributes.sparse_mode != 5,
                "sparseMode is 5; it must not be 5 in layout TND");
}

Refusal some_window(const Call& c) {
  static constexpr std::int64_t modes[] = {0, 4, 7, 8};
  const bool reads =
      std::ranges::any_of(modes, [&](std::int64_t mode) { return masked_in_mode(c, mode); });
  return reads ? window_open(c) : std::nullopt;
}

Refusal batch_mask_of_prefixes(const Call& c) {
  if (!masked_in_mode(c, 5) || extents_of(c).batch == 1) return std::nullopt;
  const spec::Shape& shape = c.parameters.atten_mask.shape;
  return unless(shape.size() == 4 && shape[0] != 1,
                "shape of atten_mask is " + text_of(shape) +
                    "; sparseMode 5 with several sequences needs a batch axis");
}

bool reads_prefix(const Call& c) {
  return !takes_ropes(c) && (masked_in_mode(c, 5) || masked_in_mode(c, 6));
}

Refusal prefix_of_every_sequence(const Call& c) {
  if (!reads_prefix(c)) return std::nullopt;
  const std::int64_t batch = extents_of(c).batch;
  const auto& prefix = c.parameters.prefix;
  if (!prefix) return "prefix is null; sparseModes 5 and 6 require it";
  return unless(static_cast<std::int64_t>(prefix->size()) == batch,
                "prefix has " + std::to_string(prefix->size()) +
                    " entries; it needs one for each sequence, " + std::to_string(batch));
}

Refusal prefix_range(const Call& c) {
  if (!reads_prefix(c)) return std::nullopt;
  const CallExtents e = extents_of(c);
  for (std::size_t b = 0; b < c.parameters.prefix->size(); ++b) {
    const std::size_t entry = e.lengths_q.size() == 1 ? 0 : b;
    const std::int64_t seq_q = e.lengths_q[entry], seq_kv = e.lengths_kv[entry];
    if (const Refusal refusal =
            within("entry " + std::to_string(b) + " of prefix", (*c.parameters.prefix)[b],
                   std::max<std::int64_t>(0, seq_kv - seq_q), seq_kv))
      return refusal;
  }
  return std::nullopt;
}

Refusal enough_keys(const Call& c) {
  if (!is_tnd(c) || !masked_in_mode(c, 3)) return std::nullopt;
  const CallExtents e = extents_of(c);
  for (std::size_t b = 0; b < e.lengths_q.size(); ++b)
    if (e.lengths_q[b] > 0 && e.lengths_kv[b] > 0 && e.lengths_q[b] > e.lengths_kv[b])
      return "lengths of sequence " + std::to_string(b) + " are " +
             both(e.lengths_q[b], e.lengths_kv[b]) +
             "; in sparseMode 3 a sequence must have at least as many keys as queries";
  return std::nullopt;
}

Refusal pse_type_1(const Call& c) {
  return takes_ropes(c) ? within("pseType", type_of(c), 1, 1) : std::nullopt;
}

Refusal bias_shape(const Call& c) {
  if (!is_given(c.parameters.pse_shift)) return std::nullopt;
  return pse_shape(c, outer_shapes(c, !is_tnd(c)));
}

bool all_lengths_equal(const CallExtents& e) { return e.lengths_q == e.lengths_kv; }

/// The page of l5 does not require equal lengths.
Refusal square_slopes(const Call& c) {
  if (c.entry_point == spec::FlashForwardEntryPoint::l5) return std::nullopt;
  if (!generated(c) || !is_given(c.parameters.pse_shift)) return std::nullopt;
  const CallExtents e = extents_of(c);
  return unless(all_lengths_equal(e), "lengths of query and key differ; pseType " +
                                          std::to_string(type_of(c)) + " requires equal lengths");
}

Refusal causal_last_rows(const Call& c) {
  const CallExtents e = extents_of(c);
  if (!compressed(c, e)) return std::nullopt;
  const std::int64_t mode = c.attributes.sparse_mode;
  return unless(
      all_lengths_equal(e) && e.seq_q >= alibi_rows && (mode == 0 || mode == 2 || mode == 3),
      "pse_shift has 1024 rows; this requires equal lengths of query and key, more than "
      "1024 queries and sparseMode 0, 2 or 3");
}

constexpr auto null = spec::Status::param_nullptr;
constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"FAS-C01", null, inputs_given},
    {"FAS-C02", null, outputs_given},
    {"FAS-C04", null, layout_given},
    {"FAS-C31", invalid, packed_layout},
    {"SNKF-C71", invalid, statistics_layout},
    {"FAS-C05", invalid, lengths_given},
    {"FAS-C06", null, ropes_given},
    {"FAS-C24", invalid, formats},
    {"FAS-C20", invalid, operand_types},
    {"FAS-C21", invalid, rope_types},
    {"FAS-C20a", invalid, equal_types},
    {"FAS-C22", invalid, pse_type_of_query},
    {"FAS-C07", invalid, mask_given},
    {"FAS-C08", invalid, no_pse},
    {"FAS-C08a", invalid, no_drop_mask},
    {"FAS-C09", invalid, no_dropout},
    {"FAS-C23", invalid, mask_type},
    {"FAS-C23a", invalid, drop_mask_type},
    {"FAS-C23b", invalid, statistics_type},
    {"FAS-C23c", invalid, output_type},
    {"SNKF-C03", invalid, sink_type},
    {"FAS-C36", invalid, head_num_positive},
    {"FAS-C30", invalid, padded_layout},
    {"FAS-C30a", invalid, ranks},
    {"FAS-C05a", invalid, some_sequence},
    {"FAS-C32", invalid, sums_counted},
    {"FAS-C68e", invalid, sums_do_not_decrease},
    {"FAS-C68b", invalid, sums_fit},
    {"FAS-C36", invalid, head_num_matches},
    {"FAS-C33", invalid, head_size_of_key},
    {"FAS-C35", invalid, groups},
    {"FAS-C33a", invalid, head_size_of_value},
    {"FAS-C40", invalid, rope_head_sizes},
    {"FAS-C40b", invalid, narrow_ropes},
    {"FAS-C32", invalid, batches},
    {"FAS-C40a", invalid, rope_shapes},
    {"FAS-C32a", invalid, value_shape},
    {"FAS-C42", invalid, output_shape},
    {"FAS-C43", invalid, statistics_shapes},
    {"SNKF-C04", invalid, sink_shape},
    {"FAS-C35a", invalid, heads},
    {"FAS-C37", invalid, head_size},
    {"FAS-C60", invalid, keep_prob},
    {"FAS-C10", invalid, drop_mask_given},
    {"FAS-C47", invalid, drop_mask_size},
    {"FAS-C61", invalid, sparse_mode},
    {"FAS-C61a", invalid, varlen_modes},
    {"FAS-C61b", invalid, no_mode_5},
    {"FAS-C44", invalid, mask_shape},
    {"FAS-C44c", invalid, batch_mask_of_prefixes},
    {"FAS-C69", invalid, some_window},
    {"FAS-C64", invalid, prefix_of_every_sequence},
    {"FAS-C64a", invalid, prefix_range},
    {"FAS-C65", invalid, enough_keys},
    {"FAS-C62", invalid, type},
    {"FAS-C62a", invalid, pse_type_1},
    {"FAS-C12", invalid, type_without_pse},
    {"FAS-C67", invalid, no_pse_in_mode_7},
    {"FAS-C45", invalid, bias_shape},
    {"FAS-C67a", invalid, lengths_in_mode_8},
    {"FAS-C63", invalid, square_slopes},
    {"FAS-C46", invalid, causal_last_rows},
    {"FAS-C46", invalid, alibi},
};

}  // namespace

std::span<const Check> argument_checks() { return checks; }

void refuse_unless_legal(const Check::Call& call) {
  refuse_unless_all_hold<spec::FlashAttentionScore>(checks, call);
}

}  // namespace assay::optimized::attention_forward
