#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

/// Requirements on a position bias of packed sequences in sparse modes 7 and 8, which split a
/// causal mask between calls, and with empty sequences.
namespace assay::spec::detail {
namespace {

/// u3 accepts no bias, which FAG-C09 covers. Its page repeats these rules all the same.
bool packed_with_pse(const FlashCall& c) {
  return is_packed(c) && !is_u3(c) && given(c.parameters.pse_shift) && key_as_given(c);
}

/// Start index of the queries minus start index of the keys; 0 unless the operator reads both.
std::int64_t start_difference(const FlashCall& c) {
  const auto& of_query = c.parameters.q_start_idx;
  const auto& of_key = c.parameters.kv_start_idx;
  if (!has_pse_type(c.entry_point) || !of_query || !of_key || of_query->empty() || of_key->empty())
    return 0;
  return of_query->front() - of_key->front();
}

bool is_square_from_the_start(const FlashCall& c) {
  const Extents query = *query_as_given(c), key = *key_as_given(c);
  if (query.length(0) - key.length(0) + start_difference(c) != 0) return false;
  for (std::int64_t b = 1; b < query.batch; ++b)
    if (query.length(b) != key.length(b)) return false;
  return true;
}

/// Makes a bias over two sequences. The first one has no queries, or no keys.
void empty_first(FlashCall& call, void (*change)(FlashProblem& problem)) {
  if (is_padded(call) || is_u3(call)) return;
  rewrite(call, change);
  put_compressed_mask(call, 2);
  put_pse(call);
}

FlashRequirement no_pse_on_last_split() {
  return {.id = "FAG-C74",
          .statement = "Sparse mode 7 does not accept a pseShift.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u1_page,
          .page_for = u2_page,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q9",
          .applies = [](const FlashCall& c) { return is_packed(c) && masked_in_mode(c, 7); },
          .holds = [](const FlashCall& c) { return !packed_with_pse(c) || !masked_in_mode(c, 7); },
          .violations = {{"pse_shift", [](FlashCall& c) {
                            if (is_padded(c) || is_u3(c)) return;
                            rewrite(c, make_square);
                            put_compressed_mask(c, 7);
                            c.attributes.next_tokens = 0;
                            put_pse(c);
                          }}}};
}

FlashRequirement square_first_split() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return packed_with_pse(c) && masked_in_mode(c, 8);
  };
  return {
      .id = "FAG-C75",
      .statement =
          "In sparse mode 8 a pseShift needs Sq = Skv for every sequence; for the first sequence, "
          "the start indices are added before the comparison.",
      .source = {unpadding_page, "constraints"},
      .standing = Standing::documented,
      .stated_for = u1_page,
      .page_for = u2_page,
      .sides = {Side::accept, Side::reject},
      .notes = "FAG-Q9, FAG-Q10",
      .applies = concerned,
      .holds = [](const FlashCall& c) { return !concerned(c) || is_square_from_the_start(c); },
      .violations = {{"lengths",
                      [](FlashCall& c) {
                        if (is_padded(c) || is_u3(c)) return;
                        rewrite(c, [](FlashProblem& p) {
                          make_square(p);
                          ++p.seq_kv;
                        });
                        put_compressed_mask(c, 8);
                        put_pse(c);
                      }},
                     {"start_indices", [](FlashCall& c) {
                        if (is_padded(c) || !takes_slopes(c)) return;
                        rewrite(c, make_square_fp32);
                        put_compressed_mask(c, 8);
                        put_slopes(c, 2);
                        c.parameters.q_start_idx = {1};
                        c.parameters.kv_start_idx = {0};
                      }}}};
}

FlashRequirement no_pse_with_empty_queries() {
  return {.id = "FAG-C82",
          .statement = "If a sequence has no queries, pseShift is not given.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u1_page,
          .sides = {Side::accept, Side::reject},
          .applies =
              [](const FlashCall& c) {
                return is_packed(c) && key_as_given(c) && has_empty_length(*query_as_given(c));
              },
          .holds =
              [](const FlashCall& c) {
                return !packed_with_pse(c) || !has_empty_length(*query_as_given(c));
              },
          .violations = {{"pse_shift", [](FlashCall& c) {
                            empty_first(c, [](FlashProblem& p) {
                              make_uniform(p);
                              p.batch = 2;
                              p.lengths_q = {0, p.seq_q};
                            });
                          }}}};
}

}  // namespace

std::vector<FlashRequirement> split_requirements() {
  return {no_pse_on_last_split(), square_first_split(), no_pse_with_empty_queries()};
}

}  // namespace assay::spec::detail
