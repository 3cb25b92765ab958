#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

bool has_query_extents(const FlashCall& c) { return query_as_given(c).has_value(); }
bool has_value_extents(const FlashCall& c) { return value_as_given(c).has_value(); }
bool has_key_extents(const FlashCall& c) { return key_as_given(c).has_value(); }

/// Returns whether key and value differ only in their head size, and dy differs from query only in
/// its last axis, which must have the size of value's.
bool operands_agree(const FlashCall& c) {
  const auto query = query_as_given(c);
  const auto key = key_as_given(c);
  if (!key || key->heads == 0) return true;  // FAG-C37 covers a key without heads
  const auto value = value_as_given(c);
  if (!value || value->heads != key->heads) return false;
  const P& p = c.parameters;
  Shape value_shape = with_head_size(c, p.key.shape, key->heads, value->dim);
  Shape dy_shape = with_head_size(c, p.query.shape, query->heads, value->dim);
  if (const auto batch = position_of(*layout_of(c), Axis::batch)) {  // FAG-C33 covers batch sizes
    value_shape[*batch] = p.value.shape[*batch];
    dy_shape[*batch] = p.dy.shape[*batch];
  }
  return p.value.shape == value_shape && p.dy.shape == dy_shape;
}

template <FlashMember member>
void drop_rope_axis(FlashCall& call) {
  if (has_rope(call.entry_point)) drop_axis<member>(call);
}
template <FlashMember member>
void add_rope_axis(FlashCall& call) {
  if (has_rope(call.entry_point)) add_axis<member>(call);
}

/// Returns whether the page of u1 lists the rank of this tensor in addition to 3, although TND
/// has three axes.
bool is_listed_rank(const FlashCall& c, const Parameter& parameter) {
  return is_packed_but_u3(c) && parameter.present &&
         (parameter.shape.empty() || parameter.shape.size() == 4);
}

/// Adds one head. If heads share an axis with the channels, sets a size of this axis that is not a
/// multiple of the heads.
void miscount_value_heads(FlashCall& call) {
  const auto problem = problem_of(call);
  if (!problem) return;
  if (!merges_heads(problem->input_layout)) {
    grow(call, {&P::value, &P::dv}, Axis::heads);
    return;
  }
  if (problem->heads_kv == 1) return;
  Shape shape = call.parameters.value.shape;
  ++shape.back();
  reshape(call.parameters.value, shape);
  reshape(call.parameters.dv, shape);
}

/// Gives key a head size that differs from query's. If heads share an axis with the channels, the
/// size of this axis is then not a multiple of query's head size.
void widen_key(FlashCall& call) {
  const auto problem = problem_of(call);
  if (!problem) return;
  if (merges_heads(problem->input_layout) && problem->head_dim == 1) return;
  Shape shape = call.parameters.key.shape;
  ++shape.back();
  reshape(call.parameters.key, shape);
  reshape(call.parameters.dk, shape);
}

/// Sets inputLayout, but only on the padded entry points or only on the packed ones.
template <bool packed>
void name_layout(FlashCall& call, std::string_view name) {
  if (is_packed(call) == packed) call.attributes.input_layout = name;
}

FlashRequirement padded_layout() {
  return {.id = "FAG-C30",
          .statement = "inputLayout is BSH, SBH, BSND or BNSD, in capitals.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = g_pages,
          .sides = {Side::accept, Side::reject},
          .applies = [](const FlashCall& c) { return is_padded(c) && c.attributes.input_layout; },
          .holds =
              [](const FlashCall& c) {
                return is_packed(c) || !c.attributes.input_layout || layout_of(c);
              },
          .violations = {{"lower_case", [](FlashCall& c) { name_layout<false>(c, "bnsd"); }},
                         {"tnd", [](FlashCall& c) { name_layout<false>(c, "TND"); }},
                         {"trailing_space", [](FlashCall& c) { name_layout<false>(c, "BSND "); }},
                         {"unknown", [](FlashCall& c) { name_layout<false>(c, "BHSD"); }},
                         {"empty", [](FlashCall& c) { name_layout<false>(c, ""); }}}};
}

FlashRequirement packed_layout() {
  return {.id = "FAG-C31",
          .statement = "inputLayout is TND, in capitals.",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .page_for = public_pages,
          .sides = {Side::accept, Side::reject},
          .applies = [](const FlashCall& c) { return is_packed(c) && c.attributes.input_layout; },
          .holds =
              [](const FlashCall& c) {
                return is_padded(c) || !c.attributes.input_layout || layout_of(c);
              },
          .violations = {{"lower_case", [](FlashCall& c) { name_layout<true>(c, "tnd"); }},
                         {"padded", [](FlashCall& c) { name_layout<true>(c, "BSND"); }},
                         {"trailing_space", [](FlashCall& c) { name_layout<true>(c, "TND "); }},
                         {"unknown", [](FlashCall& c) { name_layout<true>(c, "NTD"); }},
                         {"empty", [](FlashCall& c) { name_layout<true>(c, ""); }}}};
}

FlashRequirement ranks() {
  return {.id = "FAG-C32",
          .statement = "The tensors in inputLayout have as many axes as inputLayout has letters.",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .sides = {Side::accept, Side::reject},
          .applies = [](const FlashCall& c) { return layout_of(c).has_value(); },
          .holds =
              [](const FlashCall& c) {
                const auto layout = layout_of(c);
                if (!layout) return true;
                return std::ranges::all_of(
                    laid_out_tensors(c.entry_point), [&](FlashMember member) {
                      const Parameter& parameter = c.parameters.*member;
                      // FAG-C03 covers an attentionIn of rank 0.
                      if (member == &P::attention_in && !given(parameter)) return true;
                      return !parameter.present || parameter.shape.size() == rank_of(*layout) ||
                             is_listed_rank(c, parameter);
                    });
              },
          .violations = {{"query", drop_axis<&P::query>},
                         {"key", drop_axis<&P::key>},
                         {"value", drop_axis<&P::value>},
                         {"dy", drop_axis<&P::dy>},
                         {"attention_in", drop_axis<&P::attention_in>},
                         {"query_rope", drop_rope_axis<&P::query_rope>},
                         {"key_rope", add_rope_axis<&P::key_rope>},
                         {"dq", drop_axis<&P::dq>},
                         {"dk", drop_axis<&P::dk>},
                         {"dv", drop_axis<&P::dv>},
                         {"dq_rope", add_rope_axis<&P::dq_rope>},
                         {"dk_rope", drop_rope_axis<&P::dk_rope>}}};
}

FlashRequirement listed_ranks() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_packed_but_u3(c) && layout_of(c).has_value();
  };
  return {.id = "FAG-C32a",
          .statement =
              "The page's table lists ranks 0, 3 and 4 for the tensors in inputLayout, but TND has "
              "three axes.",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .notes = "FAG-Q5",
          .applies = concerned,
          .holds =
              [](const FlashCall& c) {
                return !concerned(c) ||
                       std::ranges::none_of(laid_out_tensors(c.entry_point),
                                            [&](FlashMember member) {
                                              return is_listed_rank(c, c.parameters.*member);
                                            });
              },
          .violations = {{"query_of_rank_4",
                          [](FlashCall& c) {
                            if (concerned(c)) add_axis<&P::query>(c);
                          }},
                         {"attention_in_of_rank_0", [](FlashCall& c) {
                            if (concerned(c)) make_scalar<&P::attention_in>(c);
                          }}}};
}

bool one_batch(const FlashCall& c) {
  const P& p = c.parameters;
  if (is_packed(c))
    return !p.actual_seq_qlen || !p.actual_seq_kvlen ||
           p.actual_seq_qlen->size() == p.actual_seq_kvlen->size();
  const std::size_t axis = *position_of(*layout_of(c), Axis::batch);
  return p.key.shape[axis] == p.query.shape[axis] && p.value.shape[axis] == p.query.shape[axis] &&
         p.dy.shape[axis] == p.query.shape[axis];
}

/// Adds an empty sequence to the query side only, or to the key side only.
void repeat_last(std::optional<std::vector<std::int64_t>>& sums) {
  if (sums && !sums->empty()) sums->push_back(sums->back());
}

FlashRequirement one_batch_size() {
  return {.id = "FAG-C33",
          .statement =
              "query, keyIn, value and dy have the same batch size; in TND actualSeqQLen and "
              "actualSeqKvLen have the same number of entries.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .sides = {Side::accept, Side::reject},
          .applies = ranks_fit,
          .holds = [](const FlashCall& c) { return !ranks_fit(c) || one_batch(c); },
          .violations = {
              {"key",
               [](FlashCall& c) {
                 grow(c, {&P::key, &P::dk}, Axis::batch);
               }},
              {"value",
               [](FlashCall& c) {
                 grow(c, {&P::value, &P::dv}, Axis::batch);
               }},
              {"dy", [](FlashCall& c) { grow(c, {&P::dy}, Axis::batch); }},
              {"lengths_q", [](FlashCall& c) { repeat_last(c.parameters.actual_seq_qlen); }},
              {"lengths_kv", [](FlashCall& c) { repeat_last(c.parameters.actual_seq_kvlen); }}}};
}

FlashRequirement one_head_size() {
  return {.id = "FAG-C34",
          .statement = "query and keyIn have one head size.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u_pages,
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

FlashRequirement narrow_value() {
  return {.id = "FAG-C35",
          .statement = "The head size of value is at most that of keyIn.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u1_page,
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

FlashRequirement one_width_on_u4() {
  return {.id = "FAG-C35a",
          .statement = "The head size of value is that of query.",
          .source = {upstream_fourth_unpadding_page, "constraints"},
          .standing = Standing::open,
          .page_for = u4_page,
          .sides = {Side::reject},
          .applies = [](const FlashCall& c) { return is_u4(c) && has_value_extents(c); },
          .holds =
              [](const FlashCall& c) {
                const auto value = value_as_given(c);
                return !is_u4(c) || !value || value->dim >= query_as_given(c)->dim;
              },
          .violations = {{"value", [](FlashCall& c) {
                            if (!is_u4(c)) return;
                            rewrite(c, [](FlashProblem& p) {
                              p.head_dim = 16;
                              p.head_dim_v = 8;
                            });
                          }}}};
}

FlashRequirement operands_in_step() {
  return {.id = "FAG-C36",
          .statement =
              "keyIn and value differ only in their head size; dy has query's shape except for the "
              "last axis, which has the size of value's last axis.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .sides = {Side::accept, Side::reject},
          .applies = has_key_extents,
          .holds = operands_agree,
          .violations = {{"value_seq",
                          [](FlashCall& c) {
                            grow(c, {&P::value, &P::dv}, Axis::seq);
                          }},
                         {"value_heads", miscount_value_heads},
                         {"dy_seq", [](FlashCall& c) { grow(c, {&P::dy}, Axis::seq); }},
                         {"dy_heads", [](FlashCall& c) { grow(c, {&P::dy}, Axis::heads); }},
                         {"dy_dim", [](FlashCall& c) { grow(c, {&P::dy}, Axis::dim); }}}};
}

}  // namespace

std::vector<FlashRequirement> shape_requirements() {
  return {padded_layout(), packed_layout(), ranks(),           listed_ranks(),    one_batch_size(),
          one_head_size(), narrow_value(),  one_width_on_u4(), operands_in_step()};
}

}  // namespace assay::spec::detail
