#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/parallel/loop.hpp"
#include "assay/reference/nsa_selected_attention.hpp"
#include "attention/profiles.hpp"
#include "inputs/input_profiles.hpp"
#include "inputs/packed_rows.hpp"
#include "selection/heads.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using spec::Tensor;

using Attention = reference::NsaSelectedAttention<double>;
using Forward = reference::SelectedForward<double>;

/// Largest number of elements that are converted to double at once. A single key head may have
/// more.
constexpr std::int64_t most_held = std::int64_t{1} << 20;

/// Returns the query heads that read key head number k. The key heads of all sequences are numbered
/// consecutively.
selection::Heads heads_of(const Op::Problem& p, std::int64_t k) {
  return {k / p.heads_kv, k % p.heads_kv * p.group(), p.group()};
}

/// Returns the number of elements of query, key and value that these heads read.
std::int64_t elements_of(const Op::Problem& p, const selection::Heads& heads) {
  return heads.count * p.length_q(heads.b) * p.head_dim +
         p.length_kv(heads.b) * (p.head_dim + p.head_dim_v);
}

/// For the query heads that read key heads `first` to `last - 1`: computes their softmax statistics
/// and their rows of inputs.attention_out. Uses all cores.
void fill_rows(const Op::Problem& p, Op::Inputs& inputs, std::int64_t first, std::int64_t last,
               Forward& all) {
  constexpr std::int64_t rows_of_task = 16;
  const spec::Extents queries = query_extents(p);
  std::vector<std::optional<Attention>> groups(static_cast<std::size_t>(last - first));
  parallel::for_each(last - first, [&](std::int64_t k) {
    const selection::Heads heads = heads_of(p, first + k);
    groups[static_cast<std::size_t>(k)].emplace(
        selection::problem_of(p, heads), selection::forward_operands_of<double>(p, inputs, heads));
  });
  const auto row_of = [&](std::int64_t k) {
    return k == p.batch * p.heads_kv ? queries.rows()
                                     : queries.row(heads_of(p, k).b, heads_of(p, k).first, 0);
  };
  const std::int64_t begin = row_of(first), end = row_of(last);
  const spec::Extents outs = attention_out_extents(p);
  const spec::HeadIndex out(inputs.attention_out, spec::Layout::tnd, outs);
  parallel::for_each((end - begin + rows_of_task - 1) / rows_of_task, [&](std::int64_t task) {
    const std::int64_t from = begin + task * rows_of_task;
    Forward own;
    for (std::int64_t row = from; row < std::min(from + rows_of_task, end); ++row) {
      const auto [b, n, i] = queries.position(row);
      groups[static_cast<std::size_t>(b * p.heads_kv + n / p.group() - first)]->append_row(
          0, n % p.group(), i, own);
      spec::store_row(inputs.attention_out, out(b, n, i, 0), out.step(),
                      std::span(own.attention_out).last(static_cast<std::size_t>(outs.dim)));
    }
    std::ranges::copy(own.softmax_max, all.softmax_max.begin() + from);
    std::ranges::copy(own.softmax_sum, all.softmax_sum.begin() + from);
  });
}

/// Computes inputs.attention_out, and returns the softmax statistics of every query row.
Forward forward_of(const Op::Problem& p, Op::Inputs& inputs) {
  Forward all;
  all.softmax_max.resize(static_cast<std::size_t>(query_extents(p).rows()));
  all.softmax_sum = all.softmax_max;
  const std::int64_t key_heads = p.batch * p.heads_kv;
  for (std::int64_t first = 0, last = 0; first < key_heads; first = last) {
    std::int64_t held = 0;
    do {
      held += elements_of(p, heads_of(p, last++));
    } while (last < key_heads && held + elements_of(p, heads_of(p, last)) <= most_held);
    fill_rows(p, inputs, first, last, all);
  }
  return all;
}

}  // namespace

Op::Inputs Suite<Op>::draw(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  const Op::Parameters t =
      spec::call_of(p, c.entry_point, c.product, c.inputs, c.outputs).parameters;
  const auto filled = [&](const spec::Parameter& parameter, const spec::Extents& extents,
                          Stream which) {
    return filled_tensor(
        parameter, spec::Layout::tnd, extents,
        {.seed = c.seed, .which = which, .value = attention::profile_value(c.profile)});
  };
  Op::Inputs inputs{
      .query = filled(t.query, query_extents(p), Stream::query),
      .key = filled(t.key, key_extents(p), Stream::key),
      .value = filled(t.value, value_extents(p), Stream::value),
      .attention_out = guarded_tensor(t.attention_out),
      .attention_out_grad = filled(t.attention_out_grad, attention_out_extents(p), Stream::dy),
      .softmax_max = {},
      .softmax_sum = {},
      .topk_indices = make_topk_indices(c),
      .atten_mask = make_causal_mask(c)};
  auto forward = forward_of(p, inputs);
  attention::disturb_statistics(c.profile, p.dtype, query_extents(p), forward.softmax_sum);
  inputs.softmax_max = packed_statistics(t.softmax_max, query_extents(p), forward.softmax_max);
  inputs.softmax_sum = packed_statistics(t.softmax_sum, query_extents(p), forward.softmax_sum);
  return inputs;
}

}  // namespace assay::conformance
