#include "operators/attention/shapes.hpp"

#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

/// Returns whether key and value have the same shape except for the head size, and dy has the shape
/// of query except for the last axis, which must match value.
bool operands_agree(const FlashCall& c) {
  const auto key = key_as_given(c);
  if (!key || key->heads == 0) return true;  // FAG-C37 covers a key without heads
  if (!key_and_value_agree(c)) return false;
  const P& p = c.parameters;
  Shape dy_shape =
      with_head_size(c, p.query.shape, query_as_given(c)->heads, value_as_given(c)->dim);
  if (const auto batch = position_of(*layout_of(c), Axis::batch))  // FAG-C33 covers batch sizes
    dy_shape[*batch] = p.dy.shape[*batch];
  return p.dy.shape == dy_shape;
}

/// Returns whether the tensor has rank 0 or 4, which the documentation page of entry point u1 lists
/// in addition to 3, although TND has three axes.
bool is_listed_rank(const FlashCall& c, const Parameter& parameter) {
  return is_packed_but_u3(c) && parameter.present &&
         (parameter.shape.empty() || parameter.shape.size() == 4);
}

bool is_spared_rank(const FlashCall& c, FlashMember member) {
  const Parameter& parameter = c.parameters.*member;
  // Requirement FAG-C03 checks an attentionIn of rank 0.
  return (member == &P::attention_in && !given(parameter)) || is_listed_rank(c, parameter);
}

FlashRequirement listed_ranks() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_packed_but_u3(c) && layout_of(c).has_value();
  };
  return stated(
      by(Standing::disputed, "FAG-C32a", {unpadding_page, "parameters"}, "FAG-Q5"),
      {.statement =
           "The page's table lists ranks 0, 3 and 4 for the tensors in inputLayout, but TND has "
           "three axes.",
       .sides = {Side::reject},
       .applies = concerned,
       .holds =
           [](const FlashCall& c) {
             return !concerned(c) ||
                    std::ranges::none_of(TensorRoles<FlashOp>::laid_out(takes_ropes(c)),
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
                       }}}});
}

FlashRequirement one_batch_size_with_dy() {
  FlashRequirement requirement =
      one_batch_size<FlashOp>(by("FAG-C33", {unpadding_page, "constraints"}, {}, u_pages));
  requirement.violations.insert(requirement.violations.begin() + 2,
                                {"dy", [](FlashCall& c) { grow(c, {&P::dy}, Axis::batch); }});
  return requirement;
}

FlashRequirement one_width_on_u4() {
  return stated(by(Standing::open, "FAG-C35a", {upstream_fourth_unpadding_page, "constraints"}, {},
                   {}, u4_page),
                {.statement = "value and query have the same head size.",
                 .sides = {Side::reject},
                 .applies = [](const FlashCall& c) { return is_u4(c) && has_value_extents(c); },
                 .holds =
                     [](const FlashCall& c) {
                       const auto value = value_as_given(c);
                       return !is_u4(c) || !value || value->dim >= query_as_given(c)->dim;
                     },
                 .violations = {{"value", [](FlashCall& c) {
                                   if (!is_u4(c)) return;
                                   rewrite(c, [](AttentionProblem& p) {
                                     p.head_dim = 16;
                                     p.head_dim_v = 8;
                                   });
                                 }}}});
}

FlashRequirement operands_in_step_with_dy() {
  FlashRequirement requirement = operands_in_step<FlashOp>(worded<FlashOp>(
      by("FAG-C36", {unpadding_page, "constraints"}, {}, u_pages),
      "keyIn and value differ only in their head size; dy has query's shape except for the "
      "last axis, which has the size of value's last axis."));
  requirement.holds = operands_agree;
  requirement.violations.insert(requirement.violations.end(),
                                {{"dy_seq", [](FlashCall& c) { grow(c, {&P::dy}, Axis::seq); }},
                                 {"dy_heads", [](FlashCall& c) { grow(c, {&P::dy}, Axis::heads); }},
                                 {"dy_dim", [](FlashCall& c) { grow(c, {&P::dy}, Axis::dim); }}});
  return requirement;
}

}  // namespace

std::vector<FlashRequirement> shape_requirements() {
  return {padded_layout<FlashOp>(by("FAG-C30", {operator_page, "constraints"}, {}, g_pages)),
          packed_layout<FlashOp>(
              by("FAG-C31", {unpadding_page, "parameters"}, {}, u_pages, public_pages)),
          ranks<FlashOp, is_spared_rank>(by("FAG-C32", {unpadding_page, "parameters"}, {}, u_pages),
                                         {{"query", drop_axis<&P::query>},
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
                                          {"dk_rope", drop_rope_axis<&P::dk_rope>}}),
          listed_ranks(),
          one_batch_size_with_dy(),
          one_head_size<FlashOp>(by("FAG-C34", {unpadding_page, "constraints"}, {}, u_pages)),
          narrow_value<FlashOp>(by("FAG-C35", {unpadding_page, "constraints"}, {}, u1_page)),
          one_width_on_u4(),
          operands_in_step_with_dy()};
}

}  // namespace assay::spec::detail
