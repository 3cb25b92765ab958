#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;
using Sums = std::optional<std::vector<std::int64_t>>;

constexpr std::int64_t most_lengths = 2048;
constexpr std::int64_t most_lengths_with_prefix = 1024;

bool is_ascending(const Sums& sums) {
  return !sums || sums->empty() || (sums->front() >= 0 && std::ranges::is_sorted(*sums));
}

bool uses_prefix(const FlashCall& c) {
  return c.parameters.prefix && masked_in_mode(c, 6) && !is_u3(c);
}

bool has_lengths(const FlashCall& c) { return is_packed(c) && key_as_given(c).has_value(); }

bool has_some_empty_length(const FlashCall& c) {
  return has_lengths(c) &&
         (has_empty_length(*query_as_given(c)) || has_empty_length(*key_as_given(c)));
}

/// Last sum of the lengths minus the number of tokens, for query and for keyIn; 0 if ranks or sums
/// do not allow the comparison.
struct Excess {
  std::int64_t query = 0, key = 0;
};
Excess excess_of(const FlashCall& c) {
  const P& p = c.parameters;
  const auto excess = [&](const Sums& sums, const Parameter& parameter) {
    if (!sums || sums->empty() || !is_ascending(sums)) return std::int64_t{0};
    return sums->back() - parameter.shape[0];
  };
  if (!is_packed(c) || !ranks_fit(c)) return {};
  return {excess(p.actual_seq_qlen, p.query), excess(p.actual_seq_kvlen, p.key)};
}

void raise_last(Sums& sums) {
  if (sums && !sums->empty()) ++sums->back();
}

/// Moves the last sum one entry forward and ends with a sum of 0, so that the sums decrease after
/// they covered all tokens.
void fall_at_the_end(Sums& sums) {
  if (!sums || sums->size() < 2 || sums->back() == 0) return;
  (*sums)[sums->size() - 2] = sums->back();
  sums->back() = 0;
}

/// Returns whether the last sequence has neither queries nor keys.
bool ends_in_nothing(const FlashCall& c) {
  if (!has_lengths(c)) return false;
  const Extents query = *query_as_given(c), key = *key_as_given(c);
  return query.length(query.batch - 1) == 0 && key.length(key.batch - 1) == 0;
}

/// Reduces the sums of one side so that the last token belongs to no sequence. The longest sequence
/// keeps its length.
void abandon_a_token(FlashCall& call, Sums P::*sums) {
  if (!is_packed(call)) return;
  rewrite(call, [](FlashProblem& p) {
    make_uniform(p);
    p.batch = std::max<std::int64_t>(2, p.batch);
    p.seq_q = std::max<std::int64_t>(2, p.seq_q);  // so that its sequence has other tokens, too
    p.seq_kv = std::max<std::int64_t>(2, p.seq_kv);
  });
  Sums& of_side = call.parameters.*sums;
  if (of_side && !of_side->empty()) --of_side->back();
}

FlashRequirement lengths_present() {
  return {.id = "FAG-C05",
          .statement = "actualSeqQLen and actualSeqKvLen are not null.",
          .source = {unpadding_page, "return values"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q36",
          .status = exactly(Status::param_nullptr),
          .applies = is_packed,
          .holds =
              [](const FlashCall& c) {
                const P& p = c.parameters;
                return is_padded(c) || (p.actual_seq_qlen && p.actual_seq_kvlen);
              },
          .violations = {
              {"actual_seq_qlen", [](FlashCall& c) { c.parameters.actual_seq_qlen.reset(); }},
              {"actual_seq_kvlen", [](FlashCall& c) { c.parameters.actual_seq_kvlen.reset(); }}}};
}

/// An upstream test passes 2049 entries and expects success.
FlashRequirement number_of_lengths() {
  return {.id = "FAG-C43",
          .statement = "There are at most 2K sequences.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::open,
          .stated_for = u_pages,
          .page_for = public_pages,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q25",
          .applies = has_lengths,
          .holds =
              [](const FlashCall& c) {
                return !has_lengths(c) || query_as_given(c)->batch <= most_lengths;
              },
          .reaches = [](const FlashCall& c) { return query_as_given(c)->batch >= 2000; },
          .violations = {{"sequences", [](FlashCall& c) {
                            if (!is_packed(c)) return;
                            rewrite(c, [](FlashProblem& p) {
                              make_small(p);
                              p.batch = most_lengths + 1;
                            });
                          }}}};
}

FlashRequirement number_of_lengths_with_prefix() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return has_lengths(c) && uses_prefix(c) && query_as_given(c)->batch <= most_lengths;
  };
  return {.id = "FAG-C43a",
          .statement = "With a prefix in use there are at most 1K sequences.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::open,
          .stated_for = u1_page,
          .page_for = public_pages,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q25",
          .applies = concerned,
          .holds =
              [](const FlashCall& c) {
                return !concerned(c) || query_as_given(c)->batch <= most_lengths_with_prefix;
              },
          .reaches = [](const FlashCall& c) { return query_as_given(c)->batch >= 1000; },
          .violations = {{"sequences", [](FlashCall& c) {
                            if (is_padded(c) || is_u3(c)) return;
                            rewrite(c, [](FlashProblem& p) {
                              make_small(p);
                              p.batch = most_lengths_with_prefix + 1;
                            });
                            attach_prefix(c);
                          }}}};
}

FlashRequirement packed_tokens() {
  return {.id = "FAG-C86",
          .statement = "The tokens of the sequences follow one another without gaps.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .sides = {Side::content},
          .applies = is_packed,
          .holds = always,
          .reason = content_reason};
}

/// FAG-C05 covers null pointers; FAG-C33 covers arrays of different lengths.
FlashRequirement some_length() {
  static constexpr auto empty = [](const Sums& sums) { return sums && sums->empty(); };
  return {.id = "TND-1",
          .statement = "There is at least one sequence.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .sides = {Side::accept, Side::reject},
          .applies = is_packed,
          .holds =
              [](const FlashCall& c) {
                return is_padded(c) || (!empty(c.parameters.actual_seq_qlen) &&
                                        !empty(c.parameters.actual_seq_kvlen));
              },
          .violations = {{"none", [](FlashCall& c) {
                            if (is_padded(c)) return;
                            c.parameters.actual_seq_qlen.emplace();
                            c.parameters.actual_seq_kvlen.emplace();
                          }}}};
}

FlashRequirement empty_lengths() {
  return {
      .id = "TND-2",
      .statement = "If two adjacent sums of query are equal, the second sequence has no queries.",
      .source = {unpadding_page, "constraints"},
      .standing = Standing::documented,
      .stated_for = u_pages,
      .sides = {Side::accept},
      .notes = "FAG-Q36",
      .applies =
          [](const FlashCall& c) { return has_lengths(c) && has_empty_length(*query_as_given(c)); },
      .holds = always};
}

/// The host code handles the query side and the key side in the same way.
FlashRequirement empty_key_lengths() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return has_lengths(c) && has_empty_length(*key_as_given(c));
  };
  return {
      .id = "TND-2a",
      .statement = "No sequence is without keys: the pages allow only sequences without queries.",
      .source = {unpadding_page, "constraints"},
      .standing = Standing::open,
      .stated_for = u_pages,
      .page_for = public_pages,
      .sides = {Side::reject},
      .applies = concerned,
      .holds = [](const FlashCall& c) { return !concerned(c); },
      .violations = {{"first", [](FlashCall& c) {
                        if (is_padded(c)) return;
                        rewrite(c, [](FlashProblem& p) {
                          make_uniform(p);
                          p.batch = 2;
                          p.lengths_kv = {0, p.seq_kv};
                        });
                      }}}};
}

FlashRequirement sums_within_tokens() {
  return {.id = "TND-3",
          .statement = "query and keyIn contain the tokens of all sequences.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::derived,
          .sides = {Side::accept, Side::reject},
          .applies = [](const FlashCall& c) { return is_packed(c) && ranks_fit(c); },
          .holds =
              [](const FlashCall& c) {
                const Excess excess = excess_of(c);
                return excess.query <= 0 && excess.key <= 0;
              },
          .violations = {{"actual_seq_qlen",
                          [](FlashCall& c) { raise_last(c.parameters.actual_seq_qlen); }},
                         {"actual_seq_kvlen",
                          [](FlashCall& c) { raise_last(c.parameters.actual_seq_kvlen); }}}};
}

FlashRequirement abandoned_tokens() {
  return {.id = "TND-3a",
          .statement = "Every token of query and keyIn belongs to a sequence.",
          .source = {upstream_kernels, "clearing of the accumulators"},
          .standing = Standing::open,
          .stated_for = u_pages,
          .page_for = public_pages,
          .sides = {Side::reject},
          .notes = "CV-O3",
          .applies = has_lengths,
          .holds =
              [](const FlashCall& c) {
                const Excess excess = excess_of(c);
                return excess.query >= 0 && excess.key >= 0;
              },
          .violations = {{"query", [](FlashCall& c) { abandon_a_token(c, &P::actual_seq_qlen); }},
                         {"key", [](FlashCall& c) { abandon_a_token(c, &P::actual_seq_kvlen); }}}};
}

FlashRequirement gradients_of_padding() {
  return {.id = "TND-3b",
          .statement = "The gradients of tokens after the last sequence are 0.",
          .source = {upstream_kernels, "clearing of the accumulators"},
          .standing = Standing::upstream,
          .sides = {Side::content},
          .notes = "CV-O3",
          .applies =
              [](const FlashCall& c) {
                const Excess excess = excess_of(c);
                return excess.query < 0 || excess.key < 0;
              },
          .holds = always,
          .reason =
              "the requirement is about elements, which phase 1 does not read; cases with "
              "padding_q or padding_kv check it"};
}

FlashRequirement trailing_nothing() {
  return {.id = "TND-4",
          .statement = "Trailing sequences that are empty on both sides change nothing.",
          .source = {upstream_general_tiling, "lengths"},
          .standing = Standing::upstream,
          .sides = {Side::accept},
          .applies = ends_in_nothing,
          .holds = always};
}

FlashRequirement ascending_sums() {
  return {.id = "TND-5",
          .statement =
              "The sums do not decrease; only the forward operator treats a decrease as length 0.",
          .source = {upstream_general_tiling, "lengths"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .notes = "FAG-Q32",
          .applies = is_packed,
          .holds =
              [](const FlashCall& c) {
                return is_padded(c) || (is_ascending(c.parameters.actual_seq_qlen) &&
                                        is_ascending(c.parameters.actual_seq_kvlen));
              },
          .violations = {{"actual_seq_qlen",
                          [](FlashCall& c) { fall_at_the_end(c.parameters.actual_seq_qlen); }},
                         {"actual_seq_kvlen",
                          [](FlashCall& c) { fall_at_the_end(c.parameters.actual_seq_kvlen); }}}};
}

FlashRequirement gradients_of_empty_sequences() {
  return {.id = "TND-6",
          .statement =
              "If a sequence has no queries, its gradients of key and value are 0; if it "
              "has no keys, its gradient of query is 0.",
          .source = {upstream_general_tiling, "empty sequences"},
          .standing = Standing::upstream,
          .sides = {Side::content},
          .applies = has_some_empty_length,
          .holds = always,
          .reason = content_reason};
}

/// The calls that exercise this rule belong to FAG-C43 and FAG-C43a.
FlashRequirement limits_of_lengths() {
  return {.id = "TND-7",
          .statement =
              "The pages limit the number of sequences to 2K, and to 1K with a prefix; the "
              "host code enforces neither limit.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .sides = {Side::none},
          .notes = "FAG-Q25",
          .applies = is_packed,
          .holds = always,
          .reason = "FAG-C43 and the requirements that refine it contain the limits"};
}

}  // namespace

std::vector<FlashRequirement> length_requirements() {
  return {lengths_present(),
          number_of_lengths(),
          number_of_lengths_with_prefix(),
          packed_tokens(),
          some_length(),
          empty_lengths(),
          empty_key_lengths(),
          sums_within_tokens(),
          abandoned_tokens(),
          gradients_of_padding(),
          trailing_nothing(),
          ascending_sums(),
          gradients_of_empty_sequences(),
          limits_of_lengths()};
}

}  // namespace assay::spec::detail
