#include <algorithm>

#include "flash_attention_score_grad_rows.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

constexpr std::int64_t kilo = 1024;  // the seeds do not say whether K and M are powers of 1000
constexpr std::int64_t mega = 1024 * 1024;
constexpr std::int64_t most_heads = 256;
constexpr std::int64_t most_batches = 2 * mega;
constexpr std::int64_t most_batches_with_prefix = 2 * kilo;
constexpr std::int64_t longest_sequence = mega;
constexpr std::int64_t agreed_head_dim = 512;
constexpr std::int64_t widest_head_dim = 768;

bool has_query_extents(const FlashCall& c) { return query_as_given(c).has_value(); }
bool has_key_extents(const FlashCall& c) { return key_as_given(c).has_value(); }

/// A single short head, so that one huge extent is all that is unusual.
void make_small(FlashProblem& p) {
  p.batch = p.heads_q = p.heads_kv = 1;
  p.seq_q = p.seq_kv = 16;
}

bool uses_prefix(const FlashCall& c) {
  const std::int64_t mode = c.attributes.sparse_mode;
  return c.parameters.prefix && (mode == 5 || mode == 6);
}

bool is_empty(const Parameter& parameter) {
  return std::ranges::find(parameter.shape, 0) != parameter.shape.end();
}

/// Empties the inputs on query's side and leaves the gradients as they were.
void empty_inputs(FlashCall& call, void (*change)(FlashProblem& problem)) {
  const P before = call.parameters;
  rewrite(call, change);
  call.parameters.dq = before.dq;
  call.parameters.dk = before.dk;
  call.parameters.dv = before.dv;
}

FlashRow heads_limit() {
  return {.id = "FAG-C39",
          .statement = "query has at most 256 heads.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = has_query_extents,
          .holds =
              [](const FlashCall& c) {
                const auto query = query_as_given(c);
                return !query || query->heads <= most_heads;
              },
          .violations = {{"heads", [](FlashCall& c) {
                            rewrite(c, [](FlashProblem& p) {
                              p.heads_q = most_heads + 1;
                              p.heads_kv = 1;
                            });
                          }}}};
}

FlashRow batch_limit() {
  return {.id = "FAG-C40",
          .statement = "The batch size is at most 2M.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = has_query_extents,
          .holds =
              [](const FlashCall& c) {
                const auto query = query_as_given(c);
                return !query || query->batch <= most_batches;
              },
          .violations = {{"batch", [](FlashCall& c) {
                            rewrite(c, [](FlashProblem& p) {
                              make_small(p);
                              p.batch = most_batches + 1;
                            });
                          }}}};
}

FlashRow batch_limit_with_prefix() {
  return {.id = "FAG-C40a",
          .statement = "With a prefix in use the batch size is at most 2K.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::reject},
          .applies = [](const FlashCall& c) { return uses_prefix(c) && has_query_extents(c); },
          .holds =
              [](const FlashCall& c) {
                const auto query = query_as_given(c);
                return !query || !uses_prefix(c) || query->batch <= most_batches_with_prefix;
              },
          .violations = {{"batch", [](FlashCall& c) {
                            rewrite(c, [](FlashProblem& p) {
                              make_small(p);
                              p.batch = most_batches_with_prefix + 1;
                            });
                            attach_prefix(c);
                          }}}};
}

FlashRow sequence_limit() {
  return {.id = "FAG-C41",
          .statement = "Sq and Skv are at most 1M.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = has_key_extents,
          .holds =
              [](const FlashCall& c) {
                const auto key = key_as_given(c);
                return !key || std::max(query_as_given(c)->seq, key->seq) <= longest_sequence;
              },
          .violations = {{"seq_q",
                          [](FlashCall& c) {
                            rewrite(c, [](FlashProblem& p) {
                              make_small(p);
                              p.seq_q = longest_sequence + 1;
                            });
                          }},
                         {"seq_kv", [](FlashCall& c) {
                            rewrite(c, [](FlashProblem& p) {
                              make_small(p);
                              p.seq_kv = longest_sequence + 1;
                            });
                          }}}};
}

/// FAG-Q2: 512 on the pages of this operator, 768 on a sister's and on newer ones.
FlashRow head_size_limit() {
  return {.id = "FAG-C44",
          .statement = "The head size is at most 768, the widest that any page names.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = has_query_extents,
          .holds =
              [](const FlashCall& c) {
                const auto query = query_as_given(c);
                return !query || query->dim <= widest_head_dim;
              },
          .violations = {{"head_dim", [](FlashCall& c) {
                            rewrite(c, [](FlashProblem& p) { p.head_dim = widest_head_dim + 1; });
                          }}}};
}

FlashRow disputed_head_sizes() {
  return {
      .id = "FAG-C44a",
      .statement = "A head size of 513 to 768 is beyond this page's limit and within newer pages'.",
      .source = {operator_page, "constraints"},
      .standing = Standing::disputed,
      .sides = {Side::reject},
      .applies =
          [](const FlashCall& c) {
            const auto query = query_as_given(c);
            return query && query->dim <= widest_head_dim;
          },
      .holds =
          [](const FlashCall& c) {
            const auto query = query_as_given(c);
            return !query || query->dim <= agreed_head_dim || query->dim > widest_head_dim;
          },
      .violations = {{"head_dim_513",
                      [](FlashCall& c) {
                        rewrite(c, [](FlashProblem& p) { p.head_dim = agreed_head_dim + 1; });
                      }},
                     {"head_dim_768", [](FlashCall& c) {
                        rewrite(c, [](FlashProblem& p) { p.head_dim = widest_head_dim; });
                      }}}};
}

/// Empty gradients are legal: the others are filled with zeros. The pages' lower limits of 1
/// contradict that.
FlashRow no_lone_empty_input() {
  return {
      .id = "FAG-C49",
      .statement = "query has an extent of 0 only where dqOut is empty as well.",
      .source = {upstream_tiling, "shape checks"},
      .standing = Standing::upstream,
      .sides = {Side::accept, Side::reject},
      .implies = {"FAG-C48"},
      .applies = ranks_fit,
      .holds =
          [](const FlashCall& c) {
            return !ranks_fit(c) || !is_empty(c.parameters.query) || is_empty(c.parameters.dq);
          },
      .violations = {
          {"batch", [](FlashCall& c) { empty_inputs(c, [](FlashProblem& p) { p.batch = 0; }); }},
          {"seq_q", [](FlashCall& c) { empty_inputs(c, [](FlashProblem& p) { p.seq_q = 0; }); }}}};
}

}  // namespace

std::vector<FlashRow> size_rows() {
  return {heads_limit(),     batch_limit(),         batch_limit_with_prefix(), sequence_limit(),
          head_size_limit(), disputed_head_sizes(), no_lone_empty_input()};
}

}  // namespace assay::spec::detail
