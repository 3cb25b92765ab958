#pragma once

#include "operators/attention/sizes.hpp"

namespace assay::spec::detail {

/// Requires a batch size of at least 1. The vendor's host code accepts 0: it writes zeros to the
/// outputs that are not empty, and returns. The next functions are such requirements for other
/// extents.
template <class Op>
Requirement<Op> no_batch(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "The batch size is at least 1.",
                         .sides = {Side::reject},
                         .applies = is_padded_with_extents,
                         .holds =
                             [](const Call<Op>& c) {
                               return !is_padded_with_extents(c) || query_as_given(c)->batch > 0;
                             },
                         .violations = {{"batch", [](Call<Op>& c) {
                                           if (is_padded(c))
                                             rewrite(c, [](AttentionProblem& p) { p.batch = 0; });
                                         }}}});
}

template <class Op>
Requirement<Op> no_sequence(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "Sq and Skv are at least 1.",
                         .sides = {Side::reject},
                         .applies = is_padded_with_extents,
                         .holds =
                             [](const Call<Op>& c) {
                               return !is_padded_with_extents(c) ||
                                      (query_as_given(c)->seq > 0 && key_as_given(c)->seq > 0);
                             },
                         .violations = {{"seq_q",
                                         [](Call<Op>& c) {
                                           if (is_padded(c))
                                             rewrite(c, [](AttentionProblem& p) { p.seq_q = 0; });
                                         }},
                                        {"seq_kv", [](Call<Op>& c) {
                                           if (is_padded(c))
                                             rewrite(c, [](AttentionProblem& p) { p.seq_kv = 0; });
                                         }}}});
}

/// Requires at least one query token and one key token. The number of key tokens is 0 only if every
/// key sequence is empty, which another requirement forbids.
template <class Op>
Requirement<Op> no_tokens(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) { return is_packed(c) && ranks_fit(c); };
  return stated<Op>(by, {.statement = "query and keyIn have at least 1 token.",
                         .sides = {Side::reject},
                         .applies = concerned,
                         .holds =
                             [](const Call<Op>& c) {
                               return !concerned(c) || (c.parameters.query.shape[0] > 0 &&
                                                        c.parameters.key.shape[0] > 0);
                             },
                         .violations = {{"tokens_q",
                                         [](Call<Op>& c) {
                                           if (is_packed(c))
                                             rewrite(c, [](AttentionProblem& p) {
                                               make_uniform(p);
                                               p.seq_q = 0;
                                             });
                                         }},
                                        {"tokens_kv", [](Call<Op>& c) {
                                           if (is_packed(c))
                                             rewrite(c, [](AttentionProblem& p) {
                                               make_uniform(p);
                                               p.seq_kv = 0;
                                             });
                                         }}}});
}

template <class Op>
Requirement<Op> no_channels(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "The head sizes are at least 1.",
           .sides = {Side::reject},
           .applies = has_query_extents,
           .holds =
               [](const Call<Op>& c) {
                 const auto query = query_as_given(c);
                 const auto value = value_as_given(c);
                 return !query || (query->dim > 0 && (!value || value->dim > 0));
               },
           .violations = {{"head_dim",
                           [](Call<Op>& c) {
                             // Does not change calls with rope. There, queryRope must not be wider
                             // than query, so a head size of 0 would also break that requirement.
                             if (!takes_ropes(c))
                               rewrite(c, [](AttentionProblem& p) { set_head_dim(p, 0); });
                           }},
                          {"head_dim_v", [](Call<Op>& c) {
                             rewrite(c, [](AttentionProblem& p) { p.head_dim_v = 0; });
                           }}}});
}

/// Returns the number of heads of query. If heads and channels have a common axis, the result only
/// says whether there are heads: headNum if the axis has extent 0, else 1. The requirement
/// `head_num` checks the value of headNum.
template <class Op>
std::int64_t heads_of(const Call<Op>& c) {
  const Layout layout = *layout_of(c);
  const Shape& query = c.parameters.query.shape;
  if (!merges_heads(layout)) return query[*position_of(layout, Axis::heads)];
  return query.back() == 0 ? c.attributes.head_num : 1;
}

template <class Op>
Requirement<Op> some_heads(const Stated<Op>& by) {
  return stated<Op>(by,
                    {.statement = "query has at least one head.",
                     .applies = ranks_fit,
                     .holds = [](const Call<Op>& c) { return !ranks_fit(c) || heads_of(c) != 0; },
                     .reaches = [](const Call<Op>& c) { return c.attributes.head_num == 1; },
                     .violations = {{"none", [](Call<Op>& c) {
                                       rewrite(c, [](AttentionProblem& p) {
                                         p.heads_q = 0;
                                         p.heads_kv = 1;
                                       });
                                     }}}});
}

}  // namespace assay::spec::detail
