#include <algorithm>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/conformance/parallel.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "input_profiles.hpp"
#include "operators/flash_attention_score_grad_profiles.hpp"
#include "operators/nsa_selected_attention_grad_heads.hpp"
#include "operators/packed_rows.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using spec::Tensor;

/// The forward of every query head, on all cores.
reference::SelectedForward<double> forward_of(const Op::Problem& p, const Op::Inputs& inputs) {
  const spec::Extents queries = query_extents(p), out = attention_out_extents(p);
  reference::SelectedForward<double> all;
  all.softmax_max.resize(static_cast<std::size_t>(queries.rows()));
  all.softmax_sum = all.softmax_max;
  all.attention_out.resize(static_cast<std::size_t>(out.rows() * out.dim));
  std::vector<reference::SelectedOperands<double>> sides(
      static_cast<std::size_t>(p.batch * p.heads_kv));
  parallel_for(std::ssize(sides), [&](std::int64_t k) {
    sides[static_cast<std::size_t>(k)] =
        selected::key_side<double>(p, inputs, {k / p.heads_kv, k % p.heads_kv * p.group(), 1});
  });
  parallel_for(p.batch * p.heads_q, [&](std::int64_t task) {
    const std::int64_t b = task / p.heads_q, n = task % p.heads_q;
    const selected::Heads head{b, n, 1};
    auto operands = sides[static_cast<std::size_t>(b * p.heads_kv + n / p.group())];
    operands.query = selected::rows_of<double>(inputs.query, queries, head);
    const auto own = reference::forward<double>(selected::problem_of(p, head), operands);
    const std::int64_t first = queries.row(b, n, 0);
    std::ranges::copy(own.softmax_max, all.softmax_max.begin() + first);
    std::ranges::copy(own.softmax_sum, all.softmax_sum.begin() + first);
    std::ranges::copy(own.attention_out, all.attention_out.begin() + first * out.dim);
  });
  return all;
}

}  // namespace

/// The very ones of dense attention, whose numbers these are.
template <>
std::span<const InputProfile> profiles<Op>() {
  return profiles<spec::FlashAttentionScoreGrad>();
}

Op::Inputs make_inputs(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  const Op::Parameters t =
      spec::call_of(p, c.surface, c.product, c.inputs, c.outputs).parameters;
  const auto filled = [&](const spec::Parameter& parameter, const spec::Extents& extents,
                          Stream which) {
    return filled_tensor(
        parameter, spec::Layout::tnd, extents,
        {.seed = c.seed, .which = which, .value = flash::profile_value(c.profile)});
  };
  Op::Inputs inputs{
      .query = filled(t.query, query_extents(p), Stream::query),
      .key = filled(t.key, key_extents(p), Stream::key),
      .value = filled(t.value, value_extents(p), Stream::value),
      .attention_out = {},
      .attention_out_grad = filled(t.attention_out_grad, attention_out_extents(p), Stream::dy),
      .softmax_max = {},
      .softmax_sum = {},
      .topk_indices = make_topk_indices(c),
      .atten_mask = make_mask(c)};
  const auto forward = forward_of(p, inputs);
  inputs.attention_out = packed_tensor(t.attention_out, attention_out_extents(p), forward.attention_out);
  inputs.softmax_max = packed_statistics(t.softmax_max, query_extents(p), forward.softmax_max);
  inputs.softmax_sum = packed_statistics(t.softmax_sum, query_extents(p), forward.softmax_sum);
  return inputs;
}

Op::Outputs make_outputs(const Case<Op>& c) {
  const Op::Parameters t =
      spec::call_of(c.problem, c.surface, c.product, c.inputs, c.outputs).parameters;
  return {.dq = poisoned_tensor(t.dq), .dk = poisoned_tensor(t.dk), .dv = poisoned_tensor(t.dv)};
}

}  // namespace assay::conformance
