#include "attention/flash/suite.hpp"

#include <cstdint>
#include <iterator>
#include <vector>

#include "assay/conformance/attention/forward.hpp"
#include "assay/conformance/case/unread_fields.hpp"
#include "assay/parallel/loop.hpp"
#include "assay/reference/flash_attention_score.hpp"
#include "attention/flash/draw.hpp"
#include "attention/flash/unread_fields.hpp"
#include "attention/intermediates.hpp"
#include "attention/plan/any_row.hpp"
#include "operators/flash_attention_score/relations/relations.hpp"

namespace assay::conformance {

using Op = spec::FlashAttentionScore;

template struct flash::SuiteOf<Op>;

template <>
std::vector<std::string> unread_fields(const Case<Op>& c) {
  return flash::unread_fields_of(c);
}

Op::Inputs Suite<Op>::draw(const Case<Op>& c) {
  const auto call = call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  Op::Inputs inputs;
  flash::fill_inputs(c, call.parameters, inputs);
  if (!c.problem.has_sink()) return inputs;
  const spec::FlashAttentionScoreGrad::Inputs of_forward{.query = inputs.query,
                                                         .key = inputs.key,
                                                         .value = inputs.value,
                                                         .dy = {},
                                                         .softmax_max = {},
                                                         .softmax_sum = {},
                                                         .attention_in = {},
                                                         .atten_mask = inputs.atten_mask,
                                                         .pse_shift = inputs.pse_shift,
                                                         .drop_mask = inputs.drop_mask,
                                                         .query_rope = inputs.query_rope,
                                                         .key_rope = inputs.key_rope};
  inputs.sink = flash::sink_of(call.parameters.sink, c.problem, c.patterns.sink_size, c.seed,
                               blocked_forward(c.problem, of_forward).softmax_max);
  return inputs;
}

double Suite<Op>::multiply_adds(const Op::Problem& p) {
  return static_cast<double>(score_count(p)) *
         static_cast<double>(p.head_dim + p.head_dim_rope + p.head_dim_v);
}

bool Suite<Op>::has_other_outputs(const Op::Problem& problem, const Op::Problem& changed,
                                  const Op::Inputs& inputs) {
  using Oracle = reference::FlashAttentionScore<double>;
  const auto one = Oracle::from(problem, inputs), other = Oracle::from(changed, inputs);
  return attention::any_row(query_extents(problem), [&](auto... at) {
    const auto row = one.row(at...), others = other.row(at...);
    return row.softmax_max != others.softmax_max || row.softmax_sum != others.softmax_sum ||
           row.attention_out != others.attention_out;
  });
}

Intermediates Suite<Op>::intermediates(const Op::Problem& problem, const Op::Inputs& inputs) {
  const auto definition = reference::FlashAttentionScore<reference::Quad>::from(problem, inputs);
  const auto& scores = definition.scores();
  const auto number = [](const auto& x) { return static_cast<double>(x); };
  const spec::Extents queries = query_extents(problem);
  std::vector<reference::AttentionRow<reference::Quad>> rows(
      score_count(problem) <= most_pairs ? static_cast<std::size_t>(queries.rows()) : 0);
  parallel::for_each(std::ssize(rows), [&](std::int64_t row) {
    const auto [b, n, i] = queries.position(row);
    rows[static_cast<std::size_t>(row)] = definition.row(b, n, i);
  });
  const auto pair = [&](std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) {
    const auto& row = rows[static_cast<std::size_t>(queries.row(b, n, i))];
    const auto score = scores
                           .score({b, n, i, j}, scores.query_row(b, n, i),
                                  scores.key_row(b, n / problem.group(), j))
                           .score;
    const reference::Quad prob = exp(score - row.softmax_max) / row.softmax_sum;
    return PairNumbers{.score = number(score),
                       .prob = number(prob),
                       .dropped = number(prob * scores.dropout_factor({b, n, i, j})),
                       .dprob = 0,
                       .dscore = 0};
  };
  return intermediates_of({.queries = queries,
                           .keys = key_extents(problem),
                           .has_dropout = problem.has_dropout(),
                           .keeps = [&](auto... at) { return scores.mask().keeps(at...); },
                           .pair = pair,
                           .row_term = {}});
}

}  // namespace assay::conformance
