#include "operators/attention/position.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

/// Returns whether the position bias (pse) has one axis, a shape that the vendor's host code
/// accepts but the documentation page of entry point u1 does not list.
bool is_taken_only(const FlashCall& c) {
  return is_packed_pse_of(c, {PseShape::packed_bn1s, PseShape::packed_bnss});
}

FlashRequirement pse_type_of_u3() {
  return stated(by("FAG-C77", {rope_page, "constraints"}, {}, u3_page),
                {.statement = "pseType is 0 or 1.",
                 .applies = takes_ropes,
                 .holds =
                     [](const FlashCall& c) {
                       return !takes_ropes(c) || c.attributes.pse_type == 0 ||
                              c.attributes.pse_type == 1;
                     },
                 .violations = {{"negative",
                                 [](FlashCall& c) {
                                   if (takes_ropes(c)) c.attributes.pse_type = -1;
                                 }},
                                {"two",
                                 [](FlashCall& c) {
                                   if (takes_ropes(c)) c.attributes.pse_type = 2;
                                 }},
                                {"four", [](FlashCall& c) {
                                   if (takes_ropes(c)) c.attributes.pse_type = 4;
                                 }}}});
}

FlashRequirement disputed_pse_type_of_u3() {
  return stated(
      by(Standing::disputed, "FAG-C77a", {rope_page, "parameters"}, "FAG-Q7"),
      {.statement =
           "pseType 0 is allowed by the constraints, and refused by the table and the host code.",
       .sides = {Side::reject},
       .applies = takes_ropes,
       .holds = [](const FlashCall& c) { return !takes_ropes(c) || c.attributes.pse_type != 0; },
       .violations = {{"zero", [](FlashCall& c) {
                         if (takes_ropes(c)) c.attributes.pse_type = 0;
                       }}}});
}

FlashRequirement listed_pse_shapes() {
  return stated(
      by("FAG-C79a", {unpadding_page, "parameters"}, "FAG-Q17", u1_page),
      {.statement = "pseShift of packed sequences may be [B,N,S,S], [B,N,1,S] or [1,N,S,S].",
       .sides = {Side::accept},
       .applies = [](const FlashCall& c) { return is_u1(c) && is_listed_only(c); }});
}

/// Forbids shapes of a packed position bias that the documentation page does not list. Requirement
/// FAG-C79d checks the shape that the page of entry point u2 lists.
FlashRequirement packed_pse_shapes() {
  static constexpr auto is_beside_the_page = [](const FlashCall& c) {
    return is_u2(c) ? is_packed_pse_of(c, {PseShape::packed_bn1s}) : is_taken_only(c);
  };
  return stated(
      by(Standing::open, "FAG-C79b", {unpadding_page, "parameters"}, "FAG-Q17", u1_page,
         public_pages),
      {.statement =
           "pseShift of packed sequences has more than one axis; the host code also accepts [N*T2] "
           "and [N*sum of Sq*Skv], which contain one sequence after the other.",
       .sides = {Side::reject},
       .applies = [](const FlashCall& c) { return is_packed(c) && pse_can_be_judged(c); },
       .holds = [](const FlashCall& c) { return !is_beside_the_page(c); },
       .violations = {{"keys", [](FlashCall& c) { replace_packed_pse(c, PseShape::packed_bn1s); }},
                      {"scores", [](FlashCall& c) {
                         if (!is_u2(c)) replace_packed_pse(c, PseShape::packed_bnss);
                       }}}});
}

FlashRequirement pse_sequence_after_sequence() {
  return stated(
      by(Standing::page, "FAG-C79d", {upstream_second_unpadding_page, "pseShift"}, "FAG-Q17", {},
         u2_page),
      {.statement = "pseShift may be [N*sum of Sq*Skv], which contains one sequence after the "
                    "other.",
       .sides = {Side::accept},
       .applies = [](const FlashCall& c) {
         return is_u2(c) && is_packed_pse_of(c, {PseShape::packed_bnss});
       }});
}

/// Requires Sq = Skv if packed sequences have a compressed position bias. Requirement FAG-C75
/// checks sparse mode 8; FAG-C82 and TND-2a check empty sequences.
FlashRequirement compressed_pse_of_unequal_lengths() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_packed(c) && is_compressed(c) && !masked_in_mode(c, 8) &&
           !has_empty_length(*query_as_given(c)) && !has_empty_length(*key_as_given(c));
  };
  return stated(
      by(Standing::disputed, "FAG-C81a", {upstream_fourth_unpadding_page, "pseShift"}),
      {.statement =
           "A pseShift of 1024 rows for packed sequences needs Sq = Skv; only the pages of the "
           "padded entry points say so.",
       .sides = {Side::reject},
       .applies = concerned,
       .holds = [](const FlashCall& c) { return !concerned(c) || has_equal_lengths(c); },
       .violations = {{"lengths", [](FlashCall& c) {
                         if (is_packed(c)) attach_unequal_compressed_pse(c);
                       }}}});
}

bool may_be_compressed(const FlashCall& c) {
  return (is_packed(c) || has_equal_lengths(c)) && is_causal(c);
}

}  // namespace

std::vector<FlashRequirement> position_requirements() {
  return {
      pse_type_range<FlashOp>(by(Standing::page, "FAG-C76", {upstream_page, "pseType"},
                                 "FAG-Q19, FAG-Q23, FAG-Q35", {}, u2_page)),
      pse_type_of_u3(),
      disputed_pse_type_of_u3(),
      pse_type_without_pse<FlashOp>(by(
          Standing::page, "FAG-C78", {upstream_second_unpadding_page, "pseType"}, {}, {}, u2_page)),
      pse_shapes<FlashOp>(by("FAG-C79", {unpadding_page, "parameters"}, "FAG-Q37", u1_page)),
      listed_pse_shapes(),
      packed_pse_shapes(),
      unlisted_pse_shapes<FlashOp, is_of_public_page>(
          by(Standing::page, "FAG-C79c", {upstream_second_unpadding_page, "pseShift"}, "FAG-Q17",
             {}, public_pages)),
      pse_sequence_after_sequence(),
      slopes_need_equal_lengths<FlashOp, is_padded<FlashOp>>(
          by("FAG-C80", {operator_page, "constraints"}, {}, g2_page)),
      compressed_pse_is_causal<FlashOp, may_be_compressed, is_padded<FlashOp>>(
          by(Standing::upstream, "FAG-C81", {upstream_page, "pseShift"}, "FAG-Q18")),
      compressed_pse_of_unequal_lengths()};
}

}  // namespace assay::spec::detail
