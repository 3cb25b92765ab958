#include "operators/nsa_selected_attention/relations/relations.hpp"

#include <utility>

#include "selection/heads.hpp"
#include "selection/relations/lists.hpp"
#include "selection/relations/rearranging.hpp"

namespace assay::conformance {
namespace {

using namespace selection;
using Parts = RelationParts<spec::NsaSelectedAttention>;
using Op = Parts::Op;
using Rows = Parts::Rows;
using attention::Origins;

Experiment<Op> scale_value(const Trial<Op>& base) {
  return scaled(base, &Rows::value, {"attention_out"});
}
/// Sets all queries to 0, so that a query has the same score with every key. softmax_sum is then
/// exactly the number of its keys.
Experiment<Op> zero_query(const Trial<Op>& base) {
  Trial<Op> zero = base;
  zero.rows.query = times(std::move(zero.rows.query), 0);
  const auto rows = static_cast<std::size_t>(query_extents(base.problem).rows());
  OutputValues expected;
  expected["softmax_max"].assign(rows, 0);
  expected["softmax_sum"].assign(rows, static_cast<double>(listed_keys(base.problem)));
  return known(std::move(zero), std::move(expected));
}
bool has_no_mask(const Problem& p) { return !is_masked(p); }

/// Lists every block twice, with copies of the keys, so that every query attends to each of its
/// blocks twice. softmax_sum doubles; the other outputs do not change.
Experiment<Op> list_twice(const Trial<Op>& base) {
  Trial<Op> twice = base;
  twice.problem.selected_block_count *= 2;
  twice.problem.seq_kv *= 2;
  for (std::int64_t& length : twice.problem.lengths_kv) length *= 2;
  const Origin key = [p = base.problem](const spec::RowPosition& row) {
    return spec::RowPosition{row.b, row.n, row.s % p.length_kv(row.b)};
  };
  twice = Parts::rearranged(base, twice.problem, {same_row, key});
  twice.rows.topk_indices.clear();
  const std::int64_t count = base.problem.selected_block_count;
  for (std::size_t first = 0; first < base.rows.topk_indices.size();
       first += static_cast<std::size_t>(count))
    for (int copy = 0; copy < 2; ++copy)
      twice.rows.topk_indices.insert(
          twice.rows.topk_indices.end(),
          base.rows.topk_indices.begin() + static_cast<std::ptrdiff_t>(first),
          base.rows.topk_indices.begin() + static_cast<std::ptrdiff_t>(first) + count);
  Experiment<Op> experiment = unchanged(base, std::move(twice));
  experiment.combine = [](const std::vector<OutputValues>& outputs) {
    OutputValues half = outputs[0];
    half["softmax_sum"] = times(std::move(half["softmax_sum"]), 0.5);
    return half;
  };
  return experiment;
}
bool can_list_twice(const Problem& p) { return !is_masked(p) && p.selected_block_count <= 16; }

}  // namespace

std::span<const Operand<Op>> Parts::operands() {
  static constexpr Operand<Op> all[] = {
      {"query", &Rows::query, spec::query_extents, &Origins::query, heads},
      {"key", &Rows::key, spec::key_extents, &Origins::key, heads},
      {"value", &Rows::value, spec::value_extents, &Origins::key, heads}};
  return all;
}

std::span<const ComparedOutput<Op>> Parts::outputs() {
  // Each statistic is stored several times. The first copy is compared.
  static constexpr auto first = [](const Problem& p, const spec::Tensor& tensor,
                                   const spec::Extents&) -> ElementIndex {
    spec::Extents copies = query_extents(p);
    copies.dim = spec::statistics_replicas;
    return spec::HeadIndex(tensor, spec::Layout::tnd, copies);
  };
  static constexpr ComparedOutput<Op> all[] = {
      {"softmax_max", statistics_extents, &Origins::query, first},
      {"softmax_sum", statistics_extents, &Origins::query, first},
      {"attention_out", spec::attention_out_extents, &Origins::query, index}};
  return all;
}

std::vector<const Relation<Op>*> Parts::relations() {
  using enum Agreement;
  static constexpr Relation<Op> all[] = {
      {"permute_slots", "The order of the blocks in a list changes nothing.", bound, is_anything,
       "everything", permute_slots<Op>},
      {"permute_blocks",
       "If the blocks of keys are permuted, and the lists follow the permutation, nothing changes.",
       bound, is_unmasked, "sparse mode 0", permute_blocks<Op>},
      {"copy_duplicates", "A block that is listed twice counts as two blocks of equal keys.", bound,
       is_unmasked, "sparse mode 0", copy_duplicates<Op>},
      {"list_twice", "If every block is listed twice, the sums double; nothing else changes.",
       bound, can_list_twice, "no mask, at most 16 blocks", list_twice},
      {"halve_blocks",
       "If every block is split into two blocks of half the size, the lists contain the same keys.",
       bound, can_halve_blocks, "at most 16 blocks, whose size is a multiple of 32 keys",
       halve_blocks<Op>},
      {"move_unseen",
       "If listed blocks after the position of a query are replaced by other blocks after it, "
       "nothing changes.",
       bound, is_masked, "the causal mask", move_unseen<Op>},
      {"permute_queries", "Permuting queries and their lists permutes the outputs.", bound,
       is_unmasked, "sparse mode 0", permute_queries<Op>},
      {"permute_heads", "Permuting query heads of a group permutes the outputs.", bound, is_grouped,
       "several query heads per key head", permute_heads<Op>},
      {"split_heads", "Each key head has the same outputs if it is computed alone.", bits,
       has_several_key_heads, "several key heads", attention::split_heads<Op>},
      {"repeat_heads",
       "If every key head and its lists are repeated for each query head of the group, nothing "
       "changes.",
       bound, is_grouped, "several query heads per key head", attention::repeat_heads<Op>},
      {"sequences_alone", "A sequence has the same outputs if it is computed alone.", bound,
       has_several_sequences, "several sequences", sequences_alone<Op>},
      {"strided", "The strides of inputs and outputs do not change the results.", bits, is_anything,
       "everything", view<Op>},
      {"scale_value", "If value is multiplied by a power of two, so is attention_out.", bits,
       is_not_fp16, "bf16, if all values are far from overflow and underflow", scale_value},
      {"zero_query", "If query is zero, softmax_max is 0 and softmax_sum counts the keys.", bits,
       has_no_mask, "no mask", zero_query}};
  return relation_list<Op>({all});
}

Parts::Rows Parts::rows_of(const Op::Problem& p, const Op::Inputs& inputs) {
  Rows rows;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t kv = 0; kv < p.heads_kv; ++kv) {
      const auto own = forward_operands_of<double>(p, inputs, {b, kv * p.group(), p.group()});
      const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(rows.query, own.query), append(rows.key, own.key), append(rows.value, own.value);
      append(rows.topk_indices, own.topk_indices);
    }
  return rows;
}

double Parts::cost_of_bounds(const Op::Problem& p) {
  return 2 * entries(p) * static_cast<double>(p.head_dim + p.head_dim_v);
}

}  // namespace assay::conformance
