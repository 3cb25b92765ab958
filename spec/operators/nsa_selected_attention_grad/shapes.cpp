#include <algorithm>

#include "operators/nsa_selected_attention_grad/table.hpp"

namespace assay::spec::nsa::selection {
namespace {

using Op = SelectedOp;
using P = Op::Parameters;

enum : std::size_t { tokens, heads, dim };

/// Returns whether `members` have the extent of `model` along `axis`. Requirement NSAS-C12 checks
/// the ranks.
bool agree(const SelectedCall& c, Member<Op> model, std::initializer_list<Member<Op>> members,
           std::size_t axis) {
  if (!ranks_fit(c)) return true;
  return std::ranges::all_of(members, [&](Member<Op> member) {
    return (c.parameters.*member).shape[axis] == (c.parameters.*model).shape[axis];
  });
}

bool is_like(const SelectedCall& c, Member<Op> gradient, Member<Op> operand) {
  const Parameter& parameter = c.parameters.*gradient;
  return !parameter.present || parameter.shape == (c.parameters.*operand).shape;
}

/// Changes an operand together with its gradient, so that the call still satisfies NSAS-C37.
template <Member<Op> operand, Member<Op> gradient, std::size_t axis>
void grow_pair(SelectedCall& call) {
  grow(call.parameters.*operand, axis);
  grow(call.parameters.*gradient, axis);
}

constexpr auto operands = {&P::query, &P::key, &P::value};

bool three_or_four_axes(const SelectedCall& c, Member<Op> member) {
  const Parameter& operand = c.parameters.*member;
  return !operand.present || operand.shape.size() == 3 || operand.shape.size() == 4;
}

template <Member<Op> member>
void add_two_axes(SelectedCall& call) {
  add_axis<Op, member>(call);
  add_axis<Op, member>(call);
}

SelectedRow ranks() {
  return {
      .id = "NSAS-C12",
      .statement =
          "attentionOut, attentionOutGrad, softmaxMax, softmaxSum and topkIndices have three axes; "
          "query, key and value have three or four.",
      .source = {selected_page, "parameters"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .notes = "NSAS-Q8, NSAS-Q18",
      .applies = always<Op>,
      .holds =
          [](const SelectedCall& c) {
            return std::ranges::all_of(
                       operands,
                       [&](Member<Op> member) { return three_or_four_axes(c, member); }) &&
                   all_have_rank<Op>(c,
                                     {&P::attention_out, &P::attention_out_grad, &P::softmax_max,
                                      &P::softmax_sum, &P::topk_indices},
                                     3);
          },
      .violations = {{"query", add_two_axes<&P::query>},
                     {"key", add_two_axes<&P::key>},
                     {"value", add_two_axes<&P::value>},
                     {"attention_out", add_axis<Op, &P::attention_out>},
                     {"attention_out_grad", add_axis<Op, &P::attention_out_grad>},
                     {"softmax_max", add_axis<Op, &P::softmax_max>},
                     {"softmax_sum", add_axis<Op, &P::softmax_sum>},
                     {"topk_indices", add_axis<Op, &P::topk_indices>},
                     {"query_of_two", drop_axis<Op, &P::query>},
                     {"softmax_max_of_two", drop_axis<Op, &P::softmax_max>},
                     {"topk_indices_of_two", drop_axis<Op, &P::topk_indices>}}};
}

/// The only layout is TND, with three axes, but the documentation page says "3-4" in its column of
/// axes.
SelectedRow three_axes_of_operands() {
  return {.id = "NSAS-C12a",
          .statement = "query, key and value have three axes, like TND; the page also lists four.",
          .source = {selected_page, "parameters"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .notes = "NSAS-Q8",
          .applies = always<Op>,
          .holds =
              [](const SelectedCall& c) {
                return std::ranges::all_of(operands, [&](Member<Op> member) {
                  return !three_or_four_axes(c, member) || !(c.parameters.*member).present ||
                         (c.parameters.*member).shape.size() == 3;
                });
              },
          .violations = {{"query", add_axis<Op, &P::query>},
                         {"key", add_axis<Op, &P::key>},
                         {"value", add_axis<Op, &P::value>}}};
}

SelectedRow key_heads() {
  return {.id = "NSAS-C16",
          .statement = "key and value have the same number of heads.",
          .source = {selected_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = ranks_fit,
          .holds = [](const SelectedCall& c) { return agree(c, &P::key, {&P::value}, heads); },
          .violations = {{"value", grow_pair<&P::value, &P::dv, heads>}}};
}

SelectedRow query_heads() {
  return {.id = "NSAS-C17",
          .statement = "query, attentionOut and attentionOutGrad have the same number of heads.",
          .source = {selected_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = ranks_fit,
          .holds =
              [](const SelectedCall& c) {
                return agree(c, &P::query, {&P::attention_out, &P::attention_out_grad}, heads);
              },
          .violations = {{"attention_out", grow_one<Op, &P::attention_out, heads>},
                         {"attention_out_grad", grow_one<Op, &P::attention_out_grad, heads>}}};
}

SelectedRow value_head_size() {
  return {.id = "NSAS-C18",
          .statement = "value, attentionOut and attentionOutGrad have one head size.",
          .source = {selected_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = ranks_fit,
          .holds =
              [](const SelectedCall& c) {
                return agree(c, &P::value, {&P::attention_out, &P::attention_out_grad}, dim);
              },
          .violations = {{"attention_out", grow_one<Op, &P::attention_out, dim>},
                         {"attention_out_grad", grow_one<Op, &P::attention_out_grad, dim>}}};
}

SelectedRow query_head_size() {
  return {.id = "NSAS-C19",
          .statement = "query and key have one head size.",
          .source = {upstream_selected_forward, "constraints"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = ranks_fit,
          .holds = [](const SelectedCall& c) { return agree(c, &P::query, {&P::key}, dim); },
          .violations = {{"key", [](SelectedCall& c) {
                            if (!ranks_fit(c)) return;
                            const std::int64_t other =
                                c.parameters.query.shape[dim] == 192 ? -64 : 64;
                            grow(c.parameters.key, dim, other);
                            grow(c.parameters.dk, dim, other);
                          }}}};
}

SelectedRow statistics_shapes() {
  return selection::statistics_of_rows<Op>(
      {.id = "NSAS-C31",
       .statement = "softmaxMax and softmaxSum have the shape (T1, N1, 8).",
       .source = {selected_page, "constraints"},
       .standing = Standing::documented});
}

SelectedRow index_shape() {
  return selection::lists_of_blocks<Op>({.id = "NSAS-C32",
                                         .source = {selected_page, "constraints"},
                                         .standing = Standing::documented,
                                         .implies = {"NSAS-C35"}});
}

SelectedRow mask_rank() {
  return selection::mask_of_two_axes<Op>({.id = "NSAS-C36",
                                          .source = {selected_page, "parameters"},
                                          .standing = Standing::documented});
}

/// The documentation page says 2 in its column of axes. In the related operators a tensor without
/// axes counts as absent.
SelectedRow mask_without_axes() {
  return {.id = "NSAS-C36a",
          .statement =
              "attenMask has at least one axis; the host code never reads a mask without "
              "axes.",
          .source = {selected_page, "parameters"},
          .standing = Standing::open,
          .sides = {Side::reject},
          .applies = [](const SelectedCall& c) { return c.parameters.atten_mask.present; },
          .holds =
              [](const SelectedCall& c) {
                return !c.parameters.atten_mask.present || given(c.parameters.atten_mask);
              },
          .violations = {{"scalar", [](SelectedCall& c) {
                            if (given(c.parameters.atten_mask) || c.attributes.sparse_mode != 0)
                              return;
                            c.parameters.atten_mask = {.present = true, .dtype = DType::boolean};
                          }}}};
}

/// The documentation page does not list the shapes of the gradients; each gradient has the shape of
/// its input.
SelectedRow gradient_shapes() {
  return {.id = "NSAS-C37",
          .statement = "dqOut, dkOut and dvOut have the shapes of query, key and value.",
          .source = {selected_page, "formulas"},
          .standing = Standing::derived,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAS-Q1, NSAS-Q4",
          .applies = ranks_fit,
          .holds =
              [](const SelectedCall& c) {
                return !ranks_fit(c) ||
                       (is_like(c, &P::dq, &P::query) && is_like(c, &P::dk, &P::key) &&
                        is_like(c, &P::dv, &P::value));
              },
          .violations = {{"dq", grow_one<Op, &P::dq, tokens>},
                         {"dk", grow_one<Op, &P::dk, heads>},
                         {"dv", grow_one<Op, &P::dv, dim>}}};
}

}  // namespace

std::vector<SelectedRow> selected_shape_requirements() {
  return {ranks(),           three_axes_of_operands(), key_heads(),         query_heads(),
          value_head_size(), query_head_size(),        statistics_shapes(), index_shape(),
          mask_rank(),       mask_without_axes(),      gradient_shapes()};
}

}  // namespace assay::spec::nsa::selection
