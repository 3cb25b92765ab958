#include "nsa_selected_attention/checks.hpp"

#include <array>

#include "selection/call_checks.hpp"

namespace assay::optimized::selected_forward {
namespace {

using Call = Check::Call;
using spec::DType;

std::array<NamedParameter, 7> tensors(const Call& c) {
  const auto& p = c.parameters;
  return {{{"query", &p.query},
           {"key", &p.key},
           {"value", &p.value},
           {"topk_indices", &p.topk_indices},
           {"softmax_max", &p.softmax_max},
           {"softmax_sum", &p.softmax_sum},
           {"attention_out", &p.attention_out}}};
}

Refusal tensors_given(const Call& c) {
  for (const NamedParameter& tensor : tensors(c))
    if (const Refusal refusal = first_missing({{tensor.name, tensor.parameter->present}}))
      return refusal;
  return std::nullopt;
}
Refusal layout_given(const Call& c) {
  return first_missing({{"inputLayout", c.attributes.input_layout.has_value()}});
}
Refusal pointers_given(const Call& c) {
  return first_missing(
      {{"workspaceSize", c.parameters.workspace_size}, {"executor", c.parameters.executor}});
}
Refusal sums_have_entries(const Call& c) {
  const auto& p = c.parameters;
  if (const Refusal refusal =
          at_least("number of entries of actual_seq_qlen", std::ssize(*p.actual_seq_qlen), 1))
    return refusal;
  return at_least("number of entries of actual_seq_kvlen", std::ssize(*p.actual_seq_kvlen), 1);
}

Refusal types(const Call& c) {
  const auto& p = c.parameters;
  return first_outside({{"query", &p.query},
                        {"key", &p.key},
                        {"value", &p.value},
                        {"attention_out", &p.attention_out}},
                       {DType::fp16, DType::bf16});
}
Refusal equal_types(const Call& c) {
  const auto& p = c.parameters;
  return first_unlike_query(
      p.query, {{"key", &p.key}, {"value", &p.value}, {"attention_out", &p.attention_out}});
}
Refusal formats(const Call& c) { return first_private(tensors(c)); }
Refusal mask_format(const Call& c) {
  const NamedParameter mask[] = {{"atten_mask", &c.parameters.atten_mask}};
  return first_private(mask);
}

Refusal ranks(const Call& c) {
  for (const NamedParameter& tensor : tensors(c))
    if (const Refusal refusal = selected::rank_is(tensor, 3)) return refusal;
  return std::nullopt;
}
Refusal sums_rise(const std::string& name, const std::vector<std::int64_t>& sums,
                  std::int64_t tokens) {
  std::int64_t before = 0;
  for (const std::int64_t sum : sums) {
    if (sum <= before)
      return "an entry of " + name + " is " + std::to_string(sum) +
             "; it must be larger than the previous sum, which is " + std::to_string(before);
    before = sum;
  }
  return unless(before == tokens, "last entry of " + name + " is " + std::to_string(before) +
                                      "; it must be the number of tokens, which is " +
                                      std::to_string(tokens));
}
Refusal sums_fit(const Call& c) {
  const auto& p = c.parameters;
  if (const Refusal refusal = sums_rise("actual_seq_qlen", *p.actual_seq_qlen, p.query.shape[0]))
    return refusal;
  return sums_rise("actual_seq_kvlen", *p.actual_seq_kvlen, p.key.shape[0]);
}

Refusal heads(const Call& c) {
  return selected::whole_groups(c.parameters.query.shape[1], c.parameters.key.shape[1]);
}

Refusal key_head_size(const Call& c) {
  const std::int64_t q = c.parameters.query.shape[2], k = c.parameters.key.shape[2];
  return unless(q == k, "head size of key is " + std::to_string(k) + ", that of query is " +
                            std::to_string(q) + "; they must be equal");
}
Refusal value_head_size(const Call& c) {
  return within("head size of value", c.parameters.value.shape[2], 1, c.parameters.query.shape[2]);
}
Refusal key_shapes(const Call& c) {
  const spec::Shape &key = c.parameters.key.shape, &value = c.parameters.value.shape;
  return shape_is({"value", &c.parameters.value}, {key[0], key[1], value[2]});
}
Refusal output(const Call& c) {
  const auto& p = c.parameters;
  return shape_is({"attention_out", &p.attention_out},
                  {p.query.shape[0], p.query.shape[1], p.value.shape[2]});
}
/// Checks the lengths of all key sequences. Returns a text about the first length for which `holds`
/// is false, or nothing.
template <class Holds>
Refusal first_length(const Call& c, const Holds& holds, const std::string& limit) {
  std::int64_t start = 0;
  for (const std::int64_t sum : *c.parameters.actual_seq_kvlen) {
    if (!holds(sum - start))
      return "length of key of a sequence is " + std::to_string(sum - start) + "; it must " + limit;
    start = sum;
  }
  return std::nullopt;
}
Refusal whole_blocks(const Call& c) {
  const std::int64_t size = c.attributes.selected_block_size;
  return first_length(
      c, [&](std::int64_t length) { return length % size == 0; },
      "be a multiple of selectedBlockSize, which is " + std::to_string(size));
}
Refusal enough_keys(const Call& c) {
  const auto& a = c.attributes;
  return first_length(
      c,
      [&](std::int64_t length) { return length / a.selected_block_size >= a.selected_block_count; },
      "be at least selectedBlockSize * selectedBlockCount");
}

constexpr auto null = spec::Status::param_nullptr, invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"NSSF-C01", null, tensors_given},
    {"NSSF-C01a", null, layout_given},
    {"NSSF-C01b", null, pointers_given},
    {"NSSF-C05", null, selected::sums_given},
    {"NSSF-C05a", invalid, sums_have_entries},
    {"NSSF-C02", invalid, types},
    {"NSSF-C02a", invalid, selected::mask_type},
    {"NSSF-C02b", invalid, selected::statistics_type},
    {"NSSF-C02c", invalid, formats},
    {"NSSF-C02d", invalid, mask_format},
    {"NSSF-C03", invalid, equal_types},
    {"NSSF-C03a", invalid, selected::index_type},
    {"NSSF-C03b", invalid, ranks},
    {"NSSF-C04", invalid, selected::layout},
    {"NSSF-C11b", invalid, selected::mask_axes},
    {"NSSF-C05b", invalid, selected::sums_counted},
    {"NSSF-C05c", invalid, sums_fit},
    {"NSSF-C12", invalid, selected::sparse_mode},
    {"NSSF-C07", invalid, selected::block_size},
    {"NSSF-C08", invalid, selected::block_count},
    {"NSSF-C11a", invalid, selected::head_num},
    {"NSSF-C10", invalid, heads},
    {"NSSF-C10a", invalid, selected::group},
    {"NSSF-C06", invalid, key_head_size},
    {"NSSF-C06a", invalid, value_head_size},
    {"NSSF-C11e", invalid, key_shapes},
    {"NSSF-C11c", invalid, selected::statistics_shape},
    {"NSSF-C11d", invalid, output},
    {"NSSF-C11", invalid, selected::indices_shape},
    {"NSSF-C09b", invalid, whole_blocks},
    {"NSSF-C09", invalid, enough_keys},
};

}  // namespace

std::span<const Check> argument_checks() { return checks; }

void refuse_unless_legal(const Call& call) {
  refuse_unless_all_hold<spec::NsaSelectedAttention>(checks, call);
}

}  // namespace assay::optimized::selected_forward
