#include <cstdlib>
#include <stdexcept>

#include "assay/conformance/plan/coverage.hpp"
#include "assay/conformance/plan/sizes.hpp"
#include "operators/nsa_selected_attention_grad/plan/factors.hpp"
#include "plan/axis_pairs.hpp"

namespace assay::conformance::selected {
namespace {

HeadDims head_dims_of(const Op::Problem& p) {
  if (p.head_dim == 192) return p.head_dim_v == 192 ? HeadDims::wide : HeadDims::mixed;
  return p.head_dim_v == 192 ? HeadDims::wide_value : HeadDims::narrow;
}

Group group_of(const Op::Problem& p) {
  if (p.group() == 1) return Group::one;
  if (p.group() > 17) return Group::most;
  return p.group() < 15 ? Group::few : Group::sixteen;
}

BlockCount block_count_of(const Op::Problem& p) {
  const std::int64_t count = p.selected_block_count;
  if (count <= 2) return count == 1 ? BlockCount::one : BlockCount::two;
  if (count <= 8) return BlockCount::few;
  if (count <= 16) return count == 16 ? BlockCount::sixteen : BlockCount::some;
  return count < 32 ? BlockCount::many : BlockCount::most;
}

Queries queries_of(const Op::Problem& p) {
  const std::int64_t queries = p.length_q(0), keys = p.length_kv(0);
  if (queries == 1) return Queries::one;
  if (queries == keys) return Queries::equal;
  if (std::abs(queries - p.selected_block_size) <= 1) return Queries::edge;
  return queries < keys ? Queries::shorter : Queries::longer;
}

Keys keys_of(const Op::Problem& p) {
  const std::int64_t more = p.length_kv(0) - listed_keys(p);
  if (more == 0) return Keys::listed;
  return more == p.selected_block_size ? Keys::one_more : Keys::more;
}

Batch batch_of(const Op::Problem& p) {
  if (p.batch == 1) return Batch::single;
  if (p.batch >= many_sequences) return Batch::many;
  return p.lengths_q.empty() && p.lengths_kv.empty() ? Batch::alike : Batch::unequal;
}

std::size_t lists_of(const SelectedCase& c) {
  for (std::size_t value = 0; value < factor_sizes()[lists]; ++value)
    if (name_of(lists, value) == c.patterns.lists) return value;
  throw std::logic_error("no pattern of lists '" + c.patterns.lists + "' among the axes");
}

template <class Value>
std::size_t position(Value value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

// The tables of the factors list the enumerators of each type in their order.
Choice axes_of(const SelectedCase& c) {
  const Op::Problem& p = c.problem;
  Choice choice(factor_count, undecided);
  choice[product] = position(c.product);
  choice[dtype] = position(p.dtype) - position(spec::DType::fp16);
  choice[sparse_mode] = position(p.sparse_mode / 2);
  choice[mask] = position(p.atten_mask);
  choice[head_dims] = position(head_dims_of(p));
  choice[group] = position(group_of(p));
  choice[heads] = position(p.heads_kv == 1 ? Heads::one : Heads::several);
  choice[block_size] = position(p.selected_block_size / 16 - 1);
  choice[block_count] = position(block_count_of(p));
  choice[lists] = lists_of(c);
  choice[queries] = position(queries_of(p));
  choice[keys] = position(keys_of(p));
  choice[batch] = position(batch_of(p));
  choice[inputs] = position(c.inputs);
  choice[outputs] = position(c.outputs);
  return choice;
}

const Axes& axes() {
  static const Axes all{
      .operator_name = Op::name,
      .space = choice_space(),
      .count = axis_count,
      .name = [](std::size_t axis) { return name_of(static_cast<Factor>(axis)); },
      .value = [](std::size_t axis,
                  std::size_t value) { return name_of(static_cast<Factor>(axis), value); }};
  return all;
}

}  // namespace assay::conformance::selected

namespace assay::conformance {

const Axes* Suite<spec::NsaSelectedAttentionGrad>::axes() { return &selected::axes(); }

Choice Suite<spec::NsaSelectedAttentionGrad>::choice_of(const Case<Op>& c) {
  return selected::axes_of(c);
}

std::vector<Size> Suite<spec::NsaSelectedAttentionGrad>::sizes(const Case<Op>& c) {
  constexpr std::int64_t of_16_bits = 0xffff;
  const auto& p = c.problem;
  const std::int64_t tokens = std::max(query_extents(p).tokens(), key_extents(p).tokens());
  return {{"heads of a group", p.group()},
          {"sequences", p.batch},
          {"blocks of a list", p.selected_block_count},
          {"tokens", tokens, of_16_bits}};
}

}  // namespace assay::conformance
