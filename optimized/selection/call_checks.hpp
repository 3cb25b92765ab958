#pragma once

#include <string>

#include "assay/spec/call.hpp"
#include "checks/refusals.hpp"

/// Argument checks that block-selected attention and its gradient have in common. Each operator
/// passes the ids of its own requirements.
namespace assay::optimized::selected {

inline constexpr std::int64_t largest_group = 32;

template <class Op>
Refusal sums_given(const spec::Call<Op>& call) {
  const auto& p = call.parameters;
  return first_missing({{"actual_seq_qlen", p.actual_seq_qlen.has_value()},
                        {"actual_seq_kvlen", p.actual_seq_kvlen.has_value()}});
}

template <class Op>
Refusal mask_type(const spec::Call<Op>& call) {
  return first_outside({{"atten_mask", &call.parameters.atten_mask}},
                       {spec::DType::boolean, spec::DType::uint8});
}

template <class Op>
Refusal statistics_type(const spec::Call<Op>& call) {
  const auto& p = call.parameters;
  return first_outside({{"softmax_max", &p.softmax_max}, {"softmax_sum", &p.softmax_sum}},
                       {spec::DType::fp32});
}

template <class Op>
Refusal index_type(const spec::Call<Op>& call) {
  return first_outside({{"topk_indices", &call.parameters.topk_indices}}, {spec::DType::int32});
}

template <class Op>
Refusal layout(const spec::Call<Op>& call) {
  const std::string& given = *call.attributes.input_layout;
  return unless(given == "TND", "inputLayout is \"" + given + "\"; it must be \"TND\"");
}

inline Refusal rank_is(const NamedParameter& tensor, std::size_t expected) {
  const std::size_t rank = tensor.parameter->shape.size();
  return unless(rank == expected, "rank of " + std::string(tensor.name) + " is " +
                                      std::to_string(rank) + "; it must be " +
                                      std::to_string(expected));
}

template <class Op>
Refusal mask_axes(const spec::Call<Op>& call) {
  const spec::Parameter& mask = call.parameters.atten_mask;
  return is_given(mask) ? rank_is({"atten_mask", &mask}, 2) : std::nullopt;
}

template <class Op>
Refusal sums_counted(const spec::Call<Op>& call) {
  const std::size_t q = call.parameters.actual_seq_qlen->size(),
                    kv = call.parameters.actual_seq_kvlen->size();
  return unless(q == kv, "actual_seq_kvlen has " + std::to_string(kv) +
                             " entries, actual_seq_qlen " + std::to_string(q) +
                             "; the counts must be equal");
}

template <class Op>
Refusal sparse_mode(const spec::Call<Op>& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  return unless(mode == 0 || mode == 2,
                "sparseMode is " + std::to_string(mode) + "; it must be 0 or 2");
}

template <class Op>
Refusal block_size(const spec::Call<Op>& call) {
  constexpr std::int64_t granule = 16, longest = 128;
  const std::int64_t size = call.attributes.selected_block_size;
  return unless(granule <= size && size <= longest && size % granule == 0,
                "selectedBlockSize is " + std::to_string(size) +
                    "; it must be a multiple of 16 from 16 to 128");
}

/// Checks the number of selected blocks. The documentation contradicts itself about an upper limit,
/// so this check has none.
template <class Op>
Refusal block_count(const spec::Call<Op>& call) {
  return at_least("selectedBlockCount", call.attributes.selected_block_count, 1);
}

template <class Op>
Refusal head_num(const spec::Call<Op>& call) {
  const std::int64_t heads = call.parameters.query.shape[1], given = call.attributes.head_num;
  return unless(given == heads, "headNum is " + std::to_string(given) + ", query has " +
                                    std::to_string(heads) + " heads; they must be equal");
}

inline Refusal whole_groups(std::int64_t heads_q, std::int64_t heads_kv) {
  return unless(heads_kv > 0 && heads_q > 0 && heads_q % heads_kv == 0,
                "number of heads of query is " + std::to_string(heads_q) +
                    "; it must be a multiple of the number of heads of key, which is " +
                    std::to_string(heads_kv));
}

template <class Op>
Refusal group(const spec::Call<Op>& call) {
  return within("number of query heads per key head",
                call.parameters.query.shape[1] / call.parameters.key.shape[1], 1, largest_group);
}

template <class Op>
Refusal statistics_shape(const spec::Call<Op>& call) {
  const auto& p = call.parameters;
  const spec::Shape expected = {p.query.shape[0], p.query.shape[1], spec::statistics_replicas};
  if (const Refusal refusal = shape_is({"softmax_max", &p.softmax_max}, expected)) return refusal;
  return shape_is({"softmax_sum", &p.softmax_sum}, expected);
}

template <class Op>
Refusal indices_shape(const spec::Call<Op>& call) {
  const auto& p = call.parameters;
  return shape_is({"topk_indices", &p.topk_indices},
                  {p.query.shape[0], p.key.shape[1], call.attributes.selected_block_count});
}

}  // namespace assay::optimized::selected
