#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "assay/spec/at.hpp"
#include "operators/flash_attention_score_grad/relations/relations.hpp"

namespace assay::conformance::attention::flash {
namespace {

using spec::DType;
using spec::MaskShape;
using spec::PseShape;

// Excludes sinks: with a sink, the probabilities of a row do not add up to 1, so a shift of all
// scores changes them.
bool is_undropped(const Op::Problem& p) { return !p.has_dropout() && !p.has_sink(); }
bool has_sink(const Op::Problem& p) { return p.has_sink(); }
bool has_bias_of_every_pair(const Op::Problem& p) {
  return !p.has_sink() && p.pse_shift == PseShape::bnss &&
         (p.pse_type == 0 || (p.pse_type == 1 && p.scale_value != 0));
}

using Rows = reference::Operands<double>;

Experiment scale_dy(const Trial& base) { return scaled(base, &Rows::dy); }
Experiment zero_dy(const Trial& base) { return zeroed(base, &Rows::dy); }
Experiment linear_dy(const Trial& base) { return cut_in_two(base, &Rows::dy); }
Experiment shift_value(const Trial& base) { return shifted_value(base, &Rows::attention_in); }

/// The statistics already include the sink, so dq, dk and dv do not depend on the sink tensor.
Experiment remove_sink(const Trial& base) {
  Trial without = base;
  without.problem.sink = spec::SinkShape::absent;
  without.rows.sink.clear();
  return unchanged(base, std::move(without));
}

/// Returns whether every P, and the probability of the sink, can be the same power of two. This
/// needs 2^k - 1 keys without a mask. At most 31 keys are allowed, because sums of 31 small
/// integers fit in 16-bit types.
bool has_sink_and_equal_scores(const Op::Problem& p) {
  const auto scores = static_cast<std::uint64_t>(p.seq_kv) + 1;
  return p.has_sink() && std::has_single_bit(scores) && scores <= 32 && !p.has_dropout() &&
         p.lengths_kv.empty() && p.atten_mask == MaskShape::absent &&
         p.pse_shift == PseShape::absent;
}

/// Sets query and sink to 0, so that all scores are 0. With 2^k - 1 keys, dsink is then -2^-2k
/// times the sum of all dy . v. This is a sum of small integers, which is exact in every order.
Experiment equal_scores(const Trial& base) {
  const Op::Problem& p = base.problem;
  Trial equal = base;
  for (auto* zeros :
       {&equal.rows.query, &equal.rows.query_rope, &equal.rows.sink, &equal.rows.softmax_max})
    std::ranges::fill(*zeros, 0);
  for (auto* integers : {&equal.rows.value, &equal.rows.dy})
    for (double& x : *integers) x = std::fmin(std::fmax(std::nearbyint(x), -2), 2);
  const double prob = 1 / (static_cast<double>(p.seq_kv) + 1);
  std::ranges::fill(equal.rows.softmax_sum, 1 / prob);
  std::vector<double> dsink(spec::at(p.heads_q), 0.0);
  const spec::Extents queries = dy_extents(p), keys = value_extents(p);
  for (std::int64_t row = 0; row < queries.rows(); ++row) {
    const auto [b, n, i] = queries.position(row);
    for (std::int64_t d = 0; d < p.head_dim_v; ++d) {
      double sum = 0;
      for (std::int64_t j = 0; j < p.seq_kv; ++j)
        sum += equal.rows.value[spec::at(keys.row(b, n / p.group(), j) * keys.dim + d)];
      const std::size_t element = spec::at(row * queries.dim + d);
      equal.rows.attention_in[element] = prob * sum;
      dsink[spec::at(n)] -= prob * prob * sum * equal.rows.dy[element];
    }
  }
  return known(std::move(equal), {{"dsink", dsink}});
}

/// Adds 1, 2 or -1 (in units of the scaled score) to the bias of each query row and to its
/// softmax_max.
Experiment shift_scores(const Trial& base) {
  const Op::Problem& p = base.problem;
  Trial near = with_round_statistics(base);
  for (const std::int64_t e : spec::viewed_elements(*near.side.pse_shift))
    near.side.pse_shift->store(e, on_grid(near.side.pse_shift->load(e)));
  Trial shifted = near;
  const auto shift = [](std::size_t row) {
    return row % 3 == 2 ? -1.0 : 1.0 + static_cast<double>(row % 3);
  };
  const double unit = p.pse_type == 1 ? 1 / p.scale_value : 1;
  const std::vector<std::int64_t> elements = spec::viewed_elements(*shifted.side.pse_shift);
  for (std::size_t k = 0; k < elements.size(); ++k)
    shifted.side.pse_shift->store(elements[k],
                                  shifted.side.pse_shift->load(elements[k]) +
                                      unit * shift(k / static_cast<std::size_t>(p.seq_kv)));
  for (std::size_t row = 0; row < shifted.rows.softmax_max.size(); ++row)
    if (!is_dead(shifted, row)) shifted.rows.softmax_max[row] += shift(row);
  return unchanged(std::move(near), std::move(shifted));
}

}  // namespace

std::span<const Relation> arithmetic_relations() {
  static constexpr Relation relations[] = {
      {"scale_dy", "If dy is multiplied by a power of two, so is every gradient.", Agreement::bits,
       is_not_fp16, "bf16 and fp32, if all values are far from overflow and underflow", scale_dy},
      {"scale_dy_of_fp16",
       "If dy is multiplied by a power of two, so is every gradient, also in fp16, where small "
       "numbers lose bits.",
       Agreement::bound, is_fp16, "fp16, if all values are far from overflow", scale_dy},
      {"zero_dy", "If dy is zero, all gradients are zero.", Agreement::bits, is_anything,
       "everything", zero_dy},
      {"linear_dy",
       "If dy is the sum of two tensors, each gradient is the sum of the two gradients.",
       Agreement::bound, is_anything, "everything", linear_dy},
      {"shift_value",
       "Without dropout, no gradient changes if the same row is added to every row of value and "
       "attention_in.",
       Agreement::bound, is_undropped, "calls without dropout and without a sink", shift_value},
      {"shift_scores",
       "If the same number is added to the bias of a row and to its softmax_max, nothing changes.",
       Agreement::bound, has_bias_of_every_pair,
       "calls with a pse of shape BNSS in pseType 0 or 1, without a sink", shift_scores},
      {"shift_statistics",
       "Adding c to softmax_max and multiplying softmax_sum by e^-c changes nothing.",
       Agreement::bound, is_anything, "everything", shifted_statistics<Op>},
      {"remove_sink",
       "Without the tensor of the sink, but with the same statistics, dq, dk and dv are the same.",
       Agreement::bits, has_sink, "calls with a sink", remove_sink},
      {"equal_scores",
       "If query and sink are zero and there are 2^k - 1 keys, dsink is exactly -2^-2k times the "
       "sum of the dot products of all rows of dy and value.",
       Agreement::bits, has_sink_and_equal_scores,
       "a sink and 1, 3, 7, 15 or 31 keys in all sequences, without mask, bias and dropout",
       equal_scores}};
  return relations;
}

}  // namespace assay::conformance::attention::flash
