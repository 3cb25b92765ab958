#include "operators/flash_attention_score/relations/relations.hpp"

#include "attention/flash/statistics_index.hpp"

namespace assay::conformance {
namespace {

using Parts = RelationParts<spec::FlashAttentionScore>;
using Op = Parts::Op;
using Rows = Parts::Rows;
using attention::Origins;

spec::Extents statistics_extents(const Op::Problem& p) {
  spec::Extents one = query_extents(p);
  one.dim = 1;
  return one;
}

ElementIndex index(const Op::Problem& p, const spec::Tensor& tensor, const spec::Extents& extents) {
  return spec::HeadIndex(tensor, p.input_layout, extents);
}

/// Returns a function that finds the first of the eight copies of each softmax statistic.
ElementIndex statistics_index(const Op::Problem& p, const spec::Tensor& tensor,
                              const spec::Extents& extents) {
  return [at = flash::StatisticsIndex(tensor, p), extents](std::int64_t b, std::int64_t n,
                                                           std::int64_t s, std::int64_t) {
    return at(extents.row(b, n, s));
  };
}

}  // namespace

std::span<const Operand<Op>> Parts::operands() {
  static constexpr Operand<Op> all[] = {
      {"query", &Rows::query, spec::query_extents, &Origins::query, flash::rows_in_layout},
      {"key", &Rows::key, spec::key_extents, &Origins::key, flash::rows_in_layout},
      {"value", &Rows::value, spec::value_extents, &Origins::key, flash::rows_in_layout},
      {"query_rope", &Rows::query_rope, spec::query_rope_extents, &Origins::query,
       flash::rows_in_layout},
      {"key_rope", &Rows::key_rope, spec::key_rope_extents, &Origins::key, flash::rows_in_layout},
      {"sink", &Rows::sink, spec::sink_extents, &Origins::head, flash::sink_tensor}};
  return all;
}

std::span<const ComparedOutput<Op>> Parts::outputs() {
  static constexpr ComparedOutput<Op> all[] = {
      {"softmax_max", statistics_extents, &Origins::query, statistics_index},
      {"softmax_sum", statistics_extents, &Origins::query, statistics_index},
      {"attention_out", spec::dy_extents, &Origins::query, index}};
  return all;
}

std::vector<const Relation<Op>*> Parts::relations() {
  return relation_list<Op>({flash::rearranging_relations<Op>(),
                            flash_forward::arithmetic_relations(),
                            flash::spelling_relations<Op>()});
}

}  // namespace assay::conformance
