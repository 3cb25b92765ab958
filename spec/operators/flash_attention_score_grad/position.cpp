#include "operators/attention/position.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

/// Returns whether pse has a shape with one axis, which the host code accepts but the documentation
/// page of u1 does not list.
bool is_taken_only(const FlashCall& c) {
  return is_packed_pse_of(c, {PseShape::packed_bn1s, PseShape::packed_bnss});
}

FlashRequirement pse_type_of_u3() {
  return {.id = "FAG-C77",
          .statement = "pseType is 0 or 1.",
          .source = {rope_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u3_page,
          .sides = {Side::accept, Side::reject},
          .applies = is_u3,
          .holds =
              [](const FlashCall& c) {
                return !is_u3(c) || c.attributes.pse_type == 0 || c.attributes.pse_type == 1;
              },
          .violations = {{"negative",
                          [](FlashCall& c) {
                            if (is_u3(c)) c.attributes.pse_type = -1;
                          }},
                         {"two",
                          [](FlashCall& c) {
                            if (is_u3(c)) c.attributes.pse_type = 2;
                          }},
                         {"four", [](FlashCall& c) {
                            if (is_u3(c)) c.attributes.pse_type = 4;
                          }}}};
}

FlashRequirement disputed_pse_type_of_u3() {
  return {
      .id = "FAG-C77a",
      .statement =
          "pseType 0 is allowed by the constraints, and refused by the table and the host code.",
      .source = {rope_page, "parameters"},
      .standing = Standing::disputed,
      .sides = {Side::reject},
      .notes = "FAG-Q7",
      .applies = is_u3,
      .holds = [](const FlashCall& c) { return !is_u3(c) || c.attributes.pse_type != 0; },
      .violations = {{"zero", [](FlashCall& c) {
                        if (is_u3(c)) c.attributes.pse_type = 0;
                      }}}};
}

FlashRequirement listed_pse_shapes() {
  return {.id = "FAG-C79a",
          .statement = "pseShift of packed sequences may be [B,N,S,S], [B,N,1,S] or [1,N,S,S].",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = u1_page,
          .sides = {Side::accept},
          .notes = "FAG-Q17",
          .applies = [](const FlashCall& c) { return is_u1(c) && is_listed_only(c); },
          .holds = always};
}

/// Requirement FAG-C79d checks the shape that the documentation page of u2 lists.
FlashRequirement packed_pse_shapes() {
  static constexpr auto is_beside_the_page = [](const FlashCall& c) {
    return is_u2(c) ? is_packed_pse_of(c, {PseShape::packed_bn1s}) : is_taken_only(c);
  };
  return {
      .id = "FAG-C79b",
      .statement =
          "pseShift of packed sequences has more than one axis; the host code also accepts [N*T2] "
          "and [N*sum of Sq*Skv], which contain one sequence after the other.",
      .source = {unpadding_page, "parameters"},
      .standing = Standing::open,
      .stated_for = u1_page,
      .page_for = public_pages,
      .sides = {Side::reject},
      .notes = "FAG-Q17",
      .applies = [](const FlashCall& c) { return is_packed(c) && pse_can_be_judged(c); },
      .holds = [](const FlashCall& c) { return !is_beside_the_page(c); },
      .violations = {{"keys", [](FlashCall& c) { replace_packed_pse(c, PseShape::packed_bn1s); }},
                     {"scores", [](FlashCall& c) {
                        if (!is_u2(c)) replace_packed_pse(c, PseShape::packed_bnss);
                      }}}};
}

FlashRequirement pse_sequence_after_sequence() {
  return {.id = "FAG-C79d",
          .statement =
              "pseShift may be [N*sum of Sq*Skv], which contains one sequence after the "
              "other.",
          .source = {upstream_second_unpadding_page, "pseShift"},
          .standing = Standing::page,
          .page_for = u2_page,
          .sides = {Side::accept},
          .notes = "FAG-Q17",
          .applies =
              [](const FlashCall& c) {
                return is_u2(c) && is_packed_pse_of(c, {PseShape::packed_bnss});
              },
          .holds = always};
}

/// Requirement FAG-C75 checks sparse mode 8; FAG-C82 and TND-2a check empty sequences.
FlashRequirement compressed_pse_of_unequal_lengths() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_packed(c) && is_compressed(c) && !masked_in_mode(c, 8) &&
           !has_empty_length(*query_as_given(c)) && !has_empty_length(*key_as_given(c));
  };
  return {.id = "FAG-C81a",
          .statement =
              "A pseShift of 1024 rows for packed sequences needs Sq = Skv; only the pages of the "
              "padded entry points say so.",
          .source = {upstream_fourth_unpadding_page, "pseShift"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .applies = concerned,
          .holds = [](const FlashCall& c) { return !concerned(c) || has_equal_lengths(c); },
          .violations = {{"lengths", [](FlashCall& c) {
                            if (is_packed(c)) attach_unequal_compressed_pse(c);
                          }}}};
}

bool may_be_compressed(const FlashCall& c) {
  return (is_packed(c) || has_equal_lengths(c)) && is_causal(c);
}

}  // namespace

std::vector<FlashRequirement> position_requirements() {
  return {pse_type_range<FlashOp>({.id = "FAG-C76",
                                   .source = {upstream_page, "pseType"},
                                   .standing = Standing::page,
                                   .page_for = u2_page,
                                   .notes = "FAG-Q19, FAG-Q23, FAG-Q35"}),
          pse_type_of_u3(),
          disputed_pse_type_of_u3(),
          pse_type_without_pse<FlashOp>({.id = "FAG-C78",
                                         .source = {upstream_second_unpadding_page, "pseType"},
                                         .standing = Standing::page,
                                         .page_for = u2_page}),
          pse_shapes<FlashOp>({.id = "FAG-C79",
                               .source = {unpadding_page, "parameters"},
                               .stated_for = u1_page,
                               .notes = "FAG-Q37"}),
          listed_pse_shapes(),
          packed_pse_shapes(),
          unlisted_pse_shapes<FlashOp, is_of_public_page>(
              {.id = "FAG-C79c",
               .source = {upstream_second_unpadding_page, "pseShift"},
               .standing = Standing::page,
               .page_for = public_pages,
               .notes = "FAG-Q17"}),
          pse_sequence_after_sequence(),
          slopes_need_equal_lengths<FlashOp, is_padded<FlashOp>>(
              {.id = "FAG-C80", .source = {operator_page, "constraints"}, .stated_for = g2_page}),
          compressed_pse_is_causal<FlashOp, may_be_compressed, is_padded<FlashOp>>(
              {.id = "FAG-C81",
               .source = {upstream_page, "pseShift"},
               .standing = Standing::upstream,
               .notes = "FAG-Q18"}),
          compressed_pse_of_unequal_lengths()};
}

}  // namespace assay::spec::detail
