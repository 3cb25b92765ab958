#include "operators/flash_attention_score_grad/relations/relations.hpp"

#include "attention/statistics.hpp"
#include "judge/relations/prepared_relation.hpp"
#include "operators/flash_attention_score_grad/basis.hpp"
#include "operators/flash_attention_score_grad/relations/cascade.hpp"

namespace assay::conformance {
namespace {

using Parts = RelationParts<spec::FlashAttentionScoreGrad>;
using Op = Parts::Op;
using Rows = Parts::Rows;
using attention::Origins;

spec::Extents statistics_extents(const Op::Problem& p) {
  spec::Extents one = query_extents(p);
  one.dim = 1;
  return one;
}

/// Returns a statistics tensor with one number for every query row. All copies of a statistic get
/// the same number.
spec::Tensor statistics(const spec::Parameter& parameter, const Op::Problem& p,
                        const spec::Extents& queries, const std::vector<double>& rows) {
  spec::Tensor tensor = guarded_tensor(parameter);
  const std::vector<std::int64_t> elements = spec::viewed_elements(tensor);
  const bool by_token =
      is_packed(p.input_layout) && p.statistics_order == spec::StatisticsOrder::tokens_first;
  for (std::int64_t row = 0; row < queries.rows(); ++row) {
    const spec::RowPosition place = queries.position(row);
    const std::int64_t first =
        by_token ? (queries.start(place.b) + place.s) * queries.heads + place.n : row;
    for (std::int64_t r = 0; r < spec::statistics_replicas; ++r)
      tensor.store(elements[static_cast<std::size_t>(first * spec::statistics_replicas + r)],
                   rows[static_cast<std::size_t>(row)]);
  }
  return tensor;
}

ElementIndex index(const Op::Problem& p, const spec::Tensor& tensor, const spec::Extents& extents) {
  return spec::HeadIndex(tensor, p.input_layout, extents);
}

ElementIndex sink_index(const Op::Problem&, const spec::Tensor& tensor, const spec::Extents&) {
  return
      [offset = tensor.offset, stride = tensor.strides.front()](
          std::int64_t, std::int64_t n, std::int64_t, std::int64_t) { return offset + n * stride; };
}

/// After rows are moved, a row that had no keys may have only masked keys. Gives such rows the
/// statistics of a fully masked row.
void meet_masked_keys(const Op::Problem& p, reference::Operands<double>& rows) {
  const spec::Extents queries = query_extents(p);
  for (std::size_t row = 0; row < rows.softmax_sum.size(); ++row) {
    const std::int64_t b = queries.position(static_cast<std::int64_t>(row)).b;
    if (rows.softmax_sum[row] != 0 || p.length_kv(b) == 0) continue;
    rows.softmax_max[row] = attention::dead_statistics.max;
    rows.softmax_sum[row] = attention::dead_statistics.sum;
  }
}

}  // namespace

std::span<const Operand<Op>> Parts::operands() {
  static constexpr Operand<Op> all[] = {
      {"query", &Rows::query, spec::query_extents, &Origins::query, flash::rows_in_layout},
      {"key", &Rows::key, spec::key_extents, &Origins::key, flash::rows_in_layout},
      {"value", &Rows::value, spec::value_extents, &Origins::key, flash::rows_in_layout},
      {"dy", &Rows::dy, spec::dy_extents, &Origins::query, flash::rows_in_layout},
      {"attention_in", &Rows::attention_in, spec::dy_extents, &Origins::query,
       flash::rows_in_layout},
      {"softmax_max", &Rows::softmax_max, statistics_extents, &Origins::query, statistics},
      {"softmax_sum", &Rows::softmax_sum, statistics_extents, &Origins::query, statistics},
      {"query_rope", &Rows::query_rope, spec::query_rope_extents, &Origins::query,
       flash::rows_in_layout},
      {"key_rope", &Rows::key_rope, spec::key_rope_extents, &Origins::key, flash::rows_in_layout},
      {"sink", &Rows::sink, spec::sink_extents, &Origins::head, flash::sink_tensor}};
  return all;
}

std::span<const ComparedOutput<Op>> Parts::outputs() {
  static constexpr ComparedOutput<Op> all[] = {
      {"dq", spec::query_extents, &Origins::query, index},
      {"dk", spec::key_extents, &Origins::key, index},
      {"dv", spec::value_extents, &Origins::key, index},
      {"dq_rope", spec::query_rope_extents, &Origins::query, index},
      {"dk_rope", spec::key_rope_extents, &Origins::key, index},
      {"dsink", spec::sink_extents, &Origins::head, sink_index}};
  return all;
}

std::vector<const Relation<Op>*> Parts::relations() {
  return relation_list<Op>({flash::rearranging_relations<Op>(), flash::arithmetic_relations(),
                            flash::spelling_relations<Op>(), flash::statistics_order_relations()});
}

conformance::Trial<Op> Parts::rearranged(const conformance::Trial<Op>& base,
                                         const Op::Problem& problem, const Origins& origins) {
  conformance::Trial<Op> moved = CommonParts::rearranged(base, problem, origins);
  meet_masked_keys(moved.problem, moved.rows);
  return moved;
}

namespace attention::flash {
namespace {

bool is_of_fourth_entry_point(const Op::Problem& p) {
  return is_packed(p) && p.head_dim_rope == 0 && p.pse_type == 1;
}

/// Replaces softmaxInLayout by its other value. If the kernel declares a memory order of the
/// statistics for the new value, the statistics get this order.
Experiment order_statistics(const Trial& base) {
  using enum spec::SoftmaxInLayout;
  Trial other = base;
  Op::Problem& p = other.problem;
  p.softmax_in_layout = p.softmax_in_layout == empty ? same_as_input : empty;
  p.statistics_order = upstream_order(p.softmax_in_layout);
  return unchanged(base, other);
}

}  // namespace

std::span<const Relation> statistics_order_relations() {
  static constexpr Relation relations[] = {
      {"statistics_order",
       "Another softmaxInLayout, with the statistics in its memory order, changes nothing.",
       Agreement::bits, is_of_fourth_entry_point, "TND without rope, in pseType 1",
       order_statistics}};
  return relations;
}

}  // namespace attention::flash

CaseReport Suite<Op>::judge_relation(const Case<Op>& c, spec::Implementation<Op>& kernel) {
  if (c.relation != flash::cascade_name) return judge_by_relation(c, kernel);
  const auto examined = [&](const spec::Numerics* reading) {
    return related(c, kernel, [&](Case<Op> asked, CaseReport& report) {
      const spec::Numerics numerics = reading != nullptr ? *reading : kernel.numerics(c.problem);
      asked.problem = as_declared(asked.problem, asked.entry_point, numerics);
      return comparable(asked, [&] { return flash::judge_cascade(asked, kernel, report); });
    });
  };
  return read_otherwise(c, kernel, examined(nullptr),
                        [&](const spec::Numerics& reading) { return examined(&reading); });
}

}  // namespace assay::conformance
