#include <algorithm>

#include "operators/nsa_selected_attention_grad/table.hpp"

namespace assay::spec::nsa::selection {
namespace {

using Op = SelectedOp;
using P = Op::Parameters;
using Row = SelectedRow;

enum : std::size_t { tokens, heads, dim };
constexpr std::int64_t most_heads = 128, most_blocks = 32;

constexpr auto operands = {&P::query, &P::key, &P::value};

constexpr bool is_head_size(std::int64_t dim) { return dim == 192 || dim == 128; }

bool is_like(const SelectedCall& c, Member<Op> gradient, Member<Op> operand) {
  const Parameter& parameter = c.parameters.*gradient;
  return !parameter.present || parameter.shape == (c.parameters.*operand).shape;
}

bool three_or_four_axes(const SelectedCall& c, Member<Op> member) {
  const Parameter& operand = c.parameters.*member;
  return !operand.present || operand.shape.size() == 3 || operand.shape.size() == 4;
}

template <Member<Op> member>
void add_two_axes(SelectedCall& call) {
  add_axis<Op, member>(call);
  add_axis<Op, member>(call);
}

/// Requires at least one axis of a mask. The documentation page says 2 in its column of axes. In
/// the related operators a tensor without axes counts as absent.
Row mask_without_axes() {
  Row row = contested(
      Standing::open,
      tested(stated("NSAS-C36a", parameters,
                    "attenMask has at least one axis; the host code never reads a mask without "
                    "axes."),
             [](const SelectedCall& c) {
               return !c.parameters.atten_mask.present || given(c.parameters.atten_mask);
             },
             {{"scalar", [](SelectedCall& c) {
                 if (given(c.parameters.atten_mask) || c.attributes.sparse_mode != 0) return;
                 c.parameters.atten_mask = {.present = true, .dtype = DType::boolean};
               }}}));
  row.applies = [](const SelectedCall& c) { return c.parameters.atten_mask.present; };
  return row;
}

std::vector<Row> ranks_and_shapes() {
  return {
      tested(stated("NSAS-C12", parameters,
                    "attentionOut, attentionOutGrad, softmaxMax, softmaxSum and topkIndices have "
                    "three axes; query, key and value have three or four axes.",
                    "NSAS-Q8, NSAS-Q18"),
             [](const SelectedCall& c) {
               return std::ranges::all_of(
                          operands, [&](Member<Op> one) { return three_or_four_axes(c, one); }) &&
                      all_have_rank<Op>(c,
                                        {&P::attention_out, &P::attention_out_grad, &P::softmax_max,
                                         &P::softmax_sum, &P::topk_indices},
                                        3);
             },
             {{"query", add_two_axes<&P::query>},
              {"key", add_two_axes<&P::key>},
              {"value", add_two_axes<&P::value>},
              {"attention_out", add_axis<Op, &P::attention_out>},
              {"attention_out_grad", add_axis<Op, &P::attention_out_grad>},
              {"softmax_max", add_axis<Op, &P::softmax_max>},
              {"softmax_sum", add_axis<Op, &P::softmax_sum>},
              {"topk_indices", add_axis<Op, &P::topk_indices>},
              {"query_of_two", drop_axis<Op, &P::query>},
              {"softmax_max_of_two", drop_axis<Op, &P::softmax_max>},
              {"topk_indices_of_two", drop_axis<Op, &P::topk_indices>}}),
      // The only layout is TND, with three axes, but the documentation page says "3-4" in its
      // column of axes.
      contested(
          Standing::disputed,
          tested(
              stated(
                  "NSAS-C12a", parameters,
                  "query, key and value have three axes, like TND; the page also lists four axes.",
                  "NSAS-Q8"),
              [](const SelectedCall& c) {
                return std::ranges::all_of(operands, [&](Member<Op> member) {
                  return !three_or_four_axes(c, member) || !(c.parameters.*member).present ||
                         (c.parameters.*member).shape.size() == 3;
                });
              },
              {{"query", add_axis<Op, &P::query>},
               {"key", add_axis<Op, &P::key>},
               {"value", add_axis<Op, &P::value>}})),
      limited(stated("NSAS-C16", limits, "key and value have the same number of heads."),
              [](const SelectedCall& c) { return agree(c, &P::key, {&P::value}, heads); },
              {{"value", grow_pair<&P::value, &P::dv, heads>}}),
      limited(stated("NSAS-C17", limits,
                     "query, attentionOut and attentionOutGrad have the same number of heads."),
              [](const SelectedCall& c) {
                return agree(c, &P::query, {&P::attention_out, &P::attention_out_grad}, heads);
              },
              {{"attention_out", grow_one<Op, &P::attention_out, heads>},
               {"attention_out_grad", grow_one<Op, &P::attention_out_grad, heads>}}),
      limited(stated("NSAS-C18", limits,
                     "value, attentionOut and attentionOutGrad have the same head size."),
              [](const SelectedCall& c) {
                return agree(c, &P::value, {&P::attention_out, &P::attention_out_grad}, dim);
              },
              {{"attention_out", grow_one<Op, &P::attention_out, dim>},
               {"attention_out_grad", grow_one<Op, &P::attention_out_grad, dim>}}),
      limited(coded("NSAS-C19", {upstream_selected_forward, limits},
                    "query and key have the same head size."),
              [](const SelectedCall& c) { return agree(c, &P::query, {&P::key}, dim); },
              {{"key",
                [](SelectedCall& c) {
                  if (!ranks_fit(c)) return;
                  const std::int64_t other = head_dim(c) == 192 ? -64 : 64;
                  grow(c.parameters.key, dim, other);
                  grow(c.parameters.dk, dim, other);
                }}}),
      statistics_of_rows<Op>(
          stated("NSAS-C31", limits, "softmaxMax and softmaxSum have the shape (T1, N1, 8).")),
      implying(lists_of_blocks<Op>(stated("NSAS-C32", limits)), {"NSAS-C35"}),
      mask_of_two_axes<Op>(stated("NSAS-C36", parameters)), mask_without_axes(),
      // The documentation page does not list the shapes of the gradients; each gradient has the
      // shape of its input.
      limited(of_standing(Standing::derived,
                          stated("NSAS-C37", "formulas",
                                 "dqOut, dkOut and dvOut have the shapes of query, key and value.",
                                 "NSAS-Q1, NSAS-Q4")),
              [](const SelectedCall& c) {
                return !ranks_fit(c) ||
                       (is_like(c, &P::dq, &P::query) && is_like(c, &P::dk, &P::key) &&
                        is_like(c, &P::dv, &P::value));
              },
              {{"dq", grow_one<Op, &P::dq, tokens>},
               {"dk", grow_one<Op, &P::dk, heads>},
               {"dv", grow_one<Op, &P::dv, dim>}})};
}

std::vector<Row> head_and_block_sizes() {
  return {
      // The documentation page says that the head sizes of "K and V may differ", but not which one
      // may be larger. The vendor's host code allows only one of the two orders.
      allowed(stated("NSAS-C20", limits,
                     "If the head size of query and key is 128, the head size of value may be 192.",
                     "NSAS-Q13"),
              [](const SelectedCall& c) {
                return ranks_fit(c) && is_head_size(head_dim(c)) && is_head_size(head_dim_v(c)) &&
                       head_dim(c) < head_dim_v(c);
              }),
      implying(limited(stated("NSAS-C21", limits,
                              "The head sizes of query, key and value are 192 or 128.", "NSAS-Q13"),
                       [](const SelectedCall& c) {
                         return !ranks_fit(c) || (is_head_size(head_dim(c)) &&
                                                  is_head_size(c.parameters.key.shape[dim]) &&
                                                  is_head_size(head_dim_v(c)));
                       },
                       {{"none", make_head_sizes<0, 128>},
                        {"no_value", make_head_sizes<192, 0>},
                        {"key", grow_pair<&P::key, &P::dk, dim>},
                        {"query_64", make_head_sizes<64, 128>},
                        {"query_256", make_head_sizes<256, 128>},
                        {"value_64", make_head_sizes<192, 64>},
                        {"value_160", make_head_sizes<192, 160>}}),
               {"NSAS-C19"}),
      limited(
          stated(
              "NSAS-C25", limits,
              "query has 1 to 128 heads; this number is a multiple of the number of heads of key."),
          [](const SelectedCall& c) {
            return !ranks_fit(c) || (heads_q(c) >= 1 && heads_q(c) <= most_heads &&
                                     (heads_kv(c) < 1 || heads_q(c) % heads_kv(c) == 0));
          },
          {{"none", make_heads<0, 1>},
           {"too_many", make_heads<129, 43>},
           {"remainder", make_heads<3, 2>}},
          [](const SelectedCall& c) { return heads_q(c) == most_heads; }),
      // A call whose key has too many heads also violates another requirement: query has too many
      // heads, too, or the number of query heads is not a multiple of the number of key heads. If
      // key has 0 heads, the part of NSAS-C25 about groups does not apply.
      implying(limited(
                   stated("NSAS-C26", limits, "key has 1 to 128 heads."),
                   [](const SelectedCall& c) {
                     return !ranks_fit(c) || (heads_kv(c) >= 1 && heads_kv(c) <= most_heads);
                   },
                   {{"none", make_heads<1, 0>}, {"too_many", make_heads<129, 129>}},
                   [](const SelectedCall& c) { return heads_kv(c) == most_heads; }),
               {"NSAS-C25"}),
      small_groups<Op>(stated("NSAS-C27", limits)),
      // Requirement NSAS-C30 checks a block size of 0, because no length is a multiple of 0.
      // Requirement NSAS-C32 checks negative counts, which cannot be extents.
      small_blocks<Op>(coded("NSAS-C34", {upstream_selected_tiling, "selected blocks"})),
      some_block<Op>(coded("NSAS-C35", {upstream_selected_tiling, "selected blocks"})),
      // The vendor's host code refuses a selectedBlockCount above 32. The documentation page does
      // not mention this limit; later editions say 128.
      allowed(
          of_standing(
              Standing::derived,
              stated("NSAS-C35a", limits,
                     "selectedBlockCount may be above 32: only the lengths of key limit it.",
                     "NSAS-Q20")),
          [](const SelectedCall& c) { return c.attributes.selected_block_count > most_blocks; })};
}

}  // namespace

std::vector<Row> selected_size_requirements() {
  std::vector<Row> all = ranks_and_shapes();
  std::ranges::move(head_and_block_sizes(), std::back_inserter(all));
  return all;
}

}  // namespace assay::spec::nsa::selection
