#pragma once

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

/// Returns whether the call has packed sequences with a position bias (pse). Returns false for
/// entry points with rope tensors, because another requirement forbids a bias there.
template <class Op>
bool packed_with_pse(const Call<Op>& c) {
  return is_packed(c) && !takes_ropes(c) && given(c.parameters.pse_shift) && key_as_given(c);
}

/// Returns the start index of the queries minus the start index of the keys; 0 unless the operator
/// reads both.
template <class Op>
std::int64_t start_difference(const Call<Op>& c) {
  const auto& of_query = c.parameters.q_start_idx;
  const auto& of_key = c.parameters.kv_start_idx;
  if (!has_pse_type(c.entry_point) || !of_query || !of_key || of_query->empty() || of_key->empty())
    return 0;
  return of_query->front() - of_key->front();
}

template <class Op>
bool is_square_from_the_start(const Call<Op>& c) {
  const Extents query = *query_as_given(c), key = *key_as_given(c);
  if (query.length(0) - key.length(0) + start_difference(c) != 0) return false;
  for (std::int64_t b = 1; b < query.batch; ++b)
    if (query.length(b) != key.length(b)) return false;
  return true;
}

/// Passes a position bias for packed sequences. `change` makes the first sequence empty on the
/// query side or on the key side.
template <class Op>
void empty_first(Call<Op>& call, void (*change)(AttentionProblem& problem)) {
  if (is_padded(call) || takes_ropes(call)) return;
  rewrite(call, change);
  put_compressed_mask(call, 2);
  put_pse(call);
}

template <class Op>
Requirement<Op> no_pse_on_last_split(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "Sparse mode 7 does not accept a pseShift.",
           .applies = [](const Call<Op>& c) { return is_packed(c) && masked_in_mode(c, 7); },
           .holds = [](const Call<Op>& c) { return !packed_with_pse(c) || !masked_in_mode(c, 7); },
           .violations = {{"pse_shift", [](Call<Op>& c) {
                             if (is_padded(c) || takes_ropes(c)) return;
                             rewrite(c, make_square);
                             put_compressed_mask(c, 7);
                             c.attributes.next_tokens = 0;
                             put_pse(c);
                           }}}});
}

template <class Op>
Requirement<Op> square_first_split(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) {
    return packed_with_pse(c) && masked_in_mode(c, 8);
  };
  return stated<Op>(
      by,
      {.statement =
           "In sparse mode 8 a pseShift needs Sq = Skv for every sequence; for the first sequence, "
           "the start indices are added before the comparison.",
       .applies = concerned,
       .holds = [](const Call<Op>& c) { return !concerned(c) || is_square_from_the_start(c); },
       .violations = {{"lengths",
                       [](Call<Op>& c) {
                         if (is_padded(c) || takes_ropes(c)) return;
                         rewrite(c, [](AttentionProblem& p) {
                           make_square(p);
                           ++p.seq_kv;
                         });
                         put_compressed_mask(c, 8);
                         put_pse(c);
                       }},
                      {"start_indices", [](Call<Op>& c) {
                         if (is_padded(c) || !takes_slopes(c)) return;
                         rewrite(c, make_square_fp32);
                         put_compressed_mask(c, 8);
                         put_slopes(c, 2);
                         c.parameters.q_start_idx = {1};
                         c.parameters.kv_start_idx = {0};
                       }}}});
}

template <class Op>
Requirement<Op> no_pse_with_empty_queries(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "If a sequence has no queries, pseShift is not given.",
                         .applies =
                             [](const Call<Op>& c) {
                               return is_packed(c) && key_as_given(c) &&
                                      has_empty_length(*query_as_given(c));
                             },
                         .holds =
                             [](const Call<Op>& c) {
                               return !packed_with_pse(c) || !has_empty_length(*query_as_given(c));
                             },
                         .violations = {{"pse_shift", [](Call<Op>& c) {
                                           empty_first(c, [](AttentionProblem& p) {
                                             make_uniform(p);
                                             p.batch = 2;
                                             p.lengths_q = {0, p.seq_q};
                                           });
                                         }}}});
}

}  // namespace assay::spec::detail
