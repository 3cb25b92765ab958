#pragma once

#include <algorithm>

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

inline constexpr std::int64_t last_pse_type = 3;

template <class Op>
bool pse_type_is_known(const Call<Op>& c) {
  return pse_type_of(c) >= 0 && pse_type_of(c) <= last_pse_type;
}

template <class Op>
bool pse_can_be_judged(const Call<Op>& c) {
  return takes_pse_and_dropout(c) && given(c.parameters.pse_shift) && pse_type_is_known(c) &&
         value_as_given(c);
}

template <class Op>
bool has_slopes(const Call<Op>& c) {
  return pse_can_be_judged(c) && pse_type_of(c) >= 2;
}

/// Returns whether the sequences are packed and the position bias (pse) has one of the given
/// shapes.
template <class Op>
bool is_packed_pse_of(const Call<Op>& c, std::initializer_list<PseShape> forms) {
  if (!is_packed(c) || !pse_can_be_judged(c)) return false;
  const auto form = pse_form_of(c);
  return form && std::ranges::find(forms, *form) != forms.end();
}

/// Returns whether the position bias (pse) of packed sequences has a four-axis shape that the
/// documentation lists but the vendor's host code refuses. The host code accepts 1024 rows, because
/// it reads this tensor as the compressed form.
template <class Op>
bool is_listed_only(const Call<Op>& c) {
  return is_packed_pse_of(c, {PseShape::bnss, PseShape::bn1s, PseShape::one_nss}) &&
         c.parameters.pse_shift.shape[2] != compressed_pse_rows;
}

template <class Op>
bool pse_shape_fits(const Call<Op>& c) {
  return !pse_can_be_judged(c) || pse_form_of(c);
}

/// Returns whether the position bias (pse) contains only the last 1024 rows of a bias that depends
/// only on i - j.
template <class Op>
bool is_compressed(const Call<Op>& c) {
  if (!pse_can_be_judged(c)) return false;
  const auto form = pse_form_of(c);
  return form == PseShape::bnhs || form == PseShape::one_nhs;
}

/// Returns whether the mask hides all keys after the query. In modes 0 and 4 this depends on the
/// window; in all other modes it is always true. (The documentation says this only about modes 2
/// and 3.)
template <class Op>
bool is_causal(const Call<Op>& c) {
  const auto& a = c.attributes;
  if (!given(c.parameters.atten_mask)) return false;
  if (a.sparse_mode != 0 && a.sparse_mode != 4) return true;
  return a.pre_tokens >= query_as_given(c)->seq && a.next_tokens == 0;
}

template <class Op>
bool has_equal_lengths(const Call<Op>& c) {
  const Extents query = *query_as_given(c), key = *key_as_given(c);
  if (query.ends.empty()) return query.seq == key.seq;
  return query.ends == key.ends;
}

/// Applies `change` to the sizes and options of the call, then adds a compressed position bias
/// (pse) in sparse mode 2.
template <class Op>
void attach_compressed_pse(Call<Op>& call, void (*change)(AttentionProblem& problem)) {
  if (!takes_pse_and_dropout(call)) return;
  rewrite(call, change);
  put_compressed_mask(call, 2);
  auto problem = problem_of(call);
  if (!problem) return;
  problem->pse_shift = PseShape::bnhs;
  call.parameters.pse_shift = {.present = true, .dtype = problem->dtype};
  reshape(call.parameters.pse_shift, pse_shape(*problem));
}

inline void make_longer_than_compressed(AttentionProblem& p) {
  make_uniform(p);
  p.seq_q = p.seq_kv = compressed_pse_rows + 1;
}

/// Adds a compressed position bias (pse) to sequences that have more keys than queries.
template <class Op>
void attach_unequal_compressed_pse(Call<Op>& call) {
  attach_compressed_pse(call, [](AttentionProblem& p) {
    make_longer_than_compressed(p);
    ++p.seq_kv;
  });
}

/// Adds a well-formed position bias (pse), then makes one of its axes too long.
template <class Op>
void misshape_pse(Call<Op>& call, std::size_t axis) {
  attach_pse(call);
  Shape shape = call.parameters.pse_shift.shape;
  if (axis >= shape.size()) return;
  ++shape[axis];
  reshape(call.parameters.pse_shift, shape);
}

/// Replaces the position bias (pse) of packed sequences by one of another shape.
template <class Op>
void replace_packed_pse(Call<Op>& call, PseShape form) {
  if (!is_packed(call)) return;
  attach_pse(call);
  auto problem = problem_of(call);
  if (!problem || !pse_can_be_judged(call)) return;
  problem->pse_shift = form;
  reshape(call.parameters.pse_shift, pse_shape(*problem));
}

template <class Op>
void set_pse_type(Call<Op>& call, std::int64_t pse_type) {
  if (!takes_slopes(call)) return;
  rewrite(call, [](AttentionProblem&) {});
  call.attributes.pse_type = pse_type;
}

template <class Op>
Requirement<Op> pse_type_range(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "pseType is one of 0 to 3.",
           .applies = takes_slopes,
           .holds = [](const Call<Op>& c) { return !takes_slopes(c) || pse_type_is_known(c); },
           .violations = {{"negative", [](Call<Op>& c) { set_pse_type(c, -1); }},
                          {"four", [](Call<Op>& c) { set_pse_type(c, 4); }}}});
}

/// Requires pseType 1 if there is no position bias. Does not apply to entry points with ropes,
/// because another requirement checks pseType there.
template <class Op>
Requirement<Op> pse_type_without_pse(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "If pseShift is null, pseType is 1.",
                         .applies =
                             [](const Call<Op>& c) {
                               return has_pse_type(c.entry_point) && !given(c.parameters.pse_shift);
                             },
                         .holds =
                             [](const Call<Op>& c) {
                               return takes_ropes(c) || given(c.parameters.pse_shift) ||
                                      !pse_type_is_known(c) || pse_type_of(c) == 1;
                             },
                         .violations = {{"zero", [](Call<Op>& c) { set_pse_type(c, 0); }},
                                        {"two", [](Call<Op>& c) { set_pse_type(c, 2); }},
                                        {"three", [](Call<Op>& c) { set_pse_type(c, 3); }}}});
}

/// Requires a documented shape of the position bias. The documentation pages call the number of
/// rows of the compressed form H; it is 1024.
template <class Op>
Requirement<Op> pse_shapes(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement =
               "pseShift is [B,N,Sq,Skv], [B,N,1,Skv], [1,N,Sq,Skv], [B,N,1024,Skv] or "
               "[1,N,1024,Skv] in pseType 0 and 1, and [N] or [B,N] in pseType 2 and 3; for packed "
               "sequences Sq and Skv are the longest lengths.",
           .applies = pse_can_be_judged,
           .holds = pse_shape_fits,
           .violations = {{"batch", [](Call<Op>& c) { misshape_pse(c, 0); }},
                          {"heads", [](Call<Op>& c) { misshape_pse(c, 1); }},
                          {"rows", [](Call<Op>& c) { misshape_pse(c, 2); }},
                          {"columns", [](Call<Op>& c) { misshape_pse(c, 3); }},
                          {"rank",
                           [](Call<Op>& c) {
                             attach_pse(c);
                             if (pse_can_be_judged(c)) change_rank<&Op::Parameters::pse_shift>(c);
                           }},
                          {"slopes", [](Call<Op>& c) {
                             attach_slopes(c, 2);
                             if (!has_slopes(c)) return;
                             reshape(c.parameters.pse_shift,
                                     {c.parameters.pse_shift.shape.back() + 1});
                           }}}});
}

template <class Op, auto on>
Requirement<Op> unlisted_pse_shapes(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) { return on(c) && pse_can_be_judged(c); };
  static constexpr auto replace = [](Call<Op>& c, PseShape form) {
    if (on(c)) replace_packed_pse(c, form);
  };
  return stated<Op>(
      by, {.statement = "A pseShift with four axes has 1024 rows.",
           .applies = concerned,
           .holds = [](const Call<Op>& c) { return !concerned(c) || !is_listed_only(c); },
           .violations = {{"full", [](Call<Op>& c) { replace(c, PseShape::bnss); }},
                          {"one_row", [](Call<Op>& c) { replace(c, PseShape::bn1s); }},
                          {"one_batch", [](Call<Op>& c) { replace(c, PseShape::one_nss); }}}});
}

template <class Op, auto on>
Requirement<Op> slopes_need_equal_lengths(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) { return on(c) && has_slopes(c); };
  return stated<Op>(
      by, {.statement = "Sq and Skv are equal in pseType 2 and 3.",
           .applies = concerned,
           .holds = [](const Call<Op>& c) { return !concerned(c) || has_equal_lengths(c); },
           .violations = {{"seq_kv", [](Call<Op>& c) {
                             if (!on(c) || !takes_slopes(c)) return;
                             rewrite(c, [](AttentionProblem& p) {
                               make_uniform(p);
                               p.dtype = DType::fp32;
                               p.seq_kv = p.seq_q + 1;
                             });
                             put_slopes(c, 3);
                           }}}});
}

/// Requires a causal mask for a compressed position bias (pse). With Sq = 1024 the compressed form
/// equals the full form. `allows` selects the calls that may have a compressed bias, `compares` the
/// entry points on which Sq and Skv must be equal.
template <class Op, auto allows, auto compares>
Requirement<Op> compressed_pse_is_causal(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement =
               "A pseShift of 1024 rows needs a causal mask and, in the padded layouts, Sq = Skv.",
           .applies = is_compressed,
           .holds = [](const Call<Op>& c) { return !is_compressed(c) || allows(c); },
           .violations = {{"lengths",
                           [](Call<Op>& c) {
                             if (compares(c)) attach_unequal_compressed_pse(c);
                           }},
                          {"window", [](Call<Op>& c) {
                             attach_compressed_pse(c, make_longer_than_compressed);
                             if (is_compressed(c))
                               put_mask(c, 0, {compressed_pse_rows + 1, compressed_pse_rows + 1});
                           }}}});
}

}  // namespace assay::spec::detail
