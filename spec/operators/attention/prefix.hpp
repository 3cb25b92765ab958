#pragma once

#include <algorithm>

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

/// Returns whether the call needs a prefix. False for entry points with ropes, because another
/// requirement forbids a prefix there. `also_in_mode_5`: mode 5 needs a prefix, too. (Without a
/// prefix, mode 5 uses the user's mask, which has the same result.)
template <bool also_in_mode_5, class Op>
bool needs_prefix(const Call<Op>& c) {
  const bool reads = masked_in_mode(c, 6) || (also_in_mode_5 && masked_in_mode(c, 5));
  return !takes_ropes(c) && reads && query_as_given(c);
}

/// Returns whether the call's sparse mode reads a prefix and the prefix has an entry for every
/// sequence.
template <class Op>
bool prefix_can_be_judged(const Call<Op>& c) {
  const auto key = key_as_given(c);
  return !takes_ropes(c) && (masked_in_mode(c, 5) || masked_in_mode(c, 6)) && key &&
         c.parameters.prefix &&
         static_cast<std::int64_t>(c.parameters.prefix->size()) == key->batch;
}

template <class Op>
bool prefix_is_in_range(const Call<Op>& c) {
  if (!prefix_can_be_judged(c)) return true;
  const Extents query = *query_as_given(c), key = *key_as_given(c);
  for (std::int64_t b = 0; b < key.batch; ++b) {
    const std::int64_t visible = (*c.parameters.prefix)[static_cast<std::size_t>(b)];
    const std::int64_t least = std::max<std::int64_t>(0, key.length(b) - query.length(b));
    if (visible < least || visible > key.length(b)) return false;
  }
  return true;
}

template <class Op, bool also_in_mode_5>
Requirement<Op> prefix_per_batch(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "Sparse mode 6 needs a prefix of one entry per sequence.",
                         .applies = needs_prefix<also_in_mode_5>,
                         .holds =
                             [](const Call<Op>& c) {
                               const auto& prefix = c.parameters.prefix;
                               return !needs_prefix<also_in_mode_5>(c) ||
                                      (prefix && static_cast<std::int64_t>(prefix->size()) ==
                                                     query_as_given(c)->batch);
                             },
                         .violations = {{"null",
                                         [](Call<Op>& c) {
                                           attach_prefix(c);
                                           c.parameters.prefix.reset();
                                         }},
                                        {"short", [](Call<Op>& c) {
                                           attach_prefix(c);
                                           if (masked_in_mode(c, 6) && c.parameters.prefix)
                                             c.parameters.prefix->pop_back();
                                         }}}});
}

template <class Op>
Requirement<Op> prefix_range(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement =
           "In sparse modes 5 and 6 every prefix entry is at least max(0, Skv - Sq) and at most "
           "Skv.",
       .applies = prefix_can_be_judged,
       .holds = prefix_is_in_range,
       .violations = {{"above",
                       [](Call<Op>& c) {
                         attach_prefix(c);
                         if (prefix_can_be_judged(c)) ++c.parameters.prefix->back();
                       }},
                      {"below",
                       [](Call<Op>& c) {
                         attach_prefix(c);
                         if (!prefix_can_be_judged(c)) return;
                         const Extents query = *query_as_given(c), key = *key_as_given(c);
                         const auto least = [&](std::int64_t b) {
                           return key.length(b) - query.length(b);
                         };
                         std::int64_t broken = 0;
                         for (std::int64_t b = 1; b < key.batch; ++b)
                           if (least(b) > least(broken)) broken = b;
                         if (least(broken) > 0)
                           (*c.parameters.prefix)[static_cast<std::size_t>(broken)] =
                               least(broken) - 1;
                       }},
                      {"negative", [](Call<Op>& c) {
                         attach_prefix(c);
                         if (prefix_can_be_judged(c)) c.parameters.prefix->back() = -1;
                       }}}});
}

}  // namespace assay::spec::detail
