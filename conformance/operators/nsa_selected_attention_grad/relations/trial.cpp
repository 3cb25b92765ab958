#include "operators/nsa_selected_attention_grad/relations/trial.hpp"

#include "inputs/packed_rows.hpp"
#include "operators/nsa_selected_attention_grad/dense.hpp"

namespace assay::conformance::selected {

Trial trial_of(const Op::Problem& problem, const Op::Inputs& inputs) {
  return {.problem = problem, .rows = reference::operands_of<double>(problem, inputs)};
}

Op::Inputs inputs_of(const Trial& t) {
  const Op::Problem& p = t.problem;
  Case<Op> c{.problem = p, .inputs = t.inputs, .outputs = t.outputs};
  const Op::Parameters call = call_of(c).parameters;
  const std::vector<double> lists(t.rows.topk_indices.begin(), t.rows.topk_indices.end());
  return {.query = packed_tensor(call.query, query_extents(p), t.rows.query),
          .key = packed_tensor(call.key, key_extents(p), t.rows.key),
          .value = packed_tensor(call.value, value_extents(p), t.rows.value),
          .attention_out =
              packed_tensor(call.attention_out, attention_out_extents(p), t.rows.attention_out),
          .attention_out_grad = packed_tensor(call.attention_out_grad, attention_out_extents(p),
                                              t.rows.attention_out_grad),
          .softmax_max = packed_statistics(call.softmax_max, query_extents(p), t.rows.softmax_max),
          .softmax_sum = packed_statistics(call.softmax_sum, query_extents(p), t.rows.softmax_sum),
          .topk_indices = packed_tensor(call.topk_indices, topk_extents(p), lists),
          .atten_mask = make_mask(c)};
}

bool is_same_run(const Trial& a, const Trial& b) {
  return a.problem == b.problem && a.inputs == b.inputs && a.outputs == b.outputs &&
         a.rows.query == b.rows.query && a.rows.key == b.rows.key && a.rows.value == b.rows.value &&
         a.rows.attention_out_grad == b.rows.attention_out_grad &&
         a.rows.softmax_max == b.rows.softmax_max && a.rows.softmax_sum == b.rows.softmax_sum &&
         a.rows.attention_out == b.rows.attention_out && a.rows.topk_indices == b.rows.topk_indices;
}

Gradients gradients_of(const Op::Problem& p, const Op::Outputs& outputs) {
  return flash::gradients_of(dense_problem(p), dense_outputs(outputs));
}

Trial rearranged(const Trial& base, const Op::Problem& p, const Origin& query, const Origin& key) {
  const Op::Problem& old = base.problem;
  const auto queries = [&](const std::vector<double>& rows, spec::Extents from, spec::Extents to) {
    return flash::gather(rows, from, to, query);
  };
  const auto keys = [&](const std::vector<double>& rows, spec::Extents from, spec::Extents to) {
    return flash::gather(rows, from, to, key);
  };
  spec::Extents one = query_extents(p), old_one = query_extents(old);
  one.dim = old_one.dim = 1;
  // The list of a key head is that of its group's first query head.
  const Origin list = [&](const spec::RowPosition& row) {
    const spec::RowPosition source = query({row.b, row.n * p.group(), row.s});
    return spec::RowPosition{source.b, source.n / old.group(), source.s};
  };
  return {
      .problem = p,
      .rows = {.query = queries(base.rows.query, query_extents(old), query_extents(p)),
               .key = keys(base.rows.key, key_extents(old), key_extents(p)),
               .value = keys(base.rows.value, value_extents(old), value_extents(p)),
               .attention_out_grad = queries(base.rows.attention_out_grad,
                                             attention_out_extents(old), attention_out_extents(p)),
               .softmax_max = queries(base.rows.softmax_max, old_one, one),
               .softmax_sum = queries(base.rows.softmax_sum, old_one, one),
               .attention_out = queries(base.rows.attention_out, attention_out_extents(old),
                                        attention_out_extents(p)),
               .topk_indices = flash::gather(base.rows.topk_indices, topk_extents(old),
                                             topk_extents(p), list)}};
}

}  // namespace assay::conformance::selected
