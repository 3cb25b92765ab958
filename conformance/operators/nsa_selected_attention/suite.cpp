#include "selection/suite.hpp"

#include "assay/conformance/case/unread_fields.hpp"
#include "assay/reference/nsa_selected_attention.hpp"
#include "attention/exact/exact_case.hpp"
#include "attention/plan/any_row.hpp"
#include "inputs/packed_rows.hpp"
#include "operators/nsa_selected_attention/basis.hpp"
#include "operators/nsa_selected_attention/relations/relations.hpp"
#include "operators/nsa_selected_attention/traits.hpp"
#include "selection/heads.hpp"
#include "selection/key_pattern.hpp"

namespace assay::conformance {

using Op = spec::NsaSelectedAttention;

namespace selection {

double Traits<Op>::memory(const Problem& p) {
  const double inputs =
      elements(query_extents(p)) + elements(key_extents(p)) + elements(value_extents(p));
  const double outputs = elements(attention_out_extents(p));
  const auto rows = static_cast<double>(query_extents(p).rows());
  const auto width = static_cast<double>(size_of(p.dtype));
  constexpr double borrowed = 2, sets = 3, of_double = 8, of_four = 4, element_list = 9;
  return inputs * (borrowed * width + of_double) + outputs * (sets * width + element_list) +
         rows * 2 * spec::statistics_replicas * sets * of_four +
         elements(topk_extents(p)) * (borrowed * of_four + 2 * of_double) +
         borrowed * mask_bytes(p);
}

Named<std::string_view> Traits<Op>::profiles() {
  return words({"normal", "peaked", "cancelling", "all_positive", "offset", "equal_values",
                "outliers", "large_exponent"});
}

std::vector<Exclusion> Traits<Op>::fruitless() {
  using K = Categories;
  const auto& of = factors<Op>();
  return {of.rule({Why::fruitless, "A row of an exact case attends to 1, 2, 4 or 8 entries."},
                  {"block_count", "lists", "track"},
                  [](const K& k) {
                    return k.track != Track::bound && k.lists == "all_equal" &&
                           k.block_count > BlockCount::few;
                  }),
          of.rule({Why::fruitless, "If a weight is rounded, the outputs are not exact."}, {"track"},
                  [](const K& k) { return k.track == Track::exact_staged; })};
}

template struct SuiteOf<Op>;

}  // namespace selection

template spec::Tensor make_topk_indices(const Case<Op>& c);
template std::optional<spec::Tensor> make_causal_mask(const Case<Op>& c);

template <>
std::vector<std::string> unread_fields(const Case<Op>& c) {
  return selection::unread_fields_of(c);
}

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
  return {.query = filled(t.query, query_extents(p), Stream::query),
          .key = filled(t.key, key_extents(p), Stream::key),
          .value = filled(t.value, value_extents(p), Stream::value),
          .topk_indices = make_topk_indices(c),
          .atten_mask = make_causal_mask(c)};
}

bool Suite<Op>::has_other_outputs(const Op::Problem& problem, const Op::Problem& changed,
                                  const Op::Inputs& inputs) {
  const auto row_of = [&](const Op::Problem& p, const spec::RowPosition& at) {
    const selection::Heads heads{at.b, at.n / p.group() * p.group(), p.group()};
    reference::SelectedForward<double> row;
    reference::NsaSelectedAttention<double>(
        selection::problem_of(p, heads), selection::forward_operands_of<double>(p, inputs, heads))
        .append_row(0, at.n % p.group(), at.s, row);
    return row.attention_out;
  };
  return attention::any_row(query_extents(problem), [&](auto b, auto n, auto s) {
    return row_of(problem, {b, n, s}) != row_of(changed, {b, n, s});
  });
}

selected_forward::ExactCase Suite<Op>::exact(const Case<Op>& c, const spec::Numerics& numerics,
                                             ExactPart part) {
  if (c.track == Track::exact_staged)
    throw NoExactCase(
        "track exact_staged does not exist for this operator: a rounded weight makes every "
        "sum inexact; use track exact");
  selected_forward::ExactCase result;
  result.inputs.topk_indices = make_topk_indices(c);
  result.inputs.atten_mask = make_causal_mask(c);
  const AttentionExactCase made = exact::attending(
      selection::dense_case(c), numerics,
      selection::ListPattern(c.problem, result.inputs.topk_indices), ExactPart::inputs);
  const Op::Parameters t = call_of(c).parameters;
  result.inputs.query = restrided(made.inputs.query, t.query);
  result.inputs.key = restrided(made.inputs.key, t.key);
  result.inputs.value = restrided(made.inputs.value, t.value);
  if (part == ExactPart::all)
    result.answer = exact::forward_answer(selected_forward::dense_of(c.problem, result.inputs),
                                          judged_of(query_extents(c.problem), c.rows, c.seed));
  return result;
}

std::vector<ExactTensor> Suite<Op>::exact_tensors(const selected_forward::ExactCase& exact_case,
                                                  const Op::Problem& p) {
  return exact::exact_tensors(exact_case.answer, p.head_dim_v);
}

}  // namespace assay::conformance
