#include "operators/sparse_flash_attention_grad/relations/relations.hpp"

#include <algorithm>
#include <utility>

#include "inputs/packed_rows.hpp"
#include "operators/sparse_flash_attention_grad/inputs.hpp"
#include "operators/sparse_flash_attention_grad/key_pattern.hpp"
#include "selection/relations/rearranging.hpp"

namespace assay::conformance {
namespace {

using Op = spec::SparseFlashAttentionGrad;
using Problem = Op::Problem;
using Parts = RelationParts<Op>;
using Rows = Parts::Rows;
using attention::Origins;

spec::Extents value_extents(const Problem& p) {
  spec::Extents extents = key_extents(p);
  if (p.is_merged()) extents.dim = 0;
  return extents;
}
spec::Extents statistics_extents(const Problem& p) {
  spec::Extents extents = query_extents(p);
  extents.dim = 1;
  return extents;
}
spec::Tensor heads(const spec::Parameter& parameter, const Problem& p, const spec::Extents& extents,
                   const std::vector<double>& rows) {
  return head_tensor(parameter, p.layout, extents, rows);
}
spec::Tensor statistics(const spec::Parameter& parameter, const Problem& p, const spec::Extents&,
                        const std::vector<double>& rows) {
  return sparse_flash::statistics_tensor(parameter, p, rows);
}
ElementIndex index(const Problem& p, const spec::Tensor& tensor, const spec::Extents& extents) {
  return spec::HeadIndex(tensor, p.layout, extents);
}

bool is_merged(const Problem& p) { return p.is_merged(); }
bool has_rope(const Problem& p) { return p.head_dim_rope > 0; }
bool has_heads(const Problem& p) { return p.heads_q > 1; }
bool has_sequences(const Problem& p) { return p.batch > 1; }
bool is_single(const Problem& p) { return p.batch == 1; }
bool has_one_query(const Problem& p) { return p.seq_q == 1; }
bool is_open(const Problem& p) { return p.sparse_mode == 0; }
/// Returns whether every block can be split into two blocks of half the size. This is impossible if
/// a sequence ends with an incomplete block.
bool may_halve(const Problem& p) {
  bool full = p.sparse_block_size > 8 && p.sparse_mode == 0;
  for (std::int64_t b = 0; b < p.batch; ++b) full &= p.length_kv(b) % p.sparse_block_size == 0;
  return full;
}

Experiment<Op> scale_d_out(const Trial<Op>& base) { return scaled(base, &Rows::d_out); }
Experiment<Op> zero_d_out(const Trial<Op>& base) { return zeroed(base, &Rows::d_out); }
Experiment<Op> linear_d_out(const Trial<Op>& base) { return cut_in_two(base, &Rows::d_out); }
Experiment<Op> views(const Trial<Op>& base) {
  return strided(base, spec::Striding::transposed, spec::Striding::contiguous);
}

/// Reverses the used part of every list. If the last block of a sequence is incomplete, it remains
/// the last entry of its list.
Experiment<Op> reverse_lists(const Trial<Op>& base) {
  Trial<Op> reversed = base;
  const Problem& p = base.problem;
  auto list = reversed.rows.sparse_indices.begin();
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t s = 0; s < p.length_q(b); ++s, list += p.sparse_block_count) {
      const sparse_flash::Seen seen = sparse_flash::seen_by(p, b, s);
      const bool is_cut = seen.keys % p.sparse_block_size != 0;
      std::reverse(list, list + std::max<std::int64_t>(0, seen.used - (is_cut ? 1 : 0)));
    }
  return unchanged(base, std::move(reversed));
}

/// Describes the same keys with blocks of half the size, so that each list has twice as many
/// entries.
Experiment<Op> halve_blocks(const Trial<Op>& base) {
  const Problem& p = base.problem;
  Trial<Op> halved = base;
  Problem& q = halved.problem;
  q.sparse_block_size = p.sparse_block_size / 2;
  q.sparse_block_count = 2 * p.sparse_block_count;
  halved.rows.sparse_indices.clear();
  auto list = base.rows.sparse_indices.begin();
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t s = 0; s < p.length_q(b); ++s, list += p.sparse_block_count) {
      std::vector<std::int64_t> halves;
      for (auto block = list; block != list + p.sparse_block_count && *block >= 0; ++block)
        halves.insert(halves.end(), {2 * *block, 2 * *block + 1});
      halves.resize(static_cast<std::size_t>(q.sparse_block_count), -1);
      auto& all = halved.rows.sparse_indices;
      all.insert(all.end(), halves.begin(), halves.end());
    }
  return unchanged(base, std::move(halved));
}

Experiment<Op> permute_queries(const Trial<Op>& base) {
  const Origin query = [p = base.problem](const spec::RowPosition& row) {
    return spec::RowPosition{row.b, row.n, p.length_q(row.b) - 1 - row.s};
  };
  return rearranging<Op>(base, {{base.problem, {query, same_row}}});
}
Experiment<Op> permute_heads(const Trial<Op>& base) {
  const Origin query = [heads = base.problem.heads_q](const spec::RowPosition& row) {
    return spec::RowPosition{row.b, heads - 1 - row.n, row.s};
  };
  return rearranging<Op>(base, {{base.problem, {query, same_row}}});
}
Experiment<Op> split_heads(const Trial<Op>& base) {
  std::vector<Piece<Op>> pieces;
  const std::int64_t half = base.problem.heads_q / 2;
  for (const std::int64_t first : {std::int64_t{0}, half}) {
    const Origin query = [first](const spec::RowPosition& row) {
      return spec::RowPosition{row.b, first + row.n, row.s};
    };
    pieces.push_back({base.problem, {query, same_row}});
    pieces.back().problem.heads_q = half;
  }
  return rearranging(base, std::move(pieces));
}

Experiment<Op> other_layout(const Trial<Op>& base) {
  Trial<Op> other = base;
  other.problem.layout =
      base.problem.layout == spec::Layout::tnd ? spec::Layout::bsnd : spec::Layout::tnd;
  return unchanged(base, std::move(other));
}
Experiment<Op> other_mode(const Trial<Op>& base) {
  Trial<Op> other = base;
  other.problem.sparse_mode = 3 - base.problem.sparse_mode;
  return unchanged(base, std::move(other));
}
Experiment<Op> separate_value(const Trial<Op>& base) {
  Trial<Op> separate = base;
  separate.problem.value_form = spec::SparseValue::given;
  separate.rows.value = base.rows.key;
  Experiment<Op> experiment = unchanged(base, std::move(separate));
  experiment.combine = [](const std::vector<OutputValues>& outputs) {
    OutputValues all = outputs[0];
    all["d_key"] = plus(std::move(all["d_key"]), all["d_value"]);
    all.erase("d_value");
    return all;
  };
  return experiment;
}
Experiment<Op> zero_rope(const Trial<Op>& base) {
  Trial<Op> zero = base;
  std::ranges::fill(zero.rows.query_rope, 0.0);
  std::ranges::fill(zero.rows.key_rope, 0.0);
  Trial<Op> without = zero;
  without.problem.head_dim_rope = 0;
  without.rows.query_rope.clear(), without.rows.key_rope.clear();
  return unchanged(std::move(zero), std::move(without));
}

constexpr Relation<Op> list[] = {
    {"scale_d_out", "If d_out is multiplied by a power of two, so is every gradient.",
     Agreement::bits, is_not_fp16, "bf16, if all values are far from overflow and underflow",
     scale_d_out},
    {"scale_d_out_of_fp16",
     "If d_out is multiplied by a power of two, so is every gradient, also in fp16, where "
     "small numbers lose bits.",
     Agreement::bound, is_fp16, "fp16, if all values are far from overflow", scale_d_out},
    {"zero_d_out", "If d_out is zero, all gradients are zero.", Agreement::bits, is_anything,
     "everything", zero_d_out},
    {"linear_d_out",
     "If d_out is the sum of two tensors, each gradient is the sum of the two gradients.",
     Agreement::bound, is_anything, "everything", linear_d_out},
    {"shift_statistics",
     "Adding c to softmax_max and multiplying softmax_sum by e^-c changes nothing.",
     Agreement::bound, is_anything, "everything", attention::shifted_statistics<Op>},
    {"reverse_lists", "The order of the entries of a list has no meaning.", Agreement::bound,
     is_anything, "everything", reverse_lists},
    {"halve_blocks",
     "If every block is split into two blocks of half the size, the lists contain the same keys.",
     Agreement::bound, may_halve, "mode 0, full blocks of 16 keys or more", halve_blocks},
    {"permute_queries",
     "Permuting queries and their lists permutes d_query in the same way and does not change the "
     "gradients of keys.",
     Agreement::bound, is_open, "mode 0", permute_queries},
    {"permute_heads",
     "Permuting query heads permutes d_query in the same way and does not change the gradients of "
     "keys.",
     Agreement::bound, has_heads, "several query heads", permute_heads},
    {"split_heads",
     "If the heads are split into two halves, the gradients of keys are the sums of the gradients "
     "of the halves.",
     Agreement::bound, has_heads, "several query heads", split_heads},
    {"sequences_alone", "A sequence has the same gradients if it is computed alone.",
     Agreement::bound, has_sequences, "several sequences", selection::sequences_alone<Op>},
    {"other_layout", "One sequence has the same gradients in TND and in BSND.", Agreement::bound,
     is_single, "one sequence", other_layout},
    {"other_mode", "The last query sees all keys in mode 3, as every query does in mode 0.",
     Agreement::bound, has_one_query, "sequences of one query", other_mode},
    {"separate_value",
     "Without a value tensor, d_key is the sum of the d_key and the d_value that the same call "
     "with a value tensor gives.",
     Agreement::bound, is_merged, "value_form=merged", separate_value},
    {"zero_rope", "Rope tensors of zeros change nothing.", Agreement::bound, has_rope,
     "head_dim_rope=64", zero_rope},
    {"strided", "The strides of inputs do not change the results.", Agreement::bits, is_anything,
     "everything", views}};

}  // namespace

std::span<const Operand<Op>> Parts::operands() {
  static constexpr Operand<Op> all[] = {
      {"query", &Rows::query, spec::query_extents, &Origins::query, heads},
      {"key", &Rows::key, spec::key_extents, &Origins::key, heads},
      {"value", &Rows::value, value_extents, &Origins::key, heads},
      {"d_out", &Rows::d_out, spec::query_extents, &Origins::query, heads},
      {"out", &Rows::out, spec::query_extents, &Origins::query, heads},
      {"softmax_max", &Rows::softmax_max, statistics_extents, &Origins::query, statistics},
      {"softmax_sum", &Rows::softmax_sum, statistics_extents, &Origins::query, statistics},
      {"query_rope", &Rows::query_rope, spec::query_rope_extents, &Origins::query, heads},
      {"key_rope", &Rows::key_rope, spec::key_rope_extents, &Origins::key, heads}};
  return all;
}

std::span<const ComparedOutput<Op>> Parts::outputs() {
  static constexpr ComparedOutput<Op> all[] = {
      {"d_query", spec::query_extents, &Origins::query, index},
      {"d_key", spec::key_extents, &Origins::key, index},
      {"d_value", value_extents, &Origins::key, index},
      {"d_query_rope", spec::query_rope_extents, &Origins::query, index},
      {"d_key_rope", spec::key_rope_extents, &Origins::key, index}};
  return all;
}

std::vector<const Relation<Op>*> Parts::relations() { return relation_list<Op>({list}); }

void Parts::add_side(const Trial<Op>& t, const Op::Parameters& call, Op::Inputs& inputs) {
  const std::vector<double> lists(t.rows.sparse_indices.begin(), t.rows.sparse_indices.end());
  inputs.sparse_indices =
      head_tensor(call.sparse_indices, t.problem.layout, sparse_indices_extents(t.problem), lists);
  sparse_flash::add_lengths(t.problem, call, inputs);
}

Trial<Op> Parts::rearranged(const Trial<Op>& base, const Problem& p, const Origins& origins) {
  Trial<Op> moved{.problem = p, .rows = moved_rows(base, p, origins)};
  const Origin of_list = [&](const spec::RowPosition& row) {
    const spec::RowPosition source = origins.query(row).value();
    return spec::RowPosition{source.b, 0, source.s};
  };
  moved.rows.sparse_indices =
      gathered(base.rows.sparse_indices, sparse_indices_extents(base.problem),
               sparse_indices_extents(p), of_list);
  return moved;
}

double Parts::cost_of_bounds(const Problem& problem) { return Suite<Op>::multiply_adds(problem); }

}  // namespace assay::conformance
