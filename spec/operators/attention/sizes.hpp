#pragma once

#include <algorithm>

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

/// The two possible values of K and M in the documented limits: no documentation page says whether
/// K is 1000 or 1024, or whether M is 1000 * 1000 or 1024 * 1024.
inline constexpr std::int64_t kilo = 1024, mega = 1024 * 1024;
inline constexpr std::int64_t short_kilo = 1000, short_mega = 1000 * 1000;
inline constexpr std::int64_t most_heads = 256;
inline constexpr std::int64_t most_batches = 2 * mega;
inline constexpr std::int64_t most_batches_with_prefix = 2 * kilo;
inline constexpr std::int64_t longest_sequence = mega;
inline constexpr std::int64_t most_tokens = mega;
inline constexpr std::int64_t agreed_head_dim = 512;
inline constexpr std::int64_t widest_head_dim = 768;

template <class Op>
bool is_padded_with_extents(const Call<Op>& c) {
  return is_padded(c) && key_as_given(c);
}

template <class Op>
bool uses_prefix(const Call<Op>& c) {
  const std::int64_t mode = c.attributes.sparse_mode;
  return c.parameters.prefix && (mode == 5 || mode == 6);
}

/// Makes the only sequence of queries, or of keys, longer than the limit.
template <bool queries>
void lengthen(AttentionProblem& p) {
  make_small(p);
  (queries ? p.seq_q : p.seq_kv) = longest_sequence + 1;
}
/// Makes two sequences whose total length exceeds the limit.
template <bool queries>
void lengthen_together(AttentionProblem& p) {
  make_small(p);
  p.batch = 2;
  (queries ? p.seq_q : p.seq_kv) = most_tokens / 2 + 1;
}

template <class Op>
Requirement<Op> heads_limit(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "query has at most 256 heads.",
           .applies = has_query_extents,
           .holds =
               [](const Call<Op>& c) {
                 const auto query = query_as_given(c);
                 return !query || query->heads <= most_heads;
               },
           .reaches = [](const Call<Op>& c) { return query_as_given(c)->heads == most_heads; },
           .violations = {{"heads", [](Call<Op>& c) {
                             rewrite(c, [](AttentionProblem& p) {
                               p.heads_q = most_heads + 1;
                               p.heads_kv = 1;
                             });
                           }}}});
}

template <class Op>
Requirement<Op> batch_limit(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "The batch size is at most 2M.",
           .applies = is_padded_with_extents,
           .holds =
               [](const Call<Op>& c) {
                 return !is_padded_with_extents(c) || query_as_given(c)->batch <= most_batches;
               },
           .reaches = [](const Call<Op>& c) { return query_as_given(c)->batch >= 2 * short_mega; },
           .violations = {{"batch", [](Call<Op>& c) {
                             if (is_padded(c))
                               rewrite(c, [](AttentionProblem& p) {
                                 make_small(p);
                                 p.batch = most_batches + 1;
                               });
                           }}}});
}

template <class Op>
Requirement<Op> batch_limit_with_prefix(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "With a prefix in use the batch size is at most 2K.",
           .applies = [](const Call<Op>& c) { return uses_prefix(c) && is_padded_with_extents(c); },
           .holds =
               [](const Call<Op>& c) {
                 return !uses_prefix(c) || !is_padded_with_extents(c) ||
                        query_as_given(c)->batch <= most_batches_with_prefix;
               },
           .reaches = [](const Call<Op>& c) { return query_as_given(c)->batch >= 2 * short_kilo; },
           .violations = {{"batch", [](Call<Op>& c) {
                             if (is_packed(c)) return;
                             rewrite(c, [](AttentionProblem& p) {
                               make_small(p);
                               p.batch = most_batches_with_prefix + 1;
                             });
                             attach_prefix(c);
                           }}}});
}

template <class Op>
bool reaches_longest(const Call<Op>& c) {
  return std::max(query_as_given(c)->seq, key_as_given(c)->seq) >= short_mega;
}

template <class Op>
Requirement<Op> sequence_limit(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "Sq and Skv are at most 1M.",
                         .applies = is_padded_with_extents,
                         .holds =
                             [](const Call<Op>& c) {
                               return !is_padded_with_extents(c) ||
                                      std::max(query_as_given(c)->seq, key_as_given(c)->seq) <=
                                          longest_sequence;
                             },
                         .reaches = reaches_longest,
                         .violations = {{"seq_q",
                                         [](Call<Op>& c) {
                                           if (is_padded(c)) rewrite(c, lengthen<true>);
                                         }},
                                        {"seq_kv", [](Call<Op>& c) {
                                           if (is_padded(c)) rewrite(c, lengthen<false>);
                                         }}}});
}

/// Returns the number of tokens of query or of keyIn, whichever is larger.
template <class Op>
std::int64_t tokens_of(const Call<Op>& c) {
  return std::max(c.parameters.query.shape[0], c.parameters.key.shape[0]);
}

template <class Op>
Requirement<Op> token_limit(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) { return is_packed(c) && ranks_fit(c); };
  return stated<Op>(
      by, {.statement = "query and keyIn have at most 1M tokens.",
           .applies = concerned,
           .holds = [](const Call<Op>& c) { return !concerned(c) || tokens_of(c) <= most_tokens; },
           .reaches = [](const Call<Op>& c) { return tokens_of(c) >= short_mega; },
           .violations = {{"tokens_q",
                           [](Call<Op>& c) {
                             if (is_packed(c)) rewrite(c, lengthen_together<true>);
                           }},
                          {"tokens_kv", [](Call<Op>& c) {
                             if (is_packed(c)) rewrite(c, lengthen_together<false>);
                           }}}});
}

inline void set_head_dim(AttentionProblem& p, std::int64_t head_dim) {
  p.head_dim = p.head_dim_v = head_dim;
}

template <class Op, auto on>
Requirement<Op> wide_head_size_limit(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) { return on(c) && has_query_extents(c); };
  return stated<Op>(
      by, {.statement = "The head size of query is at most 768.",
           .applies = concerned,
           .holds =
               [](const Call<Op>& c) {
                 return !concerned(c) || query_as_given(c)->dim <= widest_head_dim;
               },
           .reaches = [](const Call<Op>& c) { return query_as_given(c)->dim == widest_head_dim; },
           .violations = {{"head_dim", [](Call<Op>& c) {  // a multiple of 8
                             if (on(c))
                               rewrite(c, [](AttentionProblem& p) {
                                 set_head_dim(p, widest_head_dim + 8);
                               });
                           }}}});
}

}  // namespace assay::spec::detail
