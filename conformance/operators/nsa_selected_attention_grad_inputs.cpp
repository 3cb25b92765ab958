#include <algorithm>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/conformance/parallel.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "input_profiles.hpp"
#include "operators/flash_attention_score_grad_profiles.hpp"
#include "operators/packed_rows.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using spec::Tensor;

/// One query head of one sequence, as a problem of its own.
Op::Problem head_problem(const Op::Problem& p, std::int64_t b) {
  Op::Problem head = p;
  head.batch = head.heads_q = head.heads_kv = 1;
  head.seq_q = p.length_q(b);
  head.seq_kv = p.length_kv(b);
  head.lengths_q.clear();
  head.lengths_kv.clear();
  return head;
}

/// Rows of head n of sequence b.
template <class Number>
std::vector<Number> head_rows(const Tensor& tensor, const spec::Extents& e, std::int64_t b,
                              std::int64_t n) {
  const spec::HeadView view(tensor, spec::Layout::tnd, e);
  std::vector<double> row(static_cast<std::size_t>(e.dim));
  std::vector<Number> rows;
  for (std::int64_t s = 0; s < e.length(b); ++s) {
    view.read_row(b, n, s, row);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

/// The forward of every query head, on all cores.
reference::SelectedForward<double> forward_of(const Op::Problem& p, const Op::Inputs& inputs) {
  const spec::Extents queries = query_extents(p), out = attention_out_extents(p);
  reference::SelectedForward<double> all;
  all.softmax_max.resize(static_cast<std::size_t>(queries.rows()));
  all.softmax_sum = all.softmax_max;
  all.attention_out.resize(static_cast<std::size_t>(out.rows() * out.dim));
  parallel_for(p.batch * p.heads_q, [&](std::int64_t task) {
    const std::int64_t b = task / p.heads_q, n = task % p.heads_q, kv = n / p.group();
    const auto own = reference::forward<double>(
        head_problem(p, b),
        {.query = head_rows<double>(inputs.query, queries, b, n),
         .key = head_rows<double>(inputs.key, key_extents(p), b, kv),
         .value = head_rows<double>(inputs.value, value_extents(p), b, kv),
         .attention_out_grad = {},
         .softmax_max = {},
         .softmax_sum = {},
         .attention_out = {},
         .topk_indices = head_rows<std::int64_t>(inputs.topk_indices, topk_extents(p), b, kv)});
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
