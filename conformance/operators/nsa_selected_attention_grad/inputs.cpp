#include <algorithm>
#include <optional>
#include <utility>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/parallel/loop.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "attention/profiles.hpp"
#include "inputs/input_profiles.hpp"
#include "inputs/packed_rows.hpp"
#include "operators/nsa_selected_attention_grad/heads.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using spec::Tensor;

/// The forward of every query row, on all cores.
reference::SelectedForward<double> forward_of(const Op::Problem& p, const Op::Inputs& inputs) {
  using Attention = reference::NsaSelectedAttention<double>;
  constexpr std::int64_t rows_of_task = 16;
  const spec::Extents queries = query_extents(p), out = attention_out_extents(p);
  reference::SelectedForward<double> all;
  all.softmax_max.resize(static_cast<std::size_t>(queries.rows()));
  all.softmax_sum = all.softmax_max;
  all.attention_out.resize(static_cast<std::size_t>(out.rows() * out.dim));
  // Of every sequence and key head, with the query heads that read it.
  std::vector<std::optional<Attention>> groups(static_cast<std::size_t>(p.batch * p.heads_kv));
  parallel::for_each(std::ssize(groups), [&](std::int64_t k) {
    const selected::Heads heads{k / p.heads_kv, k % p.heads_kv * p.group(), p.group()};
    auto operands = selected::key_side<double>(p, inputs, heads);
    operands.query = selected::rows_of<double>(inputs.query, queries, heads);
    groups[static_cast<std::size_t>(k)].emplace(selected::problem_of(p, heads),
                                                std::move(operands));
  });
  parallel::for_each((queries.rows() + rows_of_task - 1) / rows_of_task, [&](std::int64_t task) {
    const std::int64_t first = task * rows_of_task;
    reference::SelectedForward<double> own;
    for (std::int64_t row = first; row < std::min(first + rows_of_task, queries.rows()); ++row) {
      const auto [b, n, i] = queries.position(row);
      groups[static_cast<std::size_t>(b * p.heads_kv + n / p.group())]->append_row(0, n % p.group(),
                                                                                   i, own);
    }
    std::ranges::copy(own.softmax_max, all.softmax_max.begin() + first);
    std::ranges::copy(own.softmax_sum, all.softmax_sum.begin() + first);
    std::ranges::copy(own.attention_out, all.attention_out.begin() + first * out.dim);
  });
  return all;
}

}  // namespace

std::span<const InputProfile> Suite<Op>::profiles() { return flash::profiles(); }

Op::Inputs Suite<Op>::draw(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  const Op::Parameters t =
      spec::call_of(p, c.entry_point, c.product, c.inputs, c.outputs).parameters;
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
  auto forward = forward_of(p, inputs);
  flash::disturb_statistics(c.profile, p.dtype, query_extents(p), forward.softmax_sum);
  inputs.attention_out =
      packed_tensor(t.attention_out, attention_out_extents(p), forward.attention_out);
  inputs.softmax_max = packed_statistics(t.softmax_max, query_extents(p), forward.softmax_max);
  inputs.softmax_sum = packed_statistics(t.softmax_sum, query_extents(p), forward.softmax_sum);
  return inputs;
}

}  // namespace assay::conformance
