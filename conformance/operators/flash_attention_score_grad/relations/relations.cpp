#include "operators/flash_attention_score_grad/relations/relations.hpp"

#include "inputs/packed_rows.hpp"
#include "judge/relations/prepared_relation.hpp"
#include "operators/flash_attention_score_grad/basis.hpp"
#include "operators/flash_attention_score_grad/relations/cascade.hpp"

namespace assay::conformance {
namespace {

using Parts = RelationParts<spec::FlashAttentionScoreGrad>;
using Op = Parts::Op;
using Rows = Parts::Rows;
using attention::Origins;

spec::Tensor heads(const spec::Parameter& parameter, const Op::Problem& p,
                   const spec::Extents& extents, const std::vector<double>& rows) {
  return head_tensor(parameter, p.input_layout, extents, rows);
}

spec::Extents statistics_extents(const Op::Problem& p) {
  spec::Extents one = query_extents(p);
  one.dim = 1;
  return one;
}

/// Returns a tensor with one number for every query row, in all replicas.
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

spec::HeadIndex index(const Op::Problem& p, const spec::Tensor& tensor,
                      const spec::Extents& extents) {
  return {tensor, p.input_layout, extents};
}

}  // namespace

std::span<const Operand<Op>> Parts::operands() {
  static constexpr Operand<Op> all[] = {
      {"query", &Rows::query, spec::query_extents, &Origins::query, heads},
      {"key", &Rows::key, spec::key_extents, &Origins::key, heads},
      {"value", &Rows::value, spec::value_extents, &Origins::key, heads},
      {"dy", &Rows::dy, spec::dy_extents, &Origins::query, heads},
      {"attention_in", &Rows::attention_in, spec::dy_extents, &Origins::query, heads},
      {"softmax_max", &Rows::softmax_max, statistics_extents, &Origins::query, statistics},
      {"softmax_sum", &Rows::softmax_sum, statistics_extents, &Origins::query, statistics},
      {"query_rope", &Rows::query_rope, spec::query_rope_extents, &Origins::query, heads},
      {"key_rope", &Rows::key_rope, spec::key_rope_extents, &Origins::key, heads}};
  return all;
}

std::span<const ComparedOutput<Op>> Parts::outputs() {
  static constexpr ComparedOutput<Op> all[] = {
      {"dq", spec::query_extents, &Origins::query, index},
      {"dk", spec::key_extents, &Origins::key, index},
      {"dv", spec::value_extents, &Origins::key, index},
      {"dq_rope", spec::query_rope_extents, &Origins::query, index},
      {"dk_rope", spec::key_rope_extents, &Origins::key, index}};
  return all;
}

std::vector<const Relation<Op>*> Parts::relations() {
  return relation_list<Op>(
      {flash::rearranging_relations(), flash::arithmetic_relations(), flash::spelling_relations()});
}

void Parts::add_side(const conformance::Trial<Op>& t, const Op::Parameters& call,
                     Op::Inputs& inputs) {
  const flash::PairTensors& given = t.side;
  if (given.atten_mask) inputs.atten_mask = restrided(*given.atten_mask, call.atten_mask);
  if (given.pse_shift) inputs.pse_shift = restrided(*given.pse_shift, call.pse_shift);
  if (given.drop_mask) inputs.drop_mask = restrided(*given.drop_mask, call.drop_mask);
}

bool Parts::offers(spec::FlashEntryPoint entry_point, const Op::Problem& p) {
  const bool typed = p.pse_type != 1 || !p.q_start_idx.empty() || !p.kv_start_idx.empty();
  return spec::is_unpadding(entry_point) == is_packed(p.input_layout) &&
         spec::has_rope(entry_point) == (p.head_dim_rope > 0) &&
         (!typed || spec::has_pse_type(entry_point)) &&
         (p.softmax_in_layout == spec::SoftmaxInLayout::empty ||
          spec::has_softmax_in_layout(entry_point));
}

namespace attention::flash {

spec::FlashEntryPoint entry_point_of(const Op::Problem& p) {
  using EntryPoint = spec::FlashEntryPoint;
  if (!is_packed(p.input_layout)) return EntryPoint::g2;
  if (p.head_dim_rope > 0) return EntryPoint::u3;
  return p.softmax_in_layout == spec::SoftmaxInLayout::same_as_input ? EntryPoint::u4
                                                                     : EntryPoint::u2;
}

bool operator==(const PairTensors& a, const PairTensors& b) {
  using Member = std::optional<spec::Tensor> PairTensors::*;
  for (const Member member :
       {&PairTensors::atten_mask, &PairTensors::pse_shift, &PairTensors::drop_mask}) {
    const auto &x = a.*member, &y = b.*member;
    if (x.has_value() != y.has_value()) return false;
    if (x && (x->shape != y->shape || x->bytes != y->bytes)) return false;
  }
  return true;
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
