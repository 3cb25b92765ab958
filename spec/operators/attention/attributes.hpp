#pragma once

#include <optional>
#include <string>

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

/// Returns whether 0 < keepProb < 1 and the call has a drop mask.
template <class Op>
bool drops_by_mask(const Call<Op>& c) {
  return takes_pse_and_dropout(c) && c.attributes.keep_prob > 0 && c.attributes.keep_prob < 1 &&
         given(c.parameters.drop_mask);
}

template <class Op>
Requirement<Op> keep_prob_range(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "keepProb is above 0 and at most 1.",
           .holds =
               [](const Call<Op>& c) {
                 return c.attributes.keep_prob > 0 && c.attributes.keep_prob <= 1;
               },
           .violations = {{"zero", [](Call<Op>& c) { c.attributes.keep_prob = 0; }},
                          {"negative", [](Call<Op>& c) { c.attributes.keep_prob = -0.5; }},
                          {"above_one", [](Call<Op>& c) { c.attributes.keep_prob = 1.5; }}}});
}

template <class Op>
Requirement<Op> no_dropout(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "keepProb is 1: nothing is dropped.",
                         .applies = takes_ropes,
                         .holds =
                             [](const Call<Op>& c) {
                               const double keep =
                                   c.attributes.keep_prob;  // keep_prob_range covers the rest
                               return !takes_ropes(c) || !(keep > 0) || keep >= 1;
                             },
                         .violations = {{"below_one", [](Call<Op>& c) {
                                           if (takes_ropes(c)) c.attributes.keep_prob = 0.5;
                                         }}}});
}

/// Requires a known value of the attribute `member`: softmaxInLayout of the gradient or
/// softmaxOutLayout of the forward.
template <class Op, auto member>
Requirement<Op> known_statistics_layout(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) {
    return has_softmax_in_layout(c.entry_point);
  };
  return stated<Op>(
      by, {.applies = concerned,
           .holds =
               [](const Call<Op>& c) {
                 const std::optional<std::string>& layout = c.attributes.*member;
                 return !concerned(c) ||
                        (layout && (layout->empty() || *layout == "same_as_input"));
               },
           .violations = {{"unknown", [](Call<Op>& c) { c.attributes.*member = "TND"; }},
                          {"capitals", [](Call<Op>& c) { c.attributes.*member = "SAME_AS_INPUT"; }},
                          {"null", [](Call<Op>& c) { (c.attributes.*member).reset(); }}}});
}

template <class Op>
Requirement<Op> drop_mask_size(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement = "A dropMask in use has a bit for every score: at least N*sum(Sq*Skv)/8 bytes, "
                    "rounded up.",
       .applies = [](const Call<Op>& c) { return drops_by_mask(c) && drop_mask_bytes(c); },
       .holds =
           [](const Call<Op>& c) {
             const auto bytes = drop_mask_bytes(c);
             return !drops_by_mask(c) || !bytes ||
                    element_count(c.parameters.drop_mask.shape) >= *bytes;
           },
       .violations = {{"one_byte_less", [](Call<Op>& c) {
                         attach_drop_mask(c);
                         if (!given(c.parameters.drop_mask)) return;
                         Shape shape = c.parameters.drop_mask.shape;
                         --shape.back();
                         reshape(c.parameters.drop_mask, shape);
                       }}}});
}

}  // namespace assay::spec::detail
