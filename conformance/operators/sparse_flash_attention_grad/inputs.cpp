#include "operators/sparse_flash_attention_grad/inputs.hpp"

#include <algorithm>

#include "assay/conformance/operators/sparse_flash_attention_grad.hpp"
#include "assay/parallel/loop.hpp"
#include "assay/reference/sparse_flash_attention_grad.hpp"
#include "assay/spec/at.hpp"
#include "attention/profiles.hpp"
#include "inputs/input_profiles.hpp"
#include "inputs/packed_rows.hpp"
#include "operators/sparse_flash_attention_grad/lists.hpp"

namespace assay::conformance {
namespace sparse_flash {

using spec::at;
using Op = spec::SparseFlashAttentionGrad;

spec::Tensor statistics_tensor(const spec::Parameter& parameter, const Op::Problem& p,
                               const std::vector<double>& rows) {
  spec::Tensor tensor = guarded_tensor(parameter);
  const std::vector<std::int64_t> elements = spec::viewed_elements(tensor);
  const spec::Extents queries = query_extents(p);
  for (std::int64_t row = 0; row < queries.rows(); ++row) {
    const auto [b, n, s] = queries.position(row);
    tensor.store(elements[at((queries.start(b) + s) * queries.heads + n)], rows[at(row)]);
  }
  return tensor;
}

void add_lengths(const Op::Problem& p, const Op::Parameters& call, Op::Inputs& inputs) {
  const auto sums = [](const spec::Parameter& parameter, const spec::Extents& extents) {
    spec::Tensor tensor = guarded_tensor(parameter);
    const std::vector<std::int64_t> elements = spec::viewed_elements(tensor);
    for (std::int64_t b = 0; b < extents.batch; ++b)
      tensor.store(elements[at(b)], static_cast<double>(extents.start(b + 1)));
    return tensor;
  };
  if (!is_packed(p.layout)) return;
  inputs.actual_seq_lengths_query = sums(call.actual_seq_lengths_query, query_extents(p));
  inputs.actual_seq_lengths_kv = sums(call.actual_seq_lengths_kv, key_extents(p));
}

}  // namespace sparse_flash

using Op = spec::SparseFlashAttentionGrad;

Op::Inputs Suite<Op>::draw(const Case<Op>& c) {
  using spec::at;
  const Op::Problem& p = c.problem;
  const Op::Parameters t =
      spec::call_of(p, c.entry_point, c.product, c.inputs, c.outputs).parameters;
  const auto filled = [&](const spec::Parameter& parameter, const spec::Extents& extents,
                          Stream which) {
    return filled_tensor(
        parameter, p.layout, extents,
        {.seed = c.seed, .which = which, .value = attention::profile_value(c.profile)});
  };
  Op::Inputs inputs{.query = filled(t.query, query_extents(p), Stream::query),
                    .key = filled(t.key, key_extents(p), Stream::key),
                    .sparse_indices = sparse_flash::make_lists(c),
                    .d_out = filled(t.d_out, query_extents(p), Stream::dy),
                    .out = guarded_tensor(t.out),
                    .softmax_max = guarded_tensor(t.softmax_max),
                    .softmax_sum = guarded_tensor(t.softmax_sum)};
  if (!p.is_merged()) inputs.value = restrided(inputs.key, t.value);
  if (p.head_dim_rope > 0) {
    inputs.query_rope = filled(t.query_rope, query_rope_extents(p), Stream::query_rope);
    inputs.key_rope = filled(t.key_rope, key_rope_extents(p), Stream::key_rope);
  }
  sparse_flash::add_lengths(p, t, inputs);

  const spec::Extents queries = query_extents(p);
  // Zeros suffice here, because the forward does not read the statistics.
  inputs.softmax_max = inputs.softmax_sum =
      sparse_flash::statistics_tensor(t.softmax_max, p, std::vector<double>(at(queries.rows())));
  std::vector<double> none(at(queries.rows() * queries.dim));
  inputs.out = head_tensor(t.out, p.layout, queries, none);
  const auto operands = reference::operands_of<double>(p, inputs);
  std::vector<double> out(none.size()), softmax_max(at(queries.rows())), softmax_sum(softmax_max);
  parallel::for_each(queries.rows(), [&](std::int64_t row) {
    const auto [b, n, s] = queries.position(row);
    const auto forward = reference::forward_row(p, operands, b, n, s);
    softmax_max[at(row)] = forward.softmax_max;
    softmax_sum[at(row)] = forward.softmax_sum;
    std::ranges::copy(forward.out, out.begin() + row * queries.dim);
  });
  attention::disturb_statistics(c.profile, p.dtype, queries, softmax_sum);
  inputs.softmax_max = sparse_flash::statistics_tensor(t.softmax_max, p, softmax_max);
  inputs.softmax_sum = sparse_flash::statistics_tensor(t.softmax_sum, p, softmax_sum);
  inputs.out = head_tensor(t.out, p.layout, queries, out);
  return inputs;
}

}  // namespace assay::conformance
