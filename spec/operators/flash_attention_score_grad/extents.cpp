#include "operators/attention/extents.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

/// Returns whether the documentation page of the entry point lists the shape [N,T,8] of the softmax
/// statistics in addition to [T,N,8].
bool lists_heads_first(const FlashCall& c) { return is_u3(c) || is_of_public_page(c); }

/// Returns whether statistics have the shape [B,N,S,8] on entry point u1, which is for packed
/// sequences. The documentation page of entry point u1 lists the ranks 0 and 4.
bool has_padded_shape(const FlashCall& c, const Parameter& parameter) {
  const auto query = query_as_given(c);
  return is_u1(c) && query &&
         parameter.shape == Shape{query->batch, query->heads, query->seq, statistics_replicas};
}

FlashRequirement padded_statistics_shape() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_u1(c) && has_query_extents(c);
  };
  return stated(
      by(Standing::disputed, "FAG-C46b", {unpadding_page, "parameters"}, "FAG-Q5"),
      {.statement = "The parameter table gives the statistics of packed sequences rank 4; the "
                    "constraints give them the shape [T, N, 8].",
       .sides = {Side::reject},
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
                           reshape(c.parameters.*member,
                                   {query->batch, query->heads, query->seq, statistics_replicas});
                       }}}});
}

FlashRequirement output_shapes() {
  return stated(by(Standing::derived, "FAG-C48", {operator_page, "parameters"}),
                {.statement = "Every gradient has the shape of the input that it belongs to.",
                 .applies = ranks_fit,
                 .holds =
                     [](const FlashCall& c) {
                       if (!ranks_fit(c)) return true;
                       const P& p = c.parameters;
                       return p.dq.shape == p.query.shape && p.dk.shape == p.key.shape &&
                              p.dv.shape == p.value.shape &&
                              (!given(p.dq_rope) || p.dq_rope.shape == p.query_rope.shape) &&
                              (!given(p.dk_rope) || p.dk_rope.shape == p.key_rope.shape);
                     },
                 .violations = {{"dq", grow_seq<&P::dq>},
                                {"dk", grow_seq<&P::dk>},
                                {"dv", grow_seq<&P::dv>},
                                {"dq_rope", grow_seq<&P::dq_rope>},
                                {"dk_rope", grow_seq<&P::dk_rope>}}});
}

}  // namespace

std::vector<FlashRequirement> extent_requirements() {
  return {grouped_heads<FlashOp>(by("FAG-C37", {unpadding_page, "constraints"}, {}, u_pages)),
          head_num<FlashOp>(by("FAG-C38", {unpadding_page, "constraints"}, {}, u_pages)),
          statistics_shape<FlashOp, lists_heads_first, has_padded_shape>(
              by("FAG-C46", {unpadding_page, "constraints"}, "FAG-Q4, FAG-Q5, CV-O4", u_pages,
                 public_pages)),
          statistics_shape_of_table<FlashOp, lists_heads_first>(
              by(Standing::disputed, "FAG-C46a", {rope_page, "parameters"}, "FAG-Q3")),
          padded_statistics_shape(),
          attention_shape<FlashOp, &P::attention_in>(
              by("FAG-C47", {unpadding_page, "parameters"}, "FAG-Q20", u_pages)),
          attention_like_query<FlashOp, &P::attention_in>(
              by(Standing::disputed, "FAG-C47a", {unpadding_page, "parameters"}, "FAG-Q20")),
          output_shapes()};
}

}  // namespace assay::spec::detail
