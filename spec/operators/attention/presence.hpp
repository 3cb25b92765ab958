#pragma once

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

template <auto on, auto member, class Op>
void remove_on(Call<Op>& call) {
  if (on(call)) remove<member>(call);
}

/// Requires that the tensors `members` are not null, for the calls that `on` selects.
template <class Op, auto on, auto... members>
Requirement<Op> tensors_present(const Stated<Op>& by) {
  return stated<Op>(
      by, {.applies = on,
           .holds =
               [](const Call<Op>& c) { return !on(c) || (... && (c.parameters.*members).present); },
           .violations = {{name_of<Op>(members), remove_on<on, members, Op>}...}});
}

/// Requires that the outputs `members`, workspaceSize and executor are not null.
template <class Op, auto... members>
Requirement<Op> outputs_present(const Stated<Op>& by) {
  Requirement<Op> requirement = tensors_present<Op, always<Op>, members...>(by);
  requirement.holds = [](const Call<Op>& c) {
    return (... && (c.parameters.*members).present) && c.parameters.workspace_size &&
           c.parameters.executor;
  };
  requirement.violations.push_back(
      {"workspace_size", [](Call<Op>& c) { c.parameters.workspace_size = false; }});
  requirement.violations.push_back(
      {"executor", [](Call<Op>& c) { c.parameters.executor = false; }});
  return requirement;
}

template <class Op>
bool drops(const Call<Op>& c) {
  return takes_pse_and_dropout(c) && c.attributes.keep_prob > 0 && c.attributes.keep_prob < 1;
}

template <class Op>
Requirement<Op> layout_present(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement = "inputLayout, a required attribute, is not null.",
       .holds = [](const Call<Op>& c) { return c.attributes.input_layout.has_value(); },
       .violations = {{"input_layout", [](Call<Op>& c) { c.attributes.input_layout.reset(); }}}});
}

template <class Op>
Requirement<Op> mask_present(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement = "attenMask is given.",
       .applies = takes_ropes,
       .holds = [](const Call<Op>& c) { return !takes_ropes(c) || given(c.parameters.atten_mask); },
       .violations = {{"null",
                       [](Call<Op>& c) {
                         if (takes_ropes(c)) remove<&Op::Parameters::atten_mask>(c);
                       }},
                      {"scalar", [](Call<Op>& c) {
                         if (takes_ropes(c)) make_scalar<&Op::Parameters::atten_mask>(c);
                       }}}});
}

template <class Op>
Requirement<Op> no_pse(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement = "pseShift is null.",
       .applies = takes_ropes,
       .holds = [](const Call<Op>& c) { return !takes_ropes(c) || !given(c.parameters.pse_shift); },
       .violations = {{"pse_shift", [](Call<Op>& c) {
                         if (takes_ropes(c)) put_pse(c);
                       }}}});
}

template <class Op>
Requirement<Op> no_drop_mask(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement = "dropMask is null.",
       .applies = takes_ropes,
       .holds = [](const Call<Op>& c) { return !takes_ropes(c) || !given(c.parameters.drop_mask); },
       .violations = {{"drop_mask", [](Call<Op>& c) {
                         const auto bytes = drop_mask_bytes(c);
                         if (!takes_ropes(c) || !bytes) return;
                         c.parameters.drop_mask = {.present = true, .dtype = DType::uint8};
                         reshape(c.parameters.drop_mask, {*bytes});
                       }}}});
}

/// Requires that paddingMask is null. The vendor's host code never reads this tensor.
template <class Op, auto on>
Requirement<Op> no_padding_mask(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "paddingMask is null.",
           .applies = on,
           .holds = [](const Call<Op>& c) { return !on(c) || !given(c.parameters.padding_mask); },
           .violations = {{"padding_mask", [](Call<Op>& c) {
                             if (!on(c)) return;
                             c.parameters.padding_mask = {.present = true, .dtype = DType::boolean};
                             reshape(c.parameters.padding_mask, {1, 1, 8, 8});
                           }}}});
}

template <class Op>
Requirement<Op> drop_mask_present(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "A keepProb below 1 needs a dropMask.",
           .applies = drops,
           .holds = [](const Call<Op>& c) { return !drops(c) || given(c.parameters.drop_mask); },
           .violations = {{"drop_mask", [](Call<Op>& c) {
                             if (!takes_pse_and_dropout(c)) return;
                             c.parameters.drop_mask = {};
                             c.attributes.keep_prob = 0.5;
                           }}}});
}

}  // namespace assay::spec::detail
