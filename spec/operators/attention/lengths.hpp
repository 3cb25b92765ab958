#pragma once

#include <algorithm>

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

inline constexpr std::int64_t most_lengths = 2048;
inline constexpr std::int64_t most_lengths_with_prefix = 1024;

inline bool is_ascending(const Sums& sums) {
  return !sums || sums->empty() || (sums->front() >= 0 && std::ranges::is_sorted(*sums));
}

template <class Op>
bool reads_prefix(const Call<Op>& c) {
  return c.parameters.prefix && masked_in_mode(c, 6) && !takes_ropes(c);
}

template <class Op>
bool has_lengths(const Call<Op>& c) {
  return is_packed(c) && key_as_given(c).has_value();
}

template <class Op>
bool has_some_empty_length(const Call<Op>& c) {
  return has_lengths(c) &&
         (has_empty_length(*query_as_given(c)) || has_empty_length(*key_as_given(c)));
}

/// For query and for keyIn: the last cumulative length minus the number of tokens. The difference
/// is 0 if the layout is not packed, a rank is wrong, or the cumulative lengths are missing or not
/// ascending.
struct Excess {
  std::int64_t query = 0, key = 0;
};
template <class Op>
Excess excess_of(const Call<Op>& c) {
  const auto& p = c.parameters;
  const auto excess = [&](const Sums& sums, const Parameter& parameter) {
    if (!sums || sums->empty() || !is_ascending(sums)) return std::int64_t{0};
    return sums->back() - parameter.shape[0];
  };
  if (!is_packed(c) || !ranks_fit(c)) return {};
  return {excess(p.actual_seq_qlen, p.query), excess(p.actual_seq_kvlen, p.key)};
}

inline void raise_last(Sums& sums) {
  if (sums && !sums->empty()) ++sums->back();
}

/// Makes the cumulative lengths decrease at the end: copies the last entry to the entry before it,
/// then sets the last entry to 0.
inline void fall_at_the_end(Sums& sums) {
  if (!sums || sums->size() < 2 || sums->back() == 0) return;
  (*sums)[sums->size() - 2] = sums->back();
  sums->back() = 0;
}

/// Returns whether the last sequence has neither queries nor keys.
template <class Op>
bool ends_in_nothing(const Call<Op>& c) {
  if (!has_lengths(c)) return false;
  const Extents query = *query_as_given(c), key = *key_as_given(c);
  return query.length(query.batch - 1) == 0 && key.length(key.batch - 1) == 0;
}

/// Reduces the last cumulative length of one side (query or key) by 1, so that the last token
/// belongs to no sequence. The longest sequence keeps its length.
template <class Op>
void abandon_a_token(Call<Op>& call, Sums Op::Parameters::*sums) {
  if (!is_packed(call)) return;
  rewrite(call, [](AttentionProblem& p) {
    make_uniform(p);
    p.batch = std::max<std::int64_t>(2, p.batch);
    p.seq_q = std::max<std::int64_t>(2, p.seq_q);  // so that its sequence has other tokens, too
    p.seq_kv = std::max<std::int64_t>(2, p.seq_kv);
  });
  Sums& of_side = call.parameters.*sums;
  if (of_side && !of_side->empty()) --of_side->back();
}

template <class Op>
Requirement<Op> lengths_present(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "actualSeqQLen and actualSeqKvLen are not null.",
           .applies = is_packed,
           .holds =
               [](const Call<Op>& c) {
                 const auto& p = c.parameters;
                 return is_padded(c) || (p.actual_seq_qlen && p.actual_seq_kvlen);
               },
           .violations = {
               {"actual_seq_qlen", [](Call<Op>& c) { c.parameters.actual_seq_qlen.reset(); }},
               {"actual_seq_kvlen", [](Call<Op>& c) { c.parameters.actual_seq_kvlen.reset(); }}}});
}

/// Requires at most `most` sequences in the calls that `on` selects.
template <class Op, auto on = always<Op>, std::int64_t most = most_lengths>
Requirement<Op> number_of_lengths(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) { return on(c) && has_lengths(c); };
  return stated<Op>(
      by,
      {.statement = "There are at most 2K sequences.",
       .applies = concerned,
       .holds = [](const Call<Op>& c) { return !concerned(c) || query_as_given(c)->batch <= most; },
       .reaches =
           [](const Call<Op>& c) {
             return query_as_given(c)->batch >= std::min<std::int64_t>(most, 2000);
           },
       .violations = {{"sequences", [](Call<Op>& c) {
                         if (!is_packed(c) || !on(c)) return;
                         rewrite(c, [](AttentionProblem& p) {
                           make_small(p);
                           p.batch = most + 1;
                         });
                       }}}});
}

template <class Op>
Requirement<Op> number_of_lengths_with_prefix(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) {
    return has_lengths(c) && reads_prefix(c) && query_as_given(c)->batch <= most_lengths;
  };
  return stated<Op>(
      by, {.statement = "With a prefix in use there are at most 1K sequences.",
           .applies = concerned,
           .holds =
               [](const Call<Op>& c) {
                 return !concerned(c) || query_as_given(c)->batch <= most_lengths_with_prefix;
               },
           .reaches = [](const Call<Op>& c) { return query_as_given(c)->batch >= 1000; },
           .violations = {{"sequences", [](Call<Op>& c) {
                             if (is_padded(c) || takes_ropes(c)) return;
                             rewrite(c, [](AttentionProblem& p) {
                               make_small(p);
                               p.batch = most_lengths_with_prefix + 1;
                             });
                             attach_prefix(c);
                           }}}});
}

template <class Op>
Requirement<Op> packed_tokens(const Stated<Op>& by) {
  return stated<Op>(by,
                    {.statement = "The tokens of the sequences follow one another without gaps.",
                     .sides = {Side::content},
                     .applies = is_packed,
                     .reason = content_reason});
}

/// Requires at least one sequence. Other requirements check null pointers and arrays of different
/// lengths.
template <class Op>
Requirement<Op> some_length(const Stated<Op>& by) {
  static constexpr auto empty = [](const Sums& sums) { return sums && sums->empty(); };
  return stated<Op>(by, {.statement = "There is at least one sequence.",
                         .applies = is_packed,
                         .holds =
                             [](const Call<Op>& c) {
                               return is_padded(c) || (!empty(c.parameters.actual_seq_qlen) &&
                                                       !empty(c.parameters.actual_seq_kvlen));
                             },
                         .violations = {{"none", [](Call<Op>& c) {
                                           if (is_padded(c)) return;
                                           c.parameters.actual_seq_qlen.emplace();
                                           c.parameters.actual_seq_kvlen.emplace();
                                         }}}});
}

template <class Op>
Requirement<Op> empty_lengths(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "If two adjacent cumulative lengths of query are equal, the "
                                      "second sequence has no queries.",
                         .sides = {Side::accept},
                         .applies = [](const Call<Op>& c) {
                           return has_lengths(c) && has_empty_length(*query_as_given(c));
                         }});
}

/// Requires that every sequence has keys. In contrast, the vendor's host code has no special rule
/// for keys: it treats empty key sequences like empty query sequences.
template <class Op>
Requirement<Op> empty_key_lengths(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) {
    return has_lengths(c) && has_empty_length(*key_as_given(c));
  };
  return stated<Op>(by, {.statement = "Every sequence has keys: the pages allow sequences without "
                                      "queries, but not sequences without keys.",
                         .sides = {Side::reject},
                         .applies = concerned,
                         .holds = [](const Call<Op>& c) { return !concerned(c); },
                         .violations = {{"first", [](Call<Op>& c) {
                                           if (is_padded(c)) return;
                                           rewrite(c, [](AttentionProblem& p) {
                                             make_uniform(p);
                                             p.batch = 2;
                                             p.lengths_kv = {0, p.seq_kv};
                                           });
                                         }}}});
}

template <class Op>
Requirement<Op> sums_within_tokens(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "query and keyIn contain the tokens of all sequences.",
           .applies = [](const Call<Op>& c) { return is_packed(c) && ranks_fit(c); },
           .holds =
               [](const Call<Op>& c) {
                 const Excess excess = excess_of(c);
                 return excess.query <= 0 && excess.key <= 0;
               },
           .violations = {{"actual_seq_qlen",
                           [](Call<Op>& c) { raise_last(c.parameters.actual_seq_qlen); }},
                          {"actual_seq_kvlen",
                           [](Call<Op>& c) { raise_last(c.parameters.actual_seq_kvlen); }}}});
}

template <class Op>
Requirement<Op> abandoned_tokens(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement = "Every token of query and keyIn belongs to a sequence.",
       .sides = {Side::reject},
       .applies = has_lengths,
       .holds =
           [](const Call<Op>& c) {
             const Excess excess = excess_of(c);
             return excess.query >= 0 && excess.key >= 0;
           },
       .violations = {
           {"query", [](Call<Op>& c) { abandon_a_token(c, &Op::Parameters::actual_seq_qlen); }},
           {"key", [](Call<Op>& c) { abandon_a_token(c, &Op::Parameters::actual_seq_kvlen); }}}});
}

template <class Op>
Requirement<Op> trailing_nothing(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "Trailing sequences that have neither queries nor keys change nothing.",
           .sides = {Side::accept},
           .applies = ends_in_nothing});
}

template <class Op>
Requirement<Op> ascending_sums(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "The cumulative lengths do not decrease; only the forward operator treats "
                        "a decrease as length 0.",
           .sides = {Side::reject},
           .applies = is_packed,
           .holds =
               [](const Call<Op>& c) {
                 return is_padded(c) || (is_ascending(c.parameters.actual_seq_qlen) &&
                                         is_ascending(c.parameters.actual_seq_kvlen));
               },
           .violations = {{"actual_seq_qlen",
                           [](Call<Op>& c) { fall_at_the_end(c.parameters.actual_seq_qlen); }},
                          {"actual_seq_kvlen",
                           [](Call<Op>& c) { fall_at_the_end(c.parameters.actual_seq_kvlen); }}}});
}

}  // namespace assay::spec::detail
