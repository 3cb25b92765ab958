#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

constexpr std::int64_t last_pse_type = 3;

bool pse_type_is_known(const FlashCall& c) {
  return pse_type_of(c) >= 0 && pse_type_of(c) <= last_pse_type;
}

bool pse_can_be_judged(const FlashCall& c) {
  return takes_pse_and_dropout(c) && given(c.parameters.pse_shift) && pse_type_is_known(c) &&
         value_as_given(c);
}

bool has_slopes(const FlashCall& c) { return pse_can_be_judged(c) && pse_type_of(c) >= 2; }

/// Returns whether sequences are packed and pse has one of these shapes.
bool is_packed_pse_of(const FlashCall& c, std::initializer_list<PseShape> forms) {
  if (!is_packed(c) || !pse_can_be_judged(c)) return false;
  const auto form = pse_form_of(c);
  return form && std::ranges::find(forms, *form) != forms.end();
}

/// Returns whether pse has a shape that the page of u1 lists for packed sequences but the host code
/// refuses. With 1024 rows the host code accepts it: it reads the tensor as the compressed form.
bool is_listed_only(const FlashCall& c) {
  return is_packed_pse_of(c, {PseShape::bnss, PseShape::bn1s, PseShape::one_nss}) &&
         c.parameters.pse_shift.shape[2] != compressed_pse_rows;
}

/// Returns whether pse has a shape with one axis, which the host code accepts but the page of u1
/// does not list.
bool is_taken_only(const FlashCall& c) {
  return is_packed_pse_of(c, {PseShape::packed_bn1s, PseShape::packed_bnss});
}

bool pse_shape_fits(const FlashCall& c) { return !pse_can_be_judged(c) || pse_form_of(c); }

/// Returns whether pse contains only the last 1024 rows of a bias that depends on i - j alone.
bool is_compressed(const FlashCall& c) {
  if (!pse_can_be_judged(c)) return false;
  const auto form = pse_form_of(c);
  return form == PseShape::bnhs || form == PseShape::one_nhs;
}

/// Returns whether the mode is causal: 0 and 4 are if their window is, all others count as causal.
/// The documents say this of modes 2 and 3 only.
bool is_causal(const FlashCall& c) {
  const auto& a = c.attributes;
  if (!given(c.parameters.atten_mask)) return false;
  if (a.sparse_mode != 0 && a.sparse_mode != 4) return true;
  return a.pre_tokens >= query_as_given(c)->seq && a.next_tokens == 0;
}

bool has_equal_lengths(const FlashCall& c) {
  const Extents query = *query_as_given(c), key = *key_as_given(c);
  if (query.ends.empty()) return query.seq == key.seq;
  return query.ends == key.ends;
}

/// Applies `change` to the call's problem, then attaches a compressed pse in sparse mode 2.
void attach_compressed_pse(FlashCall& call, void (*change)(FlashProblem& problem)) {
  if (!takes_pse_and_dropout(call)) return;
  rewrite(call, change);
  put_compressed_mask(call, 2);
  auto problem = problem_of(call);
  if (!problem) return;
  problem->pse_shift = PseShape::bnhs;
  call.parameters.pse_shift = {.present = true, .dtype = problem->dtype};
  reshape(call.parameters.pse_shift, pse_shape(*problem));
}

void make_longer_than_compressed(FlashProblem& p) {
  make_uniform(p);
  p.seq_q = p.seq_kv = compressed_pse_rows + 1;
}

/// Attaches a well-formed pse, then makes one of its axes too long.
void misshape_pse(FlashCall& call, std::size_t axis) {
  attach_pse(call);
  Shape shape = call.parameters.pse_shift.shape;
  if (axis >= shape.size()) return;
  ++shape[axis];
  reshape(call.parameters.pse_shift, shape);
}

/// Gives a pse of packed sequences another shape.
void replace_packed_pse(FlashCall& call, PseShape form) {
  if (!is_packed(call)) return;
  attach_pse(call);
  auto problem = problem_of(call);
  if (!problem || !pse_can_be_judged(call)) return;
  problem->pse_shift = form;
  reshape(call.parameters.pse_shift, pse_shape(*problem));
}

void set_pse_type(FlashCall& call, std::int64_t pse_type) {
  if (!takes_slopes(call)) return;
  rewrite(call, [](FlashProblem&) {});
  call.attributes.pse_type = pse_type;
}

/// S-FAG has one formula for pseType 0, 2 and 3. Its pse is minus slope times distance in type 2,
/// and minus slope times the root of the distance in type 3.
FlashRequirement pse_type_range() {
  return {.id = "FAG-C76",
          .statement = "pseType is one of 0 to 3.",
          .source = {upstream_page, "pseType"},
          .standing = Standing::page,
          .page_for = u2_page,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q19, FAG-Q23, FAG-Q35",
          .applies = takes_slopes,
          .holds = [](const FlashCall& c) { return !takes_slopes(c) || pse_type_is_known(c); },
          .violations = {{"negative", [](FlashCall& c) { set_pse_type(c, -1); }},
                         {"four", [](FlashCall& c) { set_pse_type(c, 4); }}}};
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

/// FAG-C77 covers the pseTypes that u3 refuses.
FlashRequirement pse_type_without_pse() {
  return {.id = "FAG-C78",
          .statement = "Without a pseShift pseType is 1.",
          .source = {upstream_second_unpadding_page, "pseType"},
          .standing = Standing::page,
          .page_for = u2_page,
          .sides = {Side::accept, Side::reject},
          .applies =
              [](const FlashCall& c) {
                return has_pse_type(c.entry_point) && !given(c.parameters.pse_shift);
              },
          .holds =
              [](const FlashCall& c) {
                return is_u3(c) || given(c.parameters.pse_shift) || !pse_type_is_known(c) ||
                       pse_type_of(c) == 1;
              },
          .violations = {{"zero", [](FlashCall& c) { set_pse_type(c, 0); }},
                         {"two", [](FlashCall& c) { set_pse_type(c, 2); }},
                         {"three", [](FlashCall& c) { set_pse_type(c, 3); }}}};
}

/// The pages name a size H, which is 1024 rows. FAG-C79b covers the shapes with one axis.
FlashRequirement pse_shapes() {
  return {.id = "FAG-C79",
          .statement =
              "pseShift is [B,N,Sq,Skv], [B,N,1,Skv], [1,N,Sq,Skv], [B,N,1024,Skv] or "
              "[1,N,1024,Skv] in pseType 0 and 1, and [N] or [B,N] in pseType 2 and 3; for packed "
              "sequences Sq and Skv are the longest lengths.",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = u1_page,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q37",
          .applies = pse_can_be_judged,
          .holds = pse_shape_fits,
          .violations = {{"batch", [](FlashCall& c) { misshape_pse(c, 0); }},
                         {"heads", [](FlashCall& c) { misshape_pse(c, 1); }},
                         {"rows", [](FlashCall& c) { misshape_pse(c, 2); }},
                         {"columns", [](FlashCall& c) { misshape_pse(c, 3); }},
                         {"rank",
                          [](FlashCall& c) {
                            attach_pse(c);
                            if (pse_can_be_judged(c)) change_rank<&FlashParameters::pse_shift>(c);
                          }},
                         {"slopes", [](FlashCall& c) {
                            attach_slopes(c, 2);
                            if (!has_slopes(c)) return;
                            reshape(c.parameters.pse_shift,
                                    {c.parameters.pse_shift.shape.back() + 1});
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

/// FAG-C79d covers the shape that the page of u2 lists.
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

FlashRequirement unlisted_pse_shapes() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_of_public_page(c) && pse_can_be_judged(c);
  };
  static constexpr auto replace = [](FlashCall& c, PseShape form) {
    if (is_of_public_page(c)) replace_packed_pse(c, form);
  };
  return {.id = "FAG-C79c",
          .statement = "pseShift of four axes has 1024 rows.",
          .source = {upstream_second_unpadding_page, "pseShift"},
          .standing = Standing::page,
          .page_for = public_pages,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q17",
          .applies = concerned,
          .holds = [](const FlashCall& c) { return !concerned(c) || !is_listed_only(c); },
          .violations = {{"full", [](FlashCall& c) { replace(c, PseShape::bnss); }},
                         {"one_row", [](FlashCall& c) { replace(c, PseShape::bn1s); }},
                         {"one_batch", [](FlashCall& c) { replace(c, PseShape::one_nss); }}}};
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

FlashRequirement slopes_need_equal_lengths() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_padded(c) && has_slopes(c);
  };
  return {.id = "FAG-C80",
          .statement = "Sq and Skv are equal in pseType 2 and 3.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = g2_page,
          .sides = {Side::accept, Side::reject},
          .applies = concerned,
          .holds = [](const FlashCall& c) { return !concerned(c) || has_equal_lengths(c); },
          .violations = {{"seq_kv", [](FlashCall& c) {
                            if (is_packed(c) || !takes_slopes(c)) return;
                            rewrite(c, [](FlashProblem& p) {
                              p.dtype = DType::fp32;
                              p.seq_kv = p.seq_q + 1;
                            });
                            put_slopes(c, 3);
                          }}}};
}

/// With Sq = 1024 the compressed pse is the full one, so that both interpretations of the limit
/// agree.
FlashRequirement compressed_pse_is_causal() {
  return {.id = "FAG-C81",
          .statement =
              "A pseShift of 1024 rows needs a causal mask and, in the padded layouts, Sq = Skv.",
          .source = {upstream_page, "pseShift"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q18",
          .applies = is_compressed,
          .holds =
              [](const FlashCall& c) {
                if (!is_compressed(c)) return true;
                return (is_packed(c) || has_equal_lengths(c)) && is_causal(c);
              },
          .violations = {{"lengths",
                          [](FlashCall& c) {
                            if (is_packed(c)) return;
                            attach_compressed_pse(c, [](FlashProblem& p) {
                              make_longer_than_compressed(p);
                              ++p.seq_kv;
                            });
                          }},
                         {"window", [](FlashCall& c) {
                            attach_compressed_pse(c, make_longer_than_compressed);
                            if (is_compressed(c))
                              put_mask(c, 0, {compressed_pse_rows + 1, compressed_pse_rows + 1});
                          }}}};
}

/// FAG-C75 covers sparse mode 8, FAG-C82 and TND-2a cover empty sequences.
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
                            if (!is_packed(c)) return;
                            attach_compressed_pse(c, [](FlashProblem& p) {
                              make_longer_than_compressed(p);
                              ++p.seq_kv;
                            });
                          }}}};
}

}  // namespace

std::vector<FlashRequirement> position_requirements() {
  return {pse_type_range(),
          pse_type_of_u3(),
          disputed_pse_type_of_u3(),
          pse_type_without_pse(),
          pse_shapes(),
          listed_pse_shapes(),
          packed_pse_shapes(),
          unlisted_pse_shapes(),
          pse_sequence_after_sequence(),
          slopes_need_equal_lengths(),
          compressed_pse_is_causal(),
          compressed_pse_of_unequal_lengths()};
}

}  // namespace assay::spec::detail
