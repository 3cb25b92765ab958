#include <algorithm>

#include "assay/conformance/attention/forward.hpp"
#include "assay/conformance/inputs/random.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/parallel/loop.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"
#include "attention/flash/draw.hpp"
#include "attention/flash/statistics_index.hpp"
#include "attention/profiles.hpp"
#include "attention/statistics.hpp"
#include "attention/variant/variant.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using spec::HeadIndex;
using spec::Tensor;

Tensor statistics(const spec::Parameter& parameter, const Op::Problem& p,
                  const std::vector<double>& rows) {
  Tensor tensor = guarded_tensor(parameter);
  const flash::StatisticsIndex at(tensor, p);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::int64_t first = at(static_cast<std::int64_t>(row));
    for (std::int64_t k = 0; k < spec::statistics_replicas; ++k)
      tensor.store(first + k * tensor.strides.back(), rows[row]);
  }
  return tensor;
}

/// Sets the softmax statistics of query rows without keys in packed sequences. The seed of the case
/// selects the values.
void draw_keyless(const Case<Op>& c, reference::Forward<double>& forward) {
  const spec::Extents rows = query_extents(c.problem);
  for (std::int64_t b = 0; b < c.problem.batch; ++b) {
    if (c.problem.length_kv(b) > 0 || c.problem.has_sink()) continue;
    const auto [max, sum] = attention::dead_statistics_of(c.problem, b, c.seed);
    const std::int64_t first = rows.row(b, 0, 0), count = rows.heads * rows.length(b);
    std::fill_n(forward.softmax_max.begin() + first, count, max);
    std::fill_n(forward.softmax_sum.begin() + first, count, sum);
  }
}

/// Returns a tensor with these values. `values` has the shape (row, dim); its rows are in the order
/// of Extents::row.
Tensor heads_of(const spec::Parameter& parameter, const Op::Problem& p,
                const std::vector<double>& values) {
  Tensor tensor = guarded_tensor(parameter);
  const spec::Extents e = dy_extents(p);
  const HeadIndex at(tensor, p.input_layout, e);
  parallel::for_each(e.batch * e.heads, [&](std::int64_t head) {
    const std::int64_t b = head / e.heads, n = head % e.heads, length = e.length(b);
    for (std::int64_t s = 0; s < length; ++s)
      for (std::int64_t d = 0; d < e.dim; ++d)
        tensor.store(at(b, n, s, d), values[static_cast<std::size_t>(e.row(b, n, s) * e.dim + d)]);
  });
  return tensor;
}

}  // namespace

void Suite<Op>::add_outputs(const Case<Op>& c, Op::Outputs& outputs) {
  const auto variant = attention::variant_of(c.variant, c.problem);
  if (variant != nullptr && !variant->gradients().empty())
    outputs.dformula = poisoned_tensor({.present = true,
                                        .dtype = spec::DType::fp32,
                                        .shape = {variant->gradient_size()},
                                        .strides = {1}});
  const auto part = part_of(c.part);
  if (!part) return;
  const auto call = spec::call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  visit_fields(outputs, [&](std::string_view name, auto& member) {
    if (!part->sums_to(name)) return;
    visit_fields(call.parameters, [&]<class Described>(std::string_view own, const Described& p) {
      if constexpr (std::same_as<Described, spec::Parameter>) {
        if (own != name || !p.present) return;
        spec::Parameter sum = p;
        sum.dtype = spec::DType::fp32;
        member = poisoned_tensor(sum);
      }
    });
  });
}

Op::Inputs Suite<Op>::draw(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  const auto call = spec::call_of(p, c.entry_point, c.product, c.inputs, c.outputs);
  const Op::Parameters& t = call.parameters;
  Op::Inputs inputs;
  flash::fill_inputs(c, t, inputs);
  inputs.dy = flash::filled(t.dy, c, dy_extents(p), Stream::dy);
  const auto variant = attention::variant_of(c.variant, p);
  if (p.has_sink())
    inputs.sink = flash::sink_of(t.sink, p, c.patterns.sink_size, c.seed,
                                 blocked_forward(p, inputs, 0, variant.get()).softmax_max);
  auto forward = blocked_forward(p, inputs, 0, variant.get());
  attention::disturb_statistics(c.profile, p.dtype, query_extents(p), forward.softmax_sum);
  draw_keyless(c, forward);
  inputs.softmax_max = statistics(t.softmax_max, p, forward.softmax_max);
  inputs.softmax_sum = statistics(t.softmax_sum, p, forward.softmax_sum);
  inputs.attention_in = heads_of(t.attention_in, p, forward.attention_out);
  return inputs;
}

}  // namespace assay::conformance
