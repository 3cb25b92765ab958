#include <algorithm>
#include <utility>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

bool has_query_extents(const FlashCall& c) { return query_as_given(c).has_value(); }
bool has_value_extents(const FlashCall& c) { return value_as_given(c).has_value(); }
bool has_key_extents(const FlashCall& c) { return key_as_given(c).has_value(); }

/// Sets headNum to the next number that is illegal for query. If heads share an axis with the
/// channels, the number must not divide the hidden size.
void miscount_heads(FlashCall& call) {
  const auto layout = layout_of(call);
  if (!layout || !ranks_fit(call)) return;
  std::int64_t& heads = call.attributes.head_num;
  do ++heads;
  while (merges_heads(*layout) && call.parameters.query.shape.back() % heads == 0);
}

FlashRequirement grouped_heads() {
  return {
      .id = "FAG-C37",
      .statement = "The heads of query are a positive multiple of those of keyIn and value.",
      .source = {unpadding_page, "constraints"},
      .standing = Standing::documented,
      .stated_for = u_pages,
      .sides = {Side::accept, Side::reject},
      .applies = has_key_extents,
      .holds =
          [](const FlashCall& c) {
            const auto query = query_as_given(c);
            const auto key = key_as_given(c);
            if (!key) return true;
            return key->heads > 0 && query->heads >= key->heads && query->heads % key->heads == 0;
          },
      .violations = {
          {"no_key_heads",
           [](FlashCall& c) { rewrite(c, [](FlashProblem& p) { p.heads_kv = 0; }); }},
          {"more_key_heads",
           [](FlashCall& c) { rewrite(c, [](FlashProblem& p) { p.heads_kv = p.heads_q + 1; }); }},
          {"no_divisor", [](FlashCall& c) {
             rewrite(c, [](FlashProblem& p) {
               p.heads_q = 3;
               p.heads_kv = 2;
             });
           }}}};
}

FlashRequirement head_num() {
  return {.id = "FAG-C38",
          .statement = "headNum is positive and equals the number of heads of query.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .sides = {Side::accept, Side::reject},
          .applies = ranks_fit,
          .holds =
              [](const FlashCall& c) {
                if (!ranks_fit(c)) return true;
                const std::int64_t heads = c.attributes.head_num;
                if (heads <= 0) return false;
                const Layout layout = *layout_of(c);
                const Shape& query = c.parameters.query.shape;
                return merges_heads(layout) ? query.back() % heads == 0
                                            : query[*position_of(layout, Axis::heads)] == heads;
              },
          .violations = {{"zero", [](FlashCall& c) { c.attributes.head_num = 0; }},
                         {"negative", [](FlashCall& c) { c.attributes.head_num = -1; }},
                         {"mismatch", miscount_heads}}};
}

template <FlashMember member>
void grow_seq(FlashCall& call) {
  grow(call, {member}, Axis::seq);
}

std::optional<Shape> expected_statistics(const FlashCall& c) {
  const auto query = query_as_given(c);
  if (!query) return std::nullopt;
  if (is_packed(c)) return Shape{c.parameters.query.shape[0], query->heads, statistics_replicas};
  return Shape{query->batch, query->heads, query->seq, statistics_replicas};
}

/// Exchanges the axes of heads and queries, which precede the axis of replicas.
Shape with_heads_exchanged(Shape shape) {
  std::swap(shape[shape.size() - 3], shape[shape.size() - 2]);
  return shape;
}

/// Returns whether the entry point's page lists [N,T,8] in addition to [T,N,8].
bool lists_heads_first(const FlashCall& c) { return is_u3(c) || is_of_public_page(c); }

/// Returns whether the shape is [N,T,8]. The parameter tables of u2 and u3 list it, and their
/// constraints contradict it. The page of u4 lists both shapes and does not say which value of
/// softmaxInLayout needs which shape.
bool has_shape_of_table(const FlashCall& c, const Parameter& parameter) {
  const auto expected = expected_statistics(c);
  return lists_heads_first(c) && expected && parameter.shape != *expected &&
         parameter.shape == with_heads_exchanged(*expected);
}

/// Returns whether the shape is [B,N,S,8] on an entry point for packed sequences: the page of u1
/// lists ranks 0 and 4.
bool has_padded_shape(const FlashCall& c, const Parameter& parameter) {
  const auto query = query_as_given(c);
  return is_u1(c) && query &&
         parameter.shape == Shape{query->batch, query->heads, query->seq, statistics_replicas};
}

template <FlashMember member>
void exchange_heads_and_rows(FlashCall& call) {
  Parameter& parameter = call.parameters.*member;
  if (lists_heads_first(call) || parameter.shape.size() < 3) return;
  reshape(parameter, with_heads_exchanged(parameter.shape));
}

template <FlashMember member>
void keep_one_replica(FlashCall& call) {
  Shape shape = (call.parameters.*member).shape;
  if (!shape.empty()) shape.back() = 1;
  reshape(call.parameters.*member, shape);
}

bool statistics_fit(const FlashCall& c) {
  const auto expected = expected_statistics(c);
  if (!expected) return true;
  const auto fits = [&](const Parameter& parameter) {
    return !given(parameter) || parameter.shape == *expected || has_shape_of_table(c, parameter) ||
           has_padded_shape(c, parameter);
  };
  return fits(c.parameters.softmax_max) && fits(c.parameters.softmax_sum);
}

FlashRequirement statistics_shape() {
  return {.id = "FAG-C46",
          .statement =
              "softmaxMax and softmaxSum have shape [B, N, Sq, 8] in every padded layout and [T, "
              "N, 8] in TND.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .page_for = public_pages,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q4, FAG-Q5, CV-O4",
          .applies = has_query_extents,
          .holds = statistics_fit,
          .violations = {{"softmax_max_replicas", keep_one_replica<&P::softmax_max>},
                         {"softmax_max_axes", exchange_heads_and_rows<&P::softmax_max>},
                         {"softmax_sum_replicas", keep_one_replica<&P::softmax_sum>},
                         {"softmax_sum_rank", change_rank<&P::softmax_sum>}}};
}

FlashRequirement statistics_shape_of_table() {
  return {
      .id = "FAG-C46a",
      .statement =
          "softmaxMax and softmaxSum are not [N, T, 8], which the parameter table lists and "
          "the constraints contradict.",
      .source = {rope_page, "parameters"},
      .standing = Standing::disputed,
      .sides = {Side::reject},
      .notes = "FAG-Q3",
      .applies = [](const FlashCall& c) { return lists_heads_first(c) && has_query_extents(c); },
      .holds =
          [](const FlashCall& c) {
            return !has_shape_of_table(c, c.parameters.softmax_max) &&
                   !has_shape_of_table(c, c.parameters.softmax_sum);
          },
      .violations = {{"softmax_max_and_sum", [](FlashCall& c) {
                        if (!lists_heads_first(c)) return;
                        for (const FlashMember member : {&P::softmax_max, &P::softmax_sum}) {
                          Parameter& parameter = c.parameters.*member;
                          if (parameter.shape.size() == 3)
                            reshape(parameter, with_heads_exchanged(parameter.shape));
                        }
                      }}}};
}

FlashRequirement padded_statistics_shape() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_u1(c) && has_query_extents(c);
  };
  return {.id = "FAG-C46b",
          .statement =
              "The parameter table gives the statistics of packed sequences rank 4; the "
              "constraints give them the shape [T, N, 8].",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .notes = "FAG-Q5",
          .applies = concerned,
          .holds =
              [](const FlashCall& c) {
                return !concerned(c) || (!has_padded_shape(c, c.parameters.softmax_max) &&
                                         !has_padded_shape(c, c.parameters.softmax_sum));
              },
          .violations = {{"softmax_max_and_sum", [](FlashCall& c) {
                            if (!concerned(c)) return;
                            const auto query = query_as_given(c);
                            for (const FlashMember member : {&P::softmax_max, &P::softmax_sum})
                              reshape(c.parameters.*member, {query->batch, query->heads, query->seq,
                                                             statistics_replicas});
                          }}}};
}

/// Returns whether attentionIn has query's own shape although value is narrower. The words of the
/// pages allow this shape; their formula Y = P V excludes it.
bool is_literally_like_query(const FlashCall& c) {
  const auto value = value_as_given(c);
  return is_packed(c) && value && value->dim < query_as_given(c)->dim &&
         c.parameters.attention_in.shape == c.parameters.query.shape;
}

FlashRequirement attention_in_shape() {
  return {.id = "FAG-C47",
          .statement =
              "attentionIn has query's shape except for the last axis, which has the size "
              "of value's last axis.",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q20",
          .applies = has_value_extents,
          .holds =
              [](const FlashCall& c) {
                const auto query = query_as_given(c);
                const auto value = value_as_given(c);
                return !value || is_literally_like_query(c) ||
                       c.parameters.attention_in.shape ==
                           with_head_size(c, c.parameters.query.shape, query->heads, value->dim);
              },
          .violations = {{"batch", [](FlashCall& c) { grow(c, {&P::attention_in}, Axis::batch); }},
                         {"seq", grow_seq<&P::attention_in>},
                         {"dim", [](FlashCall& c) {
                            const auto query = query_as_given(c);
                            if (query && has_value_extents(c))
                              reshape(c.parameters.attention_in,
                                      with_head_size(c, c.parameters.query.shape, query->heads,
                                                     query->dim + 1));
                          }}}};
}

FlashRequirement attention_in_like_query() {
  return {
      .id = "FAG-C47a",
      .statement =
          "If value is narrower than query, the words of the pages give attentionIn the shape of "
          "query; their formula and the host code contradict this.",
      .source = {unpadding_page, "parameters"},
      .standing = Standing::disputed,
      .sides = {Side::reject},
      .notes = "FAG-Q20",
      .applies = [](const FlashCall& c) { return is_packed(c) && has_value_extents(c); },
      .holds = [](const FlashCall& c) { return !is_literally_like_query(c); },
      .violations = {{"attention_in", [](FlashCall& c) {
                        if (!is_packed(c)) return;
                        const auto value = value_as_given(c);
                        if (!value || value->dim >= query_as_given(c)->dim) return;
                        reshape(c.parameters.attention_in, c.parameters.query.shape);
                      }}}};
}

FlashRequirement output_shapes() {
  return {.id = "FAG-C48",
          .statement = "Every gradient has the shape of the input that it belongs to.",
          .source = {operator_page, "parameters"},
          .standing = Standing::derived,
          .sides = {Side::accept, Side::reject},
          .applies = ranks_fit,
          .holds =
              [](const FlashCall& c) {
                if (!ranks_fit(c)) return true;
                const P& p = c.parameters;
                return p.dq.shape == p.query.shape && p.dk.shape == p.key.shape &&
                       p.dv.shape == p.value.shape && p.dq_rope.shape == p.query_rope.shape &&
                       p.dk_rope.shape == p.key_rope.shape;
              },
          .violations = {{"dq", grow_seq<&P::dq>},
                         {"dk", grow_seq<&P::dk>},
                         {"dv", grow_seq<&P::dv>},
                         {"dq_rope", grow_seq<&P::dq_rope>},
                         {"dk_rope", grow_seq<&P::dk_rope>}}};
}

}  // namespace

std::vector<FlashRequirement> extent_requirements() {
  return {grouped_heads(),           head_num(),
          statistics_shape(),        statistics_shape_of_table(),
          padded_statistics_shape(), attention_in_shape(),
          attention_in_like_query(), output_shapes()};
}

}  // namespace assay::spec::detail
