#include <algorithm>

#include "flash_attention_score_grad_rows.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

bool has_query_extents(const FlashCall& c) { return query_as_given(c).has_value(); }
bool has_value_extents(const FlashCall& c) { return value_as_given(c).has_value(); }
bool has_key_extents(const FlashCall& c) { return key_as_given(c).has_value(); }

std::size_t rank_of(Layout layout) { return merges_heads(layout) ? 3 : 4; }

/// Whether key and value differ in their head size only, and dy from query in its last axis only,
/// which is value's.
bool operands_agree(const FlashCall& c) {
  const auto query = query_as_given(c);
  const auto key = key_as_given(c);
  if (!key) return true;
  const auto value = value_as_given(c);
  if (!value || value->heads != key->heads || value->seq != key->seq) return false;
  const Layout layout = *layout_of(c);
  const std::int64_t batch = batch_of(c.parameters.dy, layout);  // FAG-C33 has the batches
  return c.parameters.dy.shape == shape_of(layout, {batch, query->heads, query->seq, value->dim});
}

/// One head more, or where heads are merged a size that is no multiple of the heads.
void miscount_value_heads(FlashCall& call) {
  const auto problem = problem_of(call);
  if (!problem) return;
  if (!merges_heads(problem->input_layout)) {
    resize(call, {&P::value, &P::dv}, [](Extents& e) { ++e.heads; });
    return;
  }
  if (problem->heads_kv == 1) return;
  Shape shape = call.parameters.value.shape;
  ++shape.back();
  reshape(call.parameters.value, shape);
  reshape(call.parameters.dv, shape);
}

/// A head size of key unlike query's, or where heads are merged no multiple of query's.
void widen_key(FlashCall& call) {
  const auto problem = problem_of(call);
  if (!problem) return;
  if (merges_heads(problem->input_layout) && problem->head_dim == 1) return;
  Shape shape = call.parameters.key.shape;
  ++shape.back();
  reshape(call.parameters.key, shape);
  reshape(call.parameters.dk, shape);
}

/// The next number that heads of query cannot be: where they are merged, no divisor of the hidden
/// size.
void miscount_heads(FlashCall& call) {
  const auto layout = layout_of(call);
  if (!layout || !ranks_fit(call)) return;
  std::int64_t& heads = call.attributes.head_num;
  do ++heads;
  while (merges_heads(*layout) && call.parameters.query.shape.back() % heads == 0);
}

FlashRow known_layout() {
  return {
      .id = "FAG-C30",
      .statement = "inputLayout is BSH, SBH, BSND or BNSD, in capitals.",
      .source = {operator_page, "constraints"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .applies = [](const FlashCall& c) { return c.attributes.input_layout.has_value(); },
      .holds = [](const FlashCall& c) { return !c.attributes.input_layout || layout_of(c); },
      .violations = {{"lower_case", [](FlashCall& c) { c.attributes.input_layout = "bnsd"; }},
                     {"tnd", [](FlashCall& c) { c.attributes.input_layout = "TND"; }},
                     {"trailing_space", [](FlashCall& c) { c.attributes.input_layout = "BSND "; }},
                     {"unknown", [](FlashCall& c) { c.attributes.input_layout = "BHSD"; }},
                     {"empty", [](FlashCall& c) { c.attributes.input_layout = ""; }}}};
}

FlashRow ranks() {
  return {.id = "FAG-C32",
          .statement = "The laid out tensors have as many axes as inputLayout has letters.",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = [](const FlashCall& c) { return layout_of(c).has_value(); },
          .holds =
              [](const FlashCall& c) {
                const auto layout = layout_of(c);
                if (!layout) return true;
                return std::ranges::all_of(laid_out_tensors, [&](FlashMember member) {
                  const Parameter& parameter = c.parameters.*member;
                  // FAG-C03 has an attentionIn of rank 0.
                  if (member == &P::attention_in && !given(parameter)) return true;
                  return !parameter.present || parameter.shape.size() == rank_of(*layout);
                });
              },
          .violations = {{"query", change_rank<&P::query>},
                         {"key", change_rank<&P::key>},
                         {"value", change_rank<&P::value>},
                         {"dy", change_rank<&P::dy>},
                         {"attention_in", change_rank<&P::attention_in>},
                         {"dq", change_rank<&P::dq>},
                         {"dk", change_rank<&P::dk>},
                         {"dv", change_rank<&P::dv>}}};
}

FlashRow one_batch_size() {
  return {
      .id = "FAG-C33",
      .statement = "query, keyIn, value and dy have one batch size.",
      .source = {unpadding_page, "constraints"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .applies = ranks_fit,
      .holds =
          [](const FlashCall& c) {
            if (!ranks_fit(c)) return true;
            const P& p = c.parameters;
            const std::int64_t batch = batch_of(p.query, *layout_of(c));
            return std::ranges::all_of(
                std::initializer_list<FlashMember>{&P::key, &P::value, &P::dy},
                [&](FlashMember member) { return batch_of(p.*member, *layout_of(c)) == batch; });
          },
      .violations = {
          {"key",
           [](FlashCall& c) {
             resize(c, {&P::key, &P::dk}, [](Extents& e) { ++e.batch; });
           }},
          {"value",
           [](FlashCall& c) {
             resize(c, {&P::value, &P::dv}, [](Extents& e) { ++e.batch; });
           }},
          {"dy", [](FlashCall& c) { resize(c, {&P::dy}, [](Extents& e) { ++e.batch; }); }}}};
}

FlashRow one_head_size() {
  return {.id = "FAG-C34",
          .statement = "query and keyIn have one head size.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = has_query_extents,
          .holds =
              [](const FlashCall& c) {
                const auto query = query_as_given(c);
                if (!query || query->dim == 0) return true;
                const std::int64_t last = c.parameters.key.shape.back();
                return merges_heads(*layout_of(c)) ? last % query->dim == 0 : last == query->dim;
              },
          .violations = {{"key", widen_key}}};
}

FlashRow narrow_value() {
  return {.id = "FAG-C35",
          .statement = "The head size of value is at most that of keyIn.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = has_value_extents,
          .holds =
              [](const FlashCall& c) {
                const auto value = value_as_given(c);
                return !value || value->dim <= key_as_given(c)->dim;
              },
          .violations = {{"value", [](FlashCall& c) {
                            rewrite(c, [](FlashProblem& p) { p.head_dim_v = p.head_dim + 1; });
                          }}}};
}

FlashRow operands_in_step() {
  return {
      .id = "FAG-C36",
      .statement =
          "keyIn and value differ in their head size only; dy has query's shape but for the last "
          "axis, which follows value.",
      .source = {unpadding_page, "constraints"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .applies = has_key_extents,
      .holds = operands_agree,
      .violations = {
          {"value_seq",
           [](FlashCall& c) {
             resize(c, {&P::value, &P::dv}, [](Extents& e) { ++e.seq; });
           }},
          {"value_heads", miscount_value_heads},
          {"dy_seq", [](FlashCall& c) { resize(c, {&P::dy}, [](Extents& e) { ++e.seq; }); }},
          {"dy_heads", [](FlashCall& c) { resize(c, {&P::dy}, [](Extents& e) { ++e.heads; }); }},
          {"dy_dim", [](FlashCall& c) { resize(c, {&P::dy}, [](Extents& e) { ++e.dim; }); }}}};
}

FlashRow grouped_heads() {
  return {.id = "FAG-C37",
          .statement = "The heads of query are a positive multiple of those of keyIn and value.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = has_key_extents,
          .holds =
              [](const FlashCall& c) {
                const auto query = query_as_given(c);
                const auto key = key_as_given(c);
                if (!key || key->heads == 0) return true;
                return query->heads >= key->heads && query->heads % key->heads == 0;
              },
          .violations = {{"more_key_heads",
                          [](FlashCall& c) {
                            rewrite(c, [](FlashProblem& p) { p.heads_kv = p.heads_q + 1; });
                          }},
                         {"no_divisor", [](FlashCall& c) {
                            rewrite(c, [](FlashProblem& p) {
                              p.heads_q = 3;
                              p.heads_kv = 2;
                            });
                          }}}};
}

FlashRow head_num() {
  return {.id = "FAG-C38",
          .statement = "headNum is positive and the number of heads of query.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
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
                                            : query_as_given(c)->heads == heads;
              },
          .violations = {{"zero", [](FlashCall& c) { c.attributes.head_num = 0; }},
                         {"negative", [](FlashCall& c) { c.attributes.head_num = -1; }},
                         {"mismatch", miscount_heads}}};
}

template <FlashMember member>
void resize_seq(FlashCall& call) {
  resize(call, {member}, [](Extents& e) { ++e.seq; });
}

/// Changes the shape of statistics (batch, heads, seq, 8).
template <FlashMember member>
void swap_heads_and_rows(FlashCall& call) {
  Shape shape = (call.parameters.*member).shape;
  if (shape.size() == 4) std::swap(shape[1], shape[2]);
  reshape(call.parameters.*member, shape);
}
template <FlashMember member>
void keep_one_replica(FlashCall& call) {
  Shape shape = (call.parameters.*member).shape;
  if (!shape.empty()) shape.back() = 1;
  reshape(call.parameters.*member, shape);
}

bool statistics_fit(const FlashCall& c) {
  const auto query = query_as_given(c);
  if (!query) return true;
  const Shape expected = {query->batch, query->heads, query->seq, statistics_replicas};
  const P& p = c.parameters;
  return (!given(p.softmax_max) || p.softmax_max.shape == expected) &&
         (!given(p.softmax_sum) || p.softmax_sum.shape == expected);
}

FlashRow statistics_shape() {
  return {.id = "FAG-C46",
          .statement = "softmaxMax and softmaxSum have shape [B, N, Sq, 8] in every layout.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = has_query_extents,
          .holds = statistics_fit,
          .violations = {{"softmax_max_replicas", keep_one_replica<&P::softmax_max>},
                         {"softmax_max_axes", swap_heads_and_rows<&P::softmax_max>},
                         {"softmax_sum_replicas", keep_one_replica<&P::softmax_sum>},
                         {"softmax_sum_rank", change_rank<&P::softmax_sum>}}};
}

/// FAG-Q20: the pages say "the shape of query", which cannot be where value's heads are narrower.
FlashRow attention_in_shape() {
  return {.id = "FAG-C47",
          .statement = "attentionIn has query's shape but for the last axis, which follows value.",
          .source = {upstream_tiling, "attentionIn checks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = has_value_extents,
          .holds =
              [](const FlashCall& c) {
                const auto query = query_as_given(c);
                const auto value = value_as_given(c);
                if (!value) return true;
                return c.parameters.attention_in.shape ==
                       shape_of(*layout_of(c),
                                {query->batch, query->heads, query->seq, value->dim});
              },
          .violations = {
              {"batch",
               [](FlashCall& c) { resize(c, {&P::attention_in}, [](Extents& e) { ++e.batch; }); }},
              {"seq", resize_seq<&P::attention_in>},
              {"dim",
               [](FlashCall& c) { resize(c, {&P::attention_in}, [](Extents& e) { ++e.dim; }); }}}};
}

FlashRow output_shapes() {
  return {.id = "FAG-C48",
          .statement = "dqOut, dkOut and dvOut have the shapes of query, keyIn and value.",
          .source = {operator_page, "parameters"},
          .standing = Standing::derived,
          .sides = {Side::accept, Side::reject},
          .applies = ranks_fit,
          .holds =
              [](const FlashCall& c) {
                if (!ranks_fit(c)) return true;
                const P& p = c.parameters;
                return p.dq.shape == p.query.shape && p.dk.shape == p.key.shape &&
                       p.dv.shape == p.value.shape;
              },
          .violations = {
              {"dq", resize_seq<&P::dq>}, {"dk", resize_seq<&P::dk>}, {"dv", resize_seq<&P::dv>}}};
}

}  // namespace

std::vector<FlashRow> shape_rows() {
  return {known_layout(),       ranks(),        one_batch_size(),
          one_head_size(),      narrow_value(), operands_in_step(),
          grouped_heads(),      head_num(),     statistics_shape(),
          attention_in_shape(), output_shapes()};
}

}  // namespace assay::spec::detail
