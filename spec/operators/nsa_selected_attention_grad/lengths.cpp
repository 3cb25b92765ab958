#include <algorithm>

#include "operators/nsa_selected_attention_grad/table.hpp"

namespace assay::spec::nsa::selection {
namespace {

using Op = SelectedOp;
using P = Op::Parameters;

/// The limits "2M" and "128K" of the documentation page, which does not say whether K is 1000 or
/// 1024. Requirement NSAS-C44 checks the sizes between the two readings.
constexpr std::int64_t most_tokens = 2 * 1024 * 1024, agreed_tokens = 2 * 1000 * 1000;
constexpr std::int64_t longest = 128 * 1024, agreed_longest = 128 * 1000;
/// The smallest number of sequences of length `agreed_longest` that together have more tokens than
/// the limit.
constexpr std::int64_t too_many_longest = most_tokens / agreed_longest + 1;

bool has_legal_tokens(const Parameter& tensor) {
  return tensor.shape[0] >= 1 && tensor.shape[0] <= most_tokens;
}

bool same_tokens(const SelectedCall& c, Member<Op> model,
                 std::initializer_list<Member<Op>> members) {
  return std::ranges::all_of(members, [&](Member<Op> member) {
    return (c.parameters.*member).shape[0] == (c.parameters.*model).shape[0];
  });
}

SelectedRow equal_numbers_of_lengths() {
  return selection::equal_numbers_of_lengths<Op>({.id = "NSAS-C13",
                                                  .source = {selected_page, "constraints"},
                                                  .standing = Standing::documented});
}

SelectedRow lengths_present() {
  return selection::lengths_not_null<Op>({.id = "NSAS-C14",
                                          .source = {upstream_selected_forward, "parameters"},
                                          .standing = Standing::upstream});
}

SelectedRow rising_sums() {
  return selection::rising_sums<Op>({.id = "NSAS-C15",
                                     .source = {selected_page, "constraints"},
                                     .standing = Standing::derived,
                                     .implies = {"NSAS-C28"}});
}

SelectedRow query_tokens() {
  return {
      .id = "NSAS-C22",
      .statement =
          "query, attentionOut and attentionOutGrad have the same 1 to 2M tokens; softmaxMax, "
          "softmaxSum "
          "and topkIndices have requirements of their own.",
      .source = {selected_page, "constraints"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .notes = "NSAS-U6",
      .applies = ranks_fit,
      .holds =
          [](const SelectedCall& c) {
            return !ranks_fit(c) ||
                   (has_legal_tokens(c.parameters.query) &&
                    same_tokens(c, &P::query, {&P::attention_out, &P::attention_out_grad}));
          },
      .reaches = [](const SelectedCall& c) { return c.parameters.query.shape[0] >= agreed_tokens; },
      .violations = {{"attention_out", grow_one<Op, &P::attention_out, 0>},
                     {"attention_out_grad", grow_one<Op, &P::attention_out_grad, 0>},
                     {"too_many", [](SelectedCall& c) {
                        rewrite(c, [](SelectedProblem& p) {
                          p.batch = too_many_longest;
                          p.seq_q = agreed_longest;
                        });
                      }}}};
}

SelectedRow key_tokens() {
  return {
      .id = "NSAS-C23",
      .statement = "key and value have the same 1 to 2M tokens.",
      .source = {selected_page, "constraints"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .notes = "NSAS-U6",
      .applies = ranks_fit,
      .holds =
          [](const SelectedCall& c) {
            return !ranks_fit(c) ||
                   (has_legal_tokens(c.parameters.key) && same_tokens(c, &P::key, {&P::value}));
          },
      .reaches = [](const SelectedCall& c) { return c.parameters.key.shape[0] >= agreed_tokens; },
      .violations = {{"value",
                      [](SelectedCall& c) {
                        grow(c.parameters.value, 0);
                        grow(c.parameters.dv, 0);
                      }},
                     {"too_many", [](SelectedCall& c) {
                        rewrite(c, [](SelectedProblem& p) {
                          const std::int64_t blocks = agreed_longest / p.selected_block_size;
                          p.batch = too_many_longest + 1;
                          p.seq_kv = blocks * p.selected_block_size;
                        });
                      }}}};
}

/// Because no sequence is empty, too many sequences also have too many tokens, which the
/// requirements NSAS-C22 and NSAS-C23 check. If only one array is empty, NSAS-C13 does not apply.
SelectedRow number_of_sequences() {
  static constexpr auto counted = [](const Sums& sums) {
    return !sums || (!sums->empty() && std::ssize(*sums) <= most_tokens);
  };
  return {.id = "NSAS-C24",
          .statement =
              "There are 1 to 2M sequences; actualSeqQLen and actualSeqKvLen have one "
              "entry for each.",
          .source = {selected_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAS-Q14, NSAS-U6",
          .applies =
              [](const SelectedCall& c) {
                return c.parameters.actual_seq_qlen || c.parameters.actual_seq_kvlen;
              },
          .holds =
              [](const SelectedCall& c) {
                return counted(c.parameters.actual_seq_qlen) &&
                       counted(c.parameters.actual_seq_kvlen);
              },
          .violations = {{"empty_queries",
                          [](SelectedCall& c) { c.parameters.actual_seq_qlen.emplace(); }},
                         {"empty_keys",
                          [](SelectedCall& c) { c.parameters.actual_seq_kvlen.emplace(); }},
                         {"both_empty", [](SelectedCall& c) {
                            change_both(c, [](Sums& sums) { sums.emplace(); });
                          }}}};
}

/// The calls with an empty sequence, which break requirement NSAS-C15, also break this requirement.
SelectedRow length_limits() {
  static constexpr auto fits = [](std::int64_t length) { return length >= 1 && length <= longest; };
  return {.id = "NSAS-C28",
          .statement = "Every sequence of query and of key has 1 to 128K tokens.",
          .source = {selected_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = has_sums,
          .holds =
              [](const SelectedCall& c) {
                return !has_sums(c) || (every_length(c.parameters.actual_seq_qlen, fits) &&
                                        every_length(c.parameters.actual_seq_kvlen, fits));
              },
          .reaches =
              [](const SelectedCall& c) {
                static constexpr auto shorter = [](std::int64_t length) {
                  return length < agreed_longest;
                };
                return !every_length(c.parameters.actual_seq_qlen, shorter) ||
                       !every_length(c.parameters.actual_seq_kvlen, shorter);
              },
          .violations = {{"query",
                          [](SelectedCall& c) {
                            rewrite(c, [](SelectedProblem& p) { p.seq_q = longest + 1; });
                          }},
                         {"key", [](SelectedCall& c) {
                            rewrite(c, [](SelectedProblem& p) {
                              p.seq_kv =
                                  (longest / p.selected_block_size + 1) * p.selected_block_size;
                            });
                          }}}};
}

SelectedRow meaning_of_k_and_m() {
  static constexpr auto agreed = [](std::int64_t length) {
    return length <= agreed_longest || length > longest;
  };
  static constexpr auto is_between = [](const Parameter& tensor) {
    return tensor.shape[0] > agreed_tokens && tensor.shape[0] <= most_tokens;
  };
  return {.id = "NSAS-C44",
          .statement =
              "No page says whether K is 1000 or 1024, or whether M is 1000 * 1000 or 1024 * 1024: "
              "no size is between the two possible values of its limit.",
          .source = {selected_page, "constraints"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .notes = "NSAS-U6",
          .applies = has_lengths<Op>,
          .holds =
              [](const SelectedCall& c) {
                const P& p = c.parameters;
                return !has_lengths(c) || (!is_between(p.query) && !is_between(p.key) &&
                                           every_length(p.actual_seq_qlen, agreed) &&
                                           every_length(p.actual_seq_kvlen, agreed));
              },
          .violations = {
              {"seq_q",
               [](SelectedCall& c) { rewrite(c, [](SelectedProblem& p) { p.seq_q = longest; }); }},
              {"seq_kv",
               [](SelectedCall& c) {
                 rewrite(c, [](SelectedProblem& p) {
                   p.seq_kv = longest / p.selected_block_size * p.selected_block_size;
                 });
               }},
              {"tokens", [](SelectedCall& c) {
                 rewrite(c, [](SelectedProblem& p) {
                   p.batch = most_tokens / longest;
                   p.seq_q = longest;
                 });
               }}}};
}

SelectedRow enough_keys() {
  return selection::enough_keys<Op>({.id = "NSAS-C29",
                                     .source = {selected_page, "constraints"},
                                     .standing = Standing::open,
                                     .notes = "NSAS-Q15, NSAS-Q20"});
}

SelectedRow whole_blocks() {
  return selection::whole_blocks<Op>({.id = "NSAS-C30",
                                      .source = {selected_page, "constraints"},
                                      .standing = Standing::documented,
                                      .implies = {"NSAS-C34"}});
}

}  // namespace

std::vector<SelectedRow> selected_length_requirements() {
  return {equal_numbers_of_lengths(),
          lengths_present(),
          rising_sums(),
          query_tokens(),
          key_tokens(),
          number_of_sequences(),
          length_limits(),
          meaning_of_k_and_m(),
          enough_keys(),
          whole_blocks()};
}

}  // namespace assay::spec::nsa::selection
