#include <algorithm>
#include <utility>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

/// No page says whether K is 1000 or 1024, or whether M is 1000 * 1000 or 1024 * 1024. FAG-C94
/// covers the sizes between the two.
constexpr std::int64_t kilo = 1024, mega = 1024 * 1024;
constexpr std::int64_t short_kilo = 1000, short_mega = 1000 * 1000;
constexpr std::int64_t most_heads = 256;
constexpr std::int64_t most_batches = 2 * mega;
constexpr std::int64_t most_batches_with_prefix = 2 * kilo;
constexpr std::int64_t longest_sequence = mega;
constexpr std::int64_t most_tokens = mega;
constexpr std::int64_t agreed_head_dim = 512;
constexpr std::int64_t widest_head_dim = 768;

bool has_query_extents(const FlashCall& c) { return query_as_given(c).has_value(); }
bool is_padded_with_extents(const FlashCall& c) { return is_padded(c) && key_as_given(c); }

bool uses_prefix(const FlashCall& c) {
  const std::int64_t mode = c.attributes.sparse_mode;
  return c.parameters.prefix && (mode == 5 || mode == 6);
}

/// Makes one sequence of queries or of keys longer than the limit.
template <bool queries>
void lengthen(FlashProblem& p) {
  make_small(p);
  (queries ? p.seq_q : p.seq_kv) = longest_sequence + 1;
}
/// Makes two sequences whose lengths together exceed the limit.
template <bool queries>
void lengthen_together(FlashProblem& p) {
  make_small(p);
  p.batch = 2;
  (queries ? p.seq_q : p.seq_kv) = most_tokens / 2 + 1;
}

FlashRequirement heads_limit() {
  return {.id = "FAG-C39",
          .statement = "query has at most 256 heads.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = all_pages,
          .page_for = public_pages,
          .sides = {Side::accept, Side::reject},
          .applies = has_query_extents,
          .holds =
              [](const FlashCall& c) {
                const auto query = query_as_given(c);
                return !query || query->heads <= most_heads;
              },
          .reaches = [](const FlashCall& c) { return query_as_given(c)->heads == most_heads; },
          .violations = {{"heads", [](FlashCall& c) {
                            rewrite(c, [](FlashProblem& p) {
                              p.heads_q = most_heads + 1;
                              p.heads_kv = 1;
                            });
                          }}}};
}

FlashRequirement batch_limit() {
  return {.id = "FAG-C40",
          .statement = "The batch size is at most 2M.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = g_pages,
          .sides = {Side::accept, Side::reject},
          .applies = is_padded_with_extents,
          .holds =
              [](const FlashCall& c) {
                return !is_padded_with_extents(c) || query_as_given(c)->batch <= most_batches;
              },
          .reaches = [](const FlashCall& c) { return query_as_given(c)->batch >= 2 * short_mega; },
          .violations = {{"batch", [](FlashCall& c) {
                            if (is_padded(c))
                              rewrite(c, [](FlashProblem& p) {
                                make_small(p);
                                p.batch = most_batches + 1;
                              });
                          }}}};
}

FlashRequirement batch_limit_with_prefix() {
  return {.id = "FAG-C40a",
          .statement = "With a prefix in use the batch size is at most 2K.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = g_pages,
          .sides = {Side::accept, Side::reject},
          .applies = [](const FlashCall& c) { return uses_prefix(c) && is_padded_with_extents(c); },
          .holds =
              [](const FlashCall& c) {
                return !uses_prefix(c) || !is_padded_with_extents(c) ||
                       query_as_given(c)->batch <= most_batches_with_prefix;
              },
          .reaches = [](const FlashCall& c) { return query_as_given(c)->batch >= 2 * short_kilo; },
          .violations = {{"batch", [](FlashCall& c) {
                            if (is_packed(c)) return;
                            rewrite(c, [](FlashProblem& p) {
                              make_small(p);
                              p.batch = most_batches_with_prefix + 1;
                            });
                            attach_prefix(c);
                          }}}};
}

bool reaches_longest(const FlashCall& c) {
  return std::max(query_as_given(c)->seq, key_as_given(c)->seq) >= short_mega;
}

FlashRequirement sequence_limit() {
  return {.id = "FAG-C41",
          .statement = "Sq and Skv are at most 1M.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = g_pages,
          .sides = {Side::accept, Side::reject},
          .applies = is_padded_with_extents,
          .holds =
              [](const FlashCall& c) {
                return !is_padded_with_extents(c) ||
                       std::max(query_as_given(c)->seq, key_as_given(c)->seq) <= longest_sequence;
              },
          .reaches = reaches_longest,
          .violations = {{"seq_q",
                          [](FlashCall& c) {
                            if (is_padded(c)) rewrite(c, lengthen<true>);
                          }},
                         {"seq_kv", [](FlashCall& c) {
                            if (is_padded(c)) rewrite(c, lengthen<false>);
                          }}}};
}

FlashRequirement packed_sequence_limit() {
  static constexpr auto concerned = [](const FlashCall& c) { return is_u4(c) && key_as_given(c); };
  return {.id = "FAG-C41a",
          .statement = "No sequence of query or keyIn is longer than 1M.",
          .source = {upstream_fourth_unpadding_page, "constraints"},
          .standing = Standing::page,
          .page_for = u4_page,
          .sides = {Side::accept, Side::reject},
          .implies = {"FAG-C42"},
          .applies = concerned,
          .holds =
              [](const FlashCall& c) {
                return !concerned(c) ||
                       std::max(query_as_given(c)->seq, key_as_given(c)->seq) <= longest_sequence;
              },
          .reaches = reaches_longest,
          .violations = {{"seq_q",
                          [](FlashCall& c) {
                            if (is_u4(c)) rewrite(c, lengthen<true>);
                          }},
                         {"seq_kv", [](FlashCall& c) {
                            if (is_u4(c)) rewrite(c, lengthen<false>);
                          }}}};
}

/// The number of tokens of query or of keyIn, whichever is larger.
std::int64_t tokens_of(const FlashCall& c) {
  return std::max(c.parameters.query.shape[0], c.parameters.key.shape[0]);
}

FlashRequirement token_limit() {
  static constexpr auto concerned = [](const FlashCall& c) { return is_packed(c) && ranks_fit(c); };
  return {.id = "FAG-C42",
          .statement = "query and keyIn have at most 1M tokens.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .page_for = public_pages,
          .sides = {Side::accept, Side::reject},
          .applies = concerned,
          .holds = [](const FlashCall& c) { return !concerned(c) || tokens_of(c) <= most_tokens; },
          .reaches = [](const FlashCall& c) { return tokens_of(c) >= short_mega; },
          .violations = {{"tokens_q",
                          [](FlashCall& c) {
                            if (is_packed(c)) rewrite(c, lengthen_together<true>);
                          }},
                         {"tokens_kv", [](FlashCall& c) {
                            if (is_packed(c)) rewrite(c, lengthen_together<false>);
                          }}}};
}

void set_head_dim(FlashProblem& p, std::int64_t head_dim) { p.head_dim = p.head_dim_v = head_dim; }

FlashRequirement wide_head_size_limit() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return (is_u3(c) || is_of_public_page(c)) && has_query_extents(c);
  };
  return {.id = "FAG-C44",
          .statement = "The head size of query is at most 768.",
          .source = {rope_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u3_page,
          .page_for = public_pages,
          .sides = {Side::accept, Side::reject},
          .applies = concerned,
          .holds =
              [](const FlashCall& c) {
                return !concerned(c) || query_as_given(c)->dim <= widest_head_dim;
              },
          .reaches = [](const FlashCall& c) { return query_as_given(c)->dim == widest_head_dim; },
          .violations = {{"head_dim", [](FlashCall& c) {  // a multiple of 8
                            if (is_u3(c) || is_of_public_page(c))
                              rewrite(
                                  c, [](FlashProblem& p) { set_head_dim(p, widest_head_dim + 8); });
                          }}}};
}

bool is_of_narrow_page(const FlashCall& c) { return is_padded(c) || is_u1(c); }

/// FAG-C44a covers sizes from 513, which this page excludes, to 768, which other pages allow.
FlashRequirement head_size_limit() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_of_narrow_page(c) && has_query_extents(c);
  };
  return {.id = "FAG-C44b",
          .statement =
              "The head size is at most 768, the largest limit of all pages; the limit of "
              "this page is 512.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = g_u1_pages,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q2",
          .applies = concerned,
          .holds =
              [](const FlashCall& c) {
                return !concerned(c) || query_as_given(c)->dim <= widest_head_dim;
              },
          .reaches = [](const FlashCall& c) { return query_as_given(c)->dim >= agreed_head_dim; },
          .violations = {{"head_dim", [](FlashCall& c) {
                            if (!is_of_narrow_page(c)) return;
                            rewrite(c,
                                    [](FlashProblem& p) { set_head_dim(p, widest_head_dim + 1); });
                          }}}};
}

/// The host code has no limit, and newer pages allow 768.
FlashRequirement narrow_head_sizes() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_of_narrow_page(c) && has_query_extents(c) &&
           query_as_given(c)->dim <= widest_head_dim;
  };
  return {.id = "FAG-C44a",
          .statement = "The head size of query is at most 512; newer pages say 768.",
          .source = {operator_page, "constraints"},
          .standing = Standing::open,
          .stated_for = g_u1_pages,
          .sides = {Side::reject},
          .notes = "FAG-Q2",
          .applies = concerned,
          .holds =
              [](const FlashCall& c) {
                return !concerned(c) || query_as_given(c)->dim <= agreed_head_dim;
              },
          .violations = {{"head_dim_513",
                          [](FlashCall& c) {
                            if (!is_of_narrow_page(c)) return;
                            rewrite(c,
                                    [](FlashProblem& p) { set_head_dim(p, agreed_head_dim + 1); });
                          }},
                         {"head_dim_768", [](FlashCall& c) {
                            if (!is_of_narrow_page(c)) return;
                            rewrite(c, [](FlashProblem& p) { set_head_dim(p, widest_head_dim); });
                          }}}};
}

/// Returns whether `count` is above `least`, the limit with K = 1000, and at most `most`, the limit
/// with K = 1024.
bool is_between(std::int64_t count, std::int64_t least, std::int64_t most) {
  return count > least && count <= most;
}

bool is_within_all_readings(const FlashCall& c) {
  if (!key_as_given(c)) return true;
  const std::int64_t batch = query_as_given(c)->batch;
  if (is_padded(c))
    return !is_between(batch, 2 * short_mega, 2 * mega) &&
           !(uses_prefix(c) && is_between(batch, 2 * short_kilo, 2 * kilo)) &&
           !is_between(query_as_given(c)->seq, short_mega, mega) &&
           !is_between(key_as_given(c)->seq, short_mega, mega);
  const bool by_prefix = uses_prefix(c) && masked_in_mode(c, 6);
  return !is_between(batch, 2 * short_kilo, 2 * kilo) &&
         !(by_prefix && is_between(batch, short_kilo, kilo)) &&
         !is_between(c.parameters.query.shape[0], short_mega, mega) &&
         !is_between(c.parameters.key.shape[0], short_mega, mega);
}

/// Makes a call with `sequences` sequences, with or without a prefix.
template <std::int64_t sequences, bool packed, bool prefix>
void multiply(FlashCall& call) {
  if (is_packed(call) != packed || (prefix && is_u3(call))) return;
  rewrite(call, [](FlashProblem& p) {
    make_small(p);
    p.batch = sequences;
  });
  if (prefix) attach_prefix(call);
}

FlashRequirement meaning_of_k_and_m() {
  return {
      .id = "FAG-C94",
      .statement =
          "No page says whether K is 1000 or 1024, or whether M is 1000 * 1000 or 1024 * 1024: no "
          "size is between the two possible values of its limit.",
      .source = {operator_page, "constraints"},
      .standing = Standing::disputed,
      .sides = {Side::reject},
      .notes = "FAG-Q25",
      .applies = [](const FlashCall& c) { return key_as_given(c).has_value(); },
      .holds = is_within_all_readings,
      .violations = {{"sequences", multiply<2 * kilo, true, false>},
                     {"sequences_with_prefix", multiply<kilo, true, true>},
                     {"batch", multiply<2 * mega, false, false>},
                     {"batch_with_prefix", multiply<2 * kilo, false, true>},
                     {"seq_q",
                      [](FlashCall& c) {
                        rewrite(c, [](FlashProblem& p) {
                          make_small(p);
                          p.seq_q = longest_sequence;
                        });
                      }},
                     {"seq_kv", [](FlashCall& c) {
                        rewrite(c, [](FlashProblem& p) {
                          make_small(p);
                          p.seq_kv = longest_sequence;
                        });
                      }}}};
}

}  // namespace

std::vector<FlashRequirement> size_requirements() {
  return {heads_limit(),          batch_limit(),           batch_limit_with_prefix(),
          sequence_limit(),       packed_sequence_limit(), token_limit(),
          wide_head_size_limit(), narrow_head_sizes(),     head_size_limit(),
          meaning_of_k_and_m()};
}

}  // namespace assay::spec::detail
