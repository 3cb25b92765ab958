#pragma once

#include "operators/attention/types.hpp"

/// Requirements on the sink, for the entry points that have one.
namespace assay::spec::detail {

template <class Op>
bool is_of_sink_page(const Call<Op>& c) {
  return has_sink(c.entry_point);
}
template <class Op>
bool has_given_sink(const Call<Op>& c) {
  return is_of_sink_page(c) && given(c.parameters.sink);
}
template <class Op>
bool has_no_sink(const Call<Op>& c) {
  return is_of_sink_page(c) && !c.parameters.sink.present;
}
/// Returns whether the vendor's host code checks the sink of the call. It does not check the sink
/// if pseType is 2 or 3.
template <class Op>
bool has_checked_sink(const Call<Op>& c) {
  return has_given_sink(c) && c.attributes.pse_type < 2;
}

inline bool has_elements(const Parameter& parameter) {
  return given(parameter) && element_count(parameter.shape) != 0;
}

template <class Op>
Requirement<Op> sink_may_be_null(const Stated<Op>& by) {
  return stated<Op>(by, {.sides = {Side::accept}, .applies = has_no_sink});
}

template <class Op>
Requirement<Op> sink_is_not_empty(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement =
               "The sink is not empty; only the host code treats the shape [0] as an absent sink.",
           .sides = {Side::reject},
           .applies = is_of_sink_page,
           .holds =
               [](const Call<Op>& c) {
                 return !has_given_sink(c) || element_count(c.parameters.sink.shape) != 0;
               },
           .violations = {{"empty", [](Call<Op>& c) {
                             if (!has_given_sink(c)) return;
                             reshape(c.parameters.sink, {0});
                             if constexpr (requires { c.parameters.dsink; })
                               c.parameters.dsink = {};
                           }}}});
}

template <class Op>
Requirement<Op> sink_type(const Stated<Op>& by) {
  return stated<Op>(by, {.applies = has_given_sink,
                         .holds =
                             [](const Call<Op>& c) {
                               return !has_given_sink(c) || c.parameters.sink.dtype == DType::fp32;
                             },
                         .violations = {{"bf16", [](Call<Op>& c) {
                                           if (has_checked_sink(c))
                                             c.parameters.sink.dtype = DType::bf16;
                                         }}}});
}

/// Returns whether sink and dsink, if present, have one element per query head.
template <class Op>
bool sink_shapes_fit(const Call<Op>& c) {
  const auto query = query_as_given(c);
  if (!has_given_sink(c) || !query) return true;
  const Shape per_head = {query->heads};
  const auto fits = [&](const Parameter& parameter) {
    return !has_elements(parameter) || parameter.shape == per_head;
  };
  if constexpr (requires { c.parameters.dsink; })
    if (!fits(c.parameters.dsink)) return false;
  return fits(c.parameters.sink);
}

template <class Op>
Requirement<Op> sink_shape(const Stated<Op>& by) {
  return stated<Op>(by, {.applies = has_given_sink,
                         .holds = sink_shapes_fit,
                         .violations = {{"sink",
                                         [](Call<Op>& c) {
                                           if (has_given_sink(c))
                                             reshape(c.parameters.sink,
                                                     {c.attributes.head_num + 1});
                                         }},
                                        {"sink_of_rank_2", [](Call<Op>& c) {
                                           if (has_given_sink(c))
                                             add_axis<&Op::Parameters::sink>(c);
                                         }}}});
}

/// Builds a requirement about the sink. No call can test this requirement.
template <class Op>
Requirement<Op> untested_of_sink(const Stated<Op>& by, std::string_view reason,
                                 Side side = Side::none) {
  return stated<Op>(by, {.sides = {side}, .applies = is_of_sink_page, .reason = reason});
}

}  // namespace assay::spec::detail
