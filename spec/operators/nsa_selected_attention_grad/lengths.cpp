#include "operators/nsa_selected_attention_grad/table.hpp"

namespace assay::spec::nsa::selection {
namespace {

using Op = SelectedOp;
using P = Op::Parameters;
using Row = SelectedRow;

/// The limits "2M" and "128K" of the documentation page, which does not say whether K is 1000 or
/// 1024. Requirement NSAS-C44 checks the sizes between the two possible values.
constexpr std::int64_t most_tokens = 2 * 1024 * 1024, agreed_tokens = 2 * 1000 * 1000;
constexpr std::int64_t longest = 128 * 1024, agreed_longest = 128 * 1000;
/// With this number of sequences of the length `agreed_longest`, the number of tokens exceeds its
/// limit.
constexpr std::int64_t too_many_longest = most_tokens / agreed_longest + 1;

bool has_legal_tokens(const Parameter& tensor) {
  return tensor.shape[0] >= 1 && tensor.shape[0] <= most_tokens;
}

bool every_length_of(const SelectedCall& c, bool (*holds)(std::int64_t)) {
  return every_length(c.parameters.actual_seq_qlen, holds) &&
         every_length(c.parameters.actual_seq_kvlen, holds);
}

std::int64_t longest_keys(const SelectedProblem& p, std::int64_t limit) {
  return limit / p.selected_block_size * p.selected_block_size;
}

Row query_tokens() {
  return limited(
      stated("NSAS-C22", limits,
             "query, attentionOut and attentionOutGrad have the same number of tokens, 1 to 2M; "
             "softmaxMax, softmaxSum and topkIndices have requirements of their own.",
             "NSAS-U6"),
      [](const SelectedCall& c) {
        return !ranks_fit(c) ||
               (has_legal_tokens(c.parameters.query) &&
                agree(c, &P::query, {&P::attention_out, &P::attention_out_grad}, 0));
      },
      {{"attention_out", grow_one<Op, &P::attention_out, 0>},
       {"attention_out_grad", grow_one<Op, &P::attention_out_grad, 0>},
       {"too_many",
        [](SelectedCall& c) {
          rewrite(c, [](SelectedProblem& p) {
            p.batch = too_many_longest;
            p.seq_q = agreed_longest;
          });
        }}},
      [](const SelectedCall& c) { return c.parameters.query.shape[0] >= agreed_tokens; });
}

Row key_tokens() {
  return limited(
      stated("NSAS-C23", limits, "key and value have the same number of tokens, 1 to 2M.",
             "NSAS-U6"),
      [](const SelectedCall& c) {
        return !ranks_fit(c) ||
               (has_legal_tokens(c.parameters.key) && agree(c, &P::key, {&P::value}, 0));
      },
      {{"value", grow_pair<&P::value, &P::dv, 0>},
       {"too_many",
        [](SelectedCall& c) {
          rewrite(c, [](SelectedProblem& p) {
            p.batch = too_many_longest + 1;
            p.seq_kv = longest_keys(p, agreed_longest);
          });
        }}},
      [](const SelectedCall& c) { return c.parameters.key.shape[0] >= agreed_tokens; });
}

/// Limits the number of sequences. No sequence is empty, so too many sequences also have too many
/// tokens, which the requirements NSAS-C22 and NSAS-C23 check. If only one array is empty, NSAS-C13
/// does not apply.
Row number_of_sequences() {
  static constexpr auto counted = [](const Sums& sums) {
    return !sums || (!sums->empty() && std::ssize(*sums) <= most_tokens);
  };
  Row row = some_entries<Op>(stated("NSAS-C24", limits,
                                    "There are 1 to 2M sequences; actualSeqQLen and "
                                    "actualSeqKvLen have one entry for each.",
                                    "NSAS-Q14, NSAS-U6"));
  row.applies = [](const SelectedCall& c) {
    return c.parameters.actual_seq_qlen || c.parameters.actual_seq_kvlen;
  };
  row.holds = [](const SelectedCall& c) {
    return counted(c.parameters.actual_seq_qlen) && counted(c.parameters.actual_seq_kvlen);
  };
  return row;
}

/// Limits the lengths. Calls with an empty sequence break this requirement as well as NSAS-C15.
Row length_limits() {
  Row row = short_sequences<longest>(
      stated("NSAS-C28", limits, "Every sequence of query and of key has 1 to 128K tokens."));
  row.holds = [](const SelectedCall& c) {
    return !has_sums(c) ||
           every_length_of(c, [](std::int64_t length) { return length >= 1 && length <= longest; });
  };
  row.reaches = [](const SelectedCall& c) {
    return !every_length_of(c, [](std::int64_t length) { return length < agreed_longest; });
  };
  return row;
}

Row meaning_of_k_and_m() {
  static constexpr auto is_between = [](const Parameter& tensor) {
    return tensor.shape[0] > agreed_tokens && tensor.shape[0] <= most_tokens;
  };
  Row row = contested(
      Standing::disputed,
      tested(stated("NSAS-C44", limits,
                    "No page says whether K is 1000 or 1024, or whether M is 1000 * 1000 or 1024 * "
                    "1024. So a limit has two possible values; no size is between them.",
                    "NSAS-U6"),
             [](const SelectedCall& c) {
               return !has_lengths(c) ||
                      (!is_between(c.parameters.query) && !is_between(c.parameters.key) &&
                       every_length_of(c, [](std::int64_t length) {
                         return length <= agreed_longest || length > longest;
                       }));
             },
             {{"seq_q",
               [](SelectedCall& c) { rewrite(c, [](SelectedProblem& p) { p.seq_q = longest; }); }},
              {"seq_kv",
               [](SelectedCall& c) {
                 rewrite(c, [](SelectedProblem& p) { p.seq_kv = longest_keys(p, longest); });
               }},
              {"tokens", [](SelectedCall& c) {
                 rewrite(c, [](SelectedProblem& p) {
                   p.batch = most_tokens / longest;
                   p.seq_q = longest;
                 });
               }}}));
  row.applies = has_lengths<Op>;
  return row;
}

}  // namespace

std::vector<Row> selected_length_requirements() {
  return {equal_numbers_of_lengths<Op>(stated("NSAS-C13", limits)),
          lengths_not_null<Op>(coded("NSAS-C14", {upstream_selected_forward, parameters})),
          implying(rising_sums<Op>(of_standing(Standing::derived, stated("NSAS-C15", limits))),
                   {"NSAS-C28"}),
          query_tokens(),
          key_tokens(),
          number_of_sequences(),
          length_limits(),
          meaning_of_k_and_m(),
          of_standing(Standing::open,
                      enough_keys<Op>(stated("NSAS-C29", limits, {}, "NSAS-Q15, NSAS-Q20"))),
          implying(whole_blocks<Op>(stated("NSAS-C30", limits)), {"NSAS-C34"})};
}

}  // namespace assay::spec::nsa::selection
