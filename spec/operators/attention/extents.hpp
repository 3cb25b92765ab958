#pragma once

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

/// Sets headNum to the next number that is illegal for query. If heads and channels have a common
/// axis, this number does not divide the extent of the axis.
template <class Op>
void miscount_heads(Call<Op>& call) {
  const auto layout = layout_of(call);
  if (!layout || !ranks_fit(call)) return;
  std::int64_t& heads = call.attributes.head_num;
  do ++heads;
  while (merges_heads(*layout) && call.parameters.query.shape.back() % heads == 0);
}

template <class Op>
Requirement<Op> grouped_heads(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "The number of heads of query is a positive multiple of the number of "
                        "heads of keyIn and value.",
           .applies = has_key_extents,
           .holds =
               [](const Call<Op>& c) {
                 const auto query = query_as_given(c);
                 const auto key = key_as_given(c);
                 if (!key) return true;
                 return key->heads > 0 && query->heads >= key->heads &&
                        query->heads % key->heads == 0;
               },
           .violations = {
               {"no_key_heads",
                [](Call<Op>& c) { rewrite(c, [](AttentionProblem& p) { p.heads_kv = 0; }); }},
               {"more_key_heads",
                [](Call<Op>& c) {
                  rewrite(c, [](AttentionProblem& p) { p.heads_kv = p.heads_q + 1; });
                }},
               {"no_divisor", [](Call<Op>& c) {
                  rewrite(c, [](AttentionProblem& p) {
                    p.heads_q = 3;
                    p.heads_kv = 2;
                  });
                }}}});
}

template <class Op>
Requirement<Op> head_num(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "headNum is positive and equals the number of heads of query.",
           .applies = ranks_fit,
           .holds =
               [](const Call<Op>& c) {
                 if (!ranks_fit(c)) return true;
                 const std::int64_t heads = c.attributes.head_num;
                 if (heads <= 0) return false;
                 const Layout layout = *layout_of(c);
                 const Shape& query = c.parameters.query.shape;
                 return merges_heads(layout) ? query.back() % heads == 0
                                             : query[*position_of(layout, Axis::heads)] == heads;
               },
           .violations = {{"zero", [](Call<Op>& c) { c.attributes.head_num = 0; }},
                          {"negative", [](Call<Op>& c) { c.attributes.head_num = -1; }},
                          {"mismatch", miscount_heads}}});
}

template <auto member, class Op>
void grow_seq(Call<Op>& call) {
  grow(call, {member}, Axis::seq);
}

template <class Op>
std::optional<Shape> expected_statistics(const Call<Op>& c) {
  const auto query = query_as_given(c);
  if (!query) return std::nullopt;
  if (is_packed(c)) return Shape{c.parameters.query.shape[0], query->heads, statistics_replicas};
  return Shape{query->batch, query->heads, query->seq, statistics_replicas};
}

/// Exchanges the axis of heads and the axis of queries. The last axis of the statistics holds the
/// equal copies of each number.
inline Shape with_heads_exchanged(Shape shape) {
  std::swap(shape[shape.size() - 3], shape[shape.size() - 2]);
  return shape;
}

/// Returns whether the statistics have the shape [N,T,8] on an entry point whose documentation page
/// lists this shape in addition to [T,N,8].
template <auto lists_heads_first, class Op>
bool has_shape_of_table(const Call<Op>& c, const Parameter& parameter) {
  const auto expected = expected_statistics(c);
  return lists_heads_first(c) && expected && parameter.shape != *expected &&
         parameter.shape == with_heads_exchanged(*expected);
}

template <auto lists_heads_first, auto member, class Op>
void exchange_heads_and_rows(Call<Op>& call) {
  Parameter& parameter = call.parameters.*member;
  if (lists_heads_first(call) || parameter.shape.size() < 3) return;
  reshape(parameter, with_heads_exchanged(parameter.shape));
}

template <auto member, class Op>
void keep_one_replica(Call<Op>& call) {
  Shape shape = (call.parameters.*member).shape;
  if (!shape.empty()) shape.back() = 1;
  reshape(call.parameters.*member, shape);
}

/// Returns whether softmaxMax and softmaxSum have a documented shape. Accepts every tensor for
/// which `is_spared` returns true, because another requirement checks it.
template <auto lists_heads_first, auto is_spared, class Op>
bool statistics_fit(const Call<Op>& c) {
  const auto expected = expected_statistics(c);
  if (!expected) return true;
  const auto fits = [&](const Parameter& parameter) {
    return !given(parameter) || parameter.shape == *expected ||
           has_shape_of_table<lists_heads_first>(c, parameter) || is_spared(c, parameter);
  };
  return fits(c.parameters.softmax_max) && fits(c.parameters.softmax_sum);
}

template <class Op, auto lists_heads_first, auto is_spared>
Requirement<Op> statistics_shape(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement =
           "softmaxMax and softmaxSum have shape [B, N, Sq, 8] in every padded layout and [T, "
           "N, 8] in TND.",
       .applies = has_query_extents,
       .holds = statistics_fit<lists_heads_first, is_spared>,
       .violations = {{"softmax_max_replicas", keep_one_replica<&Op::Parameters::softmax_max>},
                      {"softmax_max_axes",
                       exchange_heads_and_rows<lists_heads_first, &Op::Parameters::softmax_max>},
                      {"softmax_sum_replicas", keep_one_replica<&Op::Parameters::softmax_sum>},
                      {"softmax_sum_rank", change_rank<&Op::Parameters::softmax_sum>}}});
}

template <class Op, auto lists_heads_first>
Requirement<Op> statistics_shape_of_table(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement = "softmaxMax and softmaxSum do not have the shape [N, T, 8]: the parameter "
                    "table lists this shape, but the constraints contradict it.",
       .sides = {Side::reject},
       .applies = [](const Call<Op>& c) { return lists_heads_first(c) && has_query_extents(c); },
       .holds =
           [](const Call<Op>& c) {
             return !has_shape_of_table<lists_heads_first>(c, c.parameters.softmax_max) &&
                    !has_shape_of_table<lists_heads_first>(c, c.parameters.softmax_sum);
           },
       .violations = {{"softmax_max_and_sum", [](Call<Op>& c) {
                         if (!lists_heads_first(c)) return;
                         for (const MemberOf<Op> member :
                              {&Op::Parameters::softmax_max, &Op::Parameters::softmax_sum}) {
                           Parameter& parameter = c.parameters.*member;
                           if (parameter.shape.size() == 3)
                             reshape(parameter, with_heads_exchanged(parameter.shape));
                         }
                       }}}});
}

/// Returns whether the output of attention has query's own shape although value is narrower. The
/// text of the documentation pages allows this shape; their formula Y = P V excludes it.
template <auto attention, class Op>
bool is_literally_like_query(const Call<Op>& c) {
  const auto value = value_as_given(c);
  return is_packed(c) && value && value->dim < query_as_given(c)->dim &&
         (c.parameters.*attention).shape == c.parameters.query.shape;
}

template <class Op, auto attention>
Requirement<Op> attention_shape(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement = "attentionIn has query's shape except for the last axis, which has the size "
                    "of value's last axis.",
       .applies = has_value_extents,
       .holds =
           [](const Call<Op>& c) {
             const auto query = query_as_given(c);
             const auto value = value_as_given(c);
             return !value || is_literally_like_query<attention>(c) ||
                    (c.parameters.*attention).shape ==
                        with_head_size(c, c.parameters.query.shape, query->heads, value->dim);
           },
       .violations = {{"batch", [](Call<Op>& c) { grow(c, {attention}, Axis::batch); }},
                      {"seq", grow_seq<attention>},
                      {"dim", [](Call<Op>& c) {
                         const auto query = query_as_given(c);
                         if (query && has_value_extents(c))
                           reshape((c.parameters.*attention),
                                   with_head_size(c, c.parameters.query.shape, query->heads,
                                                  query->dim + 1));
                       }}}});
}

template <class Op, auto attention>
Requirement<Op> attention_like_query(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement =
               "If value is narrower than query, the text of the pages says that attentionIn has "
               "the shape of query; the formula of the pages and the host code contradict this.",
           .sides = {Side::reject},
           .applies = [](const Call<Op>& c) { return is_packed(c) && has_value_extents(c); },
           .holds = [](const Call<Op>& c) { return !is_literally_like_query<attention>(c); },
           .violations = {{name_of<Op>(attention), [](Call<Op>& c) {
                             if (!is_packed(c)) return;
                             const auto value = value_as_given(c);
                             if (!value || value->dim >= query_as_given(c)->dim) return;
                             reshape((c.parameters.*attention), c.parameters.query.shape);
                           }}}});
}

}  // namespace assay::spec::detail
