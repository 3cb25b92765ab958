#pragma once

#include <vector>

#include "assay/conformance/attention/flash.hpp"
#include "assay/reference/operands.hpp"
#include "attention/flash/relations/pairs.hpp"
#include "attention/flash/traits.hpp"
#include "attention/lse.hpp"
#include "inputs/packed_rows.hpp"
#include "judge/relations/relation.hpp"

namespace assay::conformance::attention::flash {

/// The members of RelationParts that do not depend on the outputs of the operator.
template <class Operator>
struct CommonParts {
  using Op = Operator;
  using EntryPoint = typename Op::EntryPoint;
  using Rows = reference::Operands<double>;
  using Side = PairTensors;
  using Origins = attention::Origins;

  static Rows rows_of(const Problem& problem, const typename Op::Inputs& inputs) {
    return reference::operands_of<double>(problem, inputs);
  }
  static Side side_of(const typename Op::Inputs& inputs) {
    return {inputs.atten_mask, inputs.pse_shift, inputs.drop_mask};
  }
  static void add_side(const conformance::Trial<Op>& t, const typename Op::Parameters& call,
                       typename Op::Inputs& inputs) {
    const PairTensors& given = t.side;
    if (given.atten_mask) inputs.atten_mask = restrided(*given.atten_mask, call.atten_mask);
    if (given.pse_shift) inputs.pse_shift = restrided(*given.pse_shift, call.pse_shift);
    if (given.drop_mask) inputs.drop_mask = restrided(*given.drop_mask, call.drop_mask);
  }

  /// Moves the rows of `base`, and with them the mask, bias and dropout of each pair (see
  /// `moved_pairs`).
  static conformance::Trial<Op> rearranged(const conformance::Trial<Op>& base,
                                           const Problem& problem, const Origins& origins) {
    conformance::Trial<Op> moved{.problem = with_written_pairs(base.problem, problem), .rows = {}};
    moved.rows = moved_rows(base, moved.problem, origins);
    moved.side = moved_pairs(base.problem, base.side, moved.problem, origins);
    return moved;
  }

  static OutputValues compared_values(OutputValues values, const spec::Numerics& numerics) {
    return attention::compared_statistics(std::move(values), numerics);
  }
  static bool has_exact_bits(std::string_view output, const spec::Numerics& numerics) {
    return attention::has_exact_bits(output, numerics);
  }
  static bool offers(EntryPoint entry_point, const Problem& p) {
    const bool typed = p.pse_type != 1 || !p.q_start_idx.empty() || !p.kv_start_idx.empty();
    return is_unpadding(entry_point) == spec::is_packed(p.input_layout) &&
           (p.head_dim_rope > 0 ? has_rope(entry_point) : !requires_rope(entry_point)) &&
           (!typed || has_pse_type(entry_point)) &&
           (p.softmax_in_layout == spec::SoftmaxInLayout::empty ||
            has_softmax_in_layout(entry_point)) &&
           (!p.has_sink() || has_sink(entry_point));
  }
  static EntryPoint entry_point_of(const Problem& p) {
    using T = Traits<Op>;
    if (p.has_sink()) return entry_point_with_sink<EntryPoint>(spec::is_packed(p.input_layout));
    if (!spec::is_packed(p.input_layout)) return T::dense_typed;
    if (p.head_dim_rope > 0) return T::roped;
    return p.softmax_in_layout == spec::SoftmaxInLayout::same_as_input ? T::packed_ordered
                                                                       : T::packed_typed;
  }
  static double cost_of_bounds(const Problem& problem) { return Suite<Op>::multiply_adds(problem); }
};

/// Creates a tensor with these rows, in the layout of the problem.
inline spec::Tensor rows_in_layout(const spec::Parameter& parameter, const Problem& p,
                                   const spec::Extents& extents, const std::vector<double>& rows) {
  return head_tensor(parameter, p.input_layout, extents, rows);
}

/// Creates a sink tensor with one logit for each query head.
inline spec::Tensor sink_tensor(const spec::Parameter& parameter, const Problem&,
                                const spec::Extents&, const std::vector<double>& sinks) {
  spec::Tensor tensor = guarded_tensor(parameter);
  const std::vector<std::int64_t> elements = spec::viewed_elements(tensor);
  for (std::size_t n = 0; n < sinks.size(); ++n) tensor.store(elements[n], sinks[n]);
  return tensor;
}

}  // namespace assay::conformance::attention::flash
