#include "nsa_selected_attention/checks.hpp"

#include <array>

#include "checks/refusals.hpp"

namespace assay::optimized::selected_forward {
namespace {

using Call = Check::Call;
using spec::DType;

constexpr std::int64_t granule = 16, largest_block = 128, largest_group = 32;

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
Refusal sums_given(const Call& c) {
  const auto& p = c.parameters;
  return first_missing({{"actual_seq_qlen", p.actual_seq_qlen.has_value()},
                        {"actual_seq_kvlen", p.actual_seq_kvlen.has_value()}});
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
Refusal mask_type(const Call& c) {
  return first_outside({{"atten_mask", &c.parameters.atten_mask}}, {DType::boolean, DType::uint8});
}
Refusal statistics_type(const Call& c) {
  const auto& p = c.parameters;
  return first_outside({{"softmax_max", &p.softmax_max}, {"softmax_sum", &p.softmax_sum}},
                       {DType::fp32});
}
Refusal index_type(const Call& c) {
  return first_outside({{"topk_indices", &c.parameters.topk_indices}}, {DType::int32});
}
Refusal formats(const Call& c) { return first_private(tensors(c)); }
Refusal mask_format(const Call& c) {
  const NamedParameter mask[] = {{"atten_mask", &c.parameters.atten_mask}};
  return first_private(mask);
}

Refusal rank_is(const NamedParameter& tensor, std::size_t rank) {
  return unless(tensor.parameter->shape.size() == rank,
                "rank of " + std::string(tensor.name) + " is " +
                    std::to_string(tensor.parameter->shape.size()) + "; it must be " +
                    std::to_string(rank));
}
Refusal ranks(const Call& c) {
  for (const NamedParameter& tensor : tensors(c))
    if (const Refusal refusal = rank_is(tensor, 3)) return refusal;
  return std::nullopt;
}
Refusal mask_axes(const Call& c) {
  const spec::Parameter& mask = c.parameters.atten_mask;
  return is_given(mask) ? rank_is({"atten_mask", &mask}, 2) : std::nullopt;
}
Refusal layout(const Call& c) {
  const std::string& given = *c.attributes.input_layout;
  return unless(given == "TND", "inputLayout is \"" + given + "\"; it must be \"TND\"");
}

Refusal sums_counted(const Call& c) {
  const std::size_t q = c.parameters.actual_seq_qlen->size(),
                    kv = c.parameters.actual_seq_kvlen->size();
  return unless(q == kv, "actual_seq_kvlen has " + std::to_string(kv) +
                             " entries, actual_seq_qlen " + std::to_string(q) +
                             "; the counts must be equal");
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

Refusal mode(const Call& c) {
  const std::int64_t mode = c.attributes.sparse_mode;
  return unless(mode == 0 || mode == 2,
                "sparseMode is " + std::to_string(mode) + "; it must be 0 or 2");
}
Refusal block_size(const Call& c) {
  const std::int64_t size = c.attributes.selected_block_size;
  return unless(granule <= size && size <= largest_block && size % granule == 0,
                "selectedBlockSize is " + std::to_string(size) +
                    "; it must be a multiple of 16 from 16 to 128");
}
/// The documents contradict each other about an upper limit, so this check has none.
Refusal block_count(const Call& c) {
  return at_least("selectedBlockCount", c.attributes.selected_block_count, 1);
}
Refusal head_num(const Call& c) {
  const std::int64_t heads = c.parameters.query.shape[1], given = c.attributes.head_num;
  return unless(given == heads, "headNum is " + std::to_string(given) + ", query has " +
                                    std::to_string(heads) + " heads; they must be equal");
}
Refusal heads(const Call& c) {
  const std::int64_t q = c.parameters.query.shape[1], kv = c.parameters.key.shape[1];
  return unless(q > 0 && kv > 0 && q % kv == 0,
                "number of heads of query is " + std::to_string(q) +
                    "; it must be a multiple of the number of heads of key, which is " +
                    std::to_string(kv));
}
Refusal group(const Call& c) {
  return within("number of query heads per key head",
                c.parameters.query.shape[1] / c.parameters.key.shape[1], 1, largest_group);
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
Refusal statistics(const Call& c) {
  const auto& p = c.parameters;
  const spec::Shape expected = {p.query.shape[0], p.query.shape[1], spec::statistics_replicas};
  if (const Refusal refusal = shape_is({"softmax_max", &p.softmax_max}, expected)) return refusal;
  return shape_is({"softmax_sum", &p.softmax_sum}, expected);
}
Refusal output(const Call& c) {
  const auto& p = c.parameters;
  return shape_is({"attention_out", &p.attention_out},
                  {p.query.shape[0], p.query.shape[1], p.value.shape[2]});
}
Refusal indices(const Call& c) {
  const auto& p = c.parameters;
  return shape_is({"topk_indices", &p.topk_indices},
                  {p.query.shape[0], p.key.shape[1], c.attributes.selected_block_count});
}

/// Returns the first length of key for which `holds` is false.
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
    {"NSSF-C05", null, sums_given},
    {"NSSF-C05a", invalid, sums_have_entries},
    {"NSSF-C02", invalid, types},
    {"NSSF-C02a", invalid, mask_type},
    {"NSSF-C02b", invalid, statistics_type},
    {"NSSF-C02c", invalid, formats},
    {"NSSF-C02d", invalid, mask_format},
    {"NSSF-C03", invalid, equal_types},
    {"NSSF-C03a", invalid, index_type},
    {"NSSF-C03b", invalid, ranks},
    {"NSSF-C04", invalid, layout},
    {"NSSF-C11b", invalid, mask_axes},
    {"NSSF-C05b", invalid, sums_counted},
    {"NSSF-C05c", invalid, sums_fit},
    {"NSSF-C12", invalid, mode},
    {"NSSF-C07", invalid, block_size},
    {"NSSF-C08", invalid, block_count},
    {"NSSF-C11a", invalid, head_num},
    {"NSSF-C10", invalid, heads},
    {"NSSF-C10a", invalid, group},
    {"NSSF-C06", invalid, key_head_size},
    {"NSSF-C06a", invalid, value_head_size},
    {"NSSF-C11e", invalid, key_shapes},
    {"NSSF-C11c", invalid, statistics},
    {"NSSF-C11d", invalid, output},
    {"NSSF-C11", invalid, indices},
    {"NSSF-C09b", invalid, whole_blocks},
    {"NSSF-C09", invalid, enough_keys},
};

}  // namespace

std::span<const Check> argument_checks() { return checks; }

void refuse_unless_legal(const Call& call) {
  refuse_unless_all_hold<spec::NsaSelectedAttention>(checks, call);
}

}  // namespace assay::optimized::selected_forward
