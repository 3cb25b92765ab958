#include <algorithm>
#include <utility>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

constexpr std::int64_t kilo = 1024;  // the seeds do not say whether K and M are powers of 1000
constexpr std::int64_t mega = 1024 * 1024;
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

bool is_empty(const Parameter& parameter) {
  return std::ranges::find(parameter.shape, 0) != parameter.shape.end();
}

/// One sequence longer than any may be, of queries or of keys.
template <bool queries>
void lengthen(FlashProblem& p) {
  make_small(p);
  (queries ? p.seq_q : p.seq_kv) = longest_sequence + 1;
}
/// Two sequences that are too long together.
template <bool queries>
void lengthen_together(FlashProblem& p) {
  make_small(p);
  p.batch = 2;
  (queries ? p.seq_q : p.seq_kv) = most_tokens / 2 + 1;
}

/// Empties the inputs on query's side and leaves the gradients as they were.
void empty_inputs(FlashCall& call, void (*change)(FlashProblem& problem)) {
  const P before = call.parameters;
  rewrite(call, change);
  call.parameters.dq = before.dq;
  call.parameters.dk = before.dk;
  call.parameters.dv = before.dv;
  call.parameters.dq_rope = before.dq_rope;
  call.parameters.dk_rope = before.dk_rope;
}

FlashRequirement heads_limit() {
  return {.id = "FAG-C39",
          .statement = "query has at most 256 heads.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = all_pages,
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

FlashRequirement batch_limit() {
  return {.id = "FAG-C40",
          .statement = "The batch size is at most 2M.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = is_padded_with_extents,
          .holds =
              [](const FlashCall& c) {
                return !is_padded_with_extents(c) || query_as_given(c)->batch <= most_batches;
              },
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
          .sides = {Side::accept, Side::reject},
          .applies = [](const FlashCall& c) { return uses_prefix(c) && is_padded_with_extents(c); },
          .holds =
              [](const FlashCall& c) {
                return !uses_prefix(c) || !is_padded_with_extents(c) ||
                       query_as_given(c)->batch <= most_batches_with_prefix;
              },
          .violations = {{"batch", [](FlashCall& c) {
                            if (is_packed(c)) return;
                            rewrite(c, [](FlashProblem& p) {
                              make_small(p);
                              p.batch = most_batches_with_prefix + 1;
                            });
                            attach_prefix(c);
                          }}}};
}

FlashRequirement sequence_limit() {
  return {.id = "FAG-C41",
          .statement = "Sq and Skv are at most 1M.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = is_padded_with_extents,
          .holds =
              [](const FlashCall& c) {
                return !is_padded_with_extents(c) ||
                       std::max(query_as_given(c)->seq, key_as_given(c)->seq) <= longest_sequence;
              },
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
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .implies = {"FAG-C42"},
          .applies = concerned,
          .holds =
              [](const FlashCall& c) {
                return !concerned(c) ||
                       std::max(query_as_given(c)->seq, key_as_given(c)->seq) <= longest_sequence;
              },
          .violations = {{"seq_q",
                          [](FlashCall& c) {
                            if (is_u4(c)) rewrite(c, lengthen<true>);
                          }},
                         {"seq_kv", [](FlashCall& c) {
                            if (is_u4(c)) rewrite(c, lengthen<false>);
                          }}}};
}

FlashRequirement token_limit() {
  static constexpr auto concerned = [](const FlashCall& c) { return is_packed(c) && ranks_fit(c); };
  return {.id = "FAG-C42",
          .statement = "query and keyIn have at most 1M tokens.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .sides = {Side::accept, Side::reject},
          .applies = concerned,
          .holds =
              [](const FlashCall& c) {
                return !concerned(c) || std::max(c.parameters.query.shape[0],
                                                 c.parameters.key.shape[0]) <= most_tokens;
              },
          .violations = {{"tokens_q",
                          [](FlashCall& c) {
                            if (is_packed(c)) rewrite(c, lengthen_together<true>);
                          }},
                         {"tokens_kv", [](FlashCall& c) {
                            if (is_packed(c)) rewrite(c, lengthen_together<false>);
                          }}}};
}

void set_head_dim(FlashProblem& p, std::int64_t head_dim) { p.head_dim = p.head_dim_v = head_dim; }

/// One of the pages' lower limits of 1, below which the host code finds empty gradients and returns
/// at once.
FlashRequirement nothing(std::string_view id, std::string_view statement, std::string_view page,
                         bool (*applies)(const FlashCall&), bool (*holds)(const FlashCall&),
                         std::vector<Violation<FlashOp>> violations) {
  return {.id = id,
          .statement = statement,
          .source = {page, "constraints"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .applies = applies,
          .holds = holds,
          .violations = std::move(violations)};
}

FlashRequirement no_batch() {
  return nothing(
      "FAG-C40b", "A batch size of 0 is below the page's 1, and an empty call of the host code.",
      operator_page, is_padded_with_extents,
      [](const FlashCall& c) { return !is_padded_with_extents(c) || query_as_given(c)->batch > 0; },
      {{"batch", [](FlashCall& c) {
          if (is_padded(c)) rewrite(c, [](FlashProblem& p) { p.batch = 0; });
        }}});
}

FlashRequirement no_sequence() {
  return nothing("FAG-C41b",
                 "Sq or Skv of 0 is below the page's 1, and an empty tensor of the host code.",
                 operator_page, is_padded_with_extents,
                 [](const FlashCall& c) {
                   return !is_padded_with_extents(c) ||
                          (query_as_given(c)->seq > 0 && key_as_given(c)->seq > 0);
                 },
                 {{"seq_q",
                   [](FlashCall& c) {
                     if (is_padded(c)) rewrite(c, [](FlashProblem& p) { p.seq_q = 0; });
                   }},
                  {"seq_kv", [](FlashCall& c) {
                     if (is_padded(c)) rewrite(c, [](FlashProblem& p) { p.seq_kv = 0; });
                   }}});
}

/// Of keys there are none where every sequence of them is empty, which TND-2a has.
FlashRequirement no_tokens() {
  static constexpr auto concerned = [](const FlashCall& c) { return is_packed(c) && ranks_fit(c); };
  FlashRequirement requirement = nothing(
      "FAG-C42a", "Tokens of query or keyIn of 0 are below the pages' 1, and the host code's.",
      unpadding_page, concerned,
      [](const FlashCall& c) {
        return !concerned(c) || (c.parameters.query.shape[0] > 0 && c.parameters.key.shape[0] > 0);
      },
      {{"tokens_q",
        [](FlashCall& c) {
          if (is_packed(c))
            rewrite(c, [](FlashProblem& p) {
              make_uniform(p);
              p.seq_q = 0;
            });
        }},
       {"tokens_kv", [](FlashCall& c) {
          if (is_packed(c))
            rewrite(c, [](FlashProblem& p) {
              make_uniform(p);
              p.seq_kv = 0;
            });
        }}});
  requirement.implies = {"TND-2a"};
  return requirement;
}

FlashRequirement no_channels() {
  FlashRequirement requirement = nothing(
      "FAG-C44c", "A head size of 0 is below the pages' 1, and leaves the host code no gradient.",
      operator_page, has_query_extents,
      [](const FlashCall& c) {
        const auto query = query_as_given(c);
        const auto value = value_as_given(c);
        return !query || (query->dim > 0 && (!value || value->dim > 0));
      },
      {{"head_dim",
        [](FlashCall& c) {
          // queryRope is at most as wide as query
          if (!is_u3(c)) rewrite(c, [](FlashProblem& p) { set_head_dim(p, 0); });
        }},
       {"head_dim_v",
        [](FlashCall& c) { rewrite(c, [](FlashProblem& p) { p.head_dim_v = 0; }); }}});
  requirement.implies = {"FAG-C35a"};
  return requirement;
}

FlashRequirement rope_head_size_limit() {
  return {.id = "FAG-C44",
          .statement = "The head size of query is at most 768.",
          .source = {rope_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = [](const FlashCall& c) { return is_u3(c) && has_query_extents(c); },
          .holds =
              [](const FlashCall& c) {
                const auto query = query_as_given(c);
                return !is_u3(c) || !query || query->dim <= widest_head_dim;
              },
          .violations = {{"head_dim", [](FlashCall& c) {  // a multiple of 8
                            if (is_u3(c))
                              rewrite(
                                  c, [](FlashProblem& p) { set_head_dim(p, widest_head_dim + 8); });
                          }}}};
}

/// FAG-C44a has what lies between this page's 512 and the 768 of others.
FlashRequirement head_size_limit() {
  return {
      .id = "FAG-C44b",
      .statement = "The head size, on this page at most 512, is within the 768 of the widest page.",
      .source = {operator_page, "constraints"},
      .standing = Standing::documented,
      .stated_for = g_u1_pages,
      .sides = {Side::accept, Side::reject},
      .notes = "FAG-Q2",
      .applies = [](const FlashCall& c) { return !is_u3(c) && has_query_extents(c); },
      .holds =
          [](const FlashCall& c) {
            const auto query = query_as_given(c);
            return is_u3(c) || !query || query->dim <= widest_head_dim;
          },
      .violations = {{"head_dim", [](FlashCall& c) {
                        if (is_u3(c)) return;
                        rewrite(c, [](FlashProblem& p) { set_head_dim(p, widest_head_dim + 1); });
                      }}}};
}

/// 512 on the pages of all but u3, 768 there and on newer pages.
FlashRequirement disputed_head_sizes() {
  static constexpr auto concerned = [](const FlashCall& c) {
    const auto query = query_as_given(c);
    return !is_u3(c) && query && query->dim <= widest_head_dim;
  };
  return {
      .id = "FAG-C44a",
      .statement = "A head size of 513 to 768 is beyond this page's limit and within newer pages'.",
      .source = {operator_page, "constraints"},
      .standing = Standing::disputed,
      .sides = {Side::reject},
      .notes = "FAG-Q2",
      .applies = concerned,
      .holds =
          [](const FlashCall& c) {
            return !concerned(c) || query_as_given(c)->dim <= agreed_head_dim;
          },
      .violations = {{"head_dim_513",
                      [](FlashCall& c) {
                        if (is_u3(c)) return;
                        rewrite(c, [](FlashProblem& p) { set_head_dim(p, agreed_head_dim + 1); });
                      }},
                     {"head_dim_768", [](FlashCall& c) {
                        if (is_u3(c)) return;
                        rewrite(c, [](FlashProblem& p) { set_head_dim(p, widest_head_dim); });
                      }}}};
}

/// Upstream empty gradients are legal: the others are filled with zeros. The pages' lower limits of
/// 1 dispute that.
FlashRequirement no_lone_empty_input() {
  return {.id = "FAG-C49",
          .statement = "query has an extent of 0 only where dqOut is empty as well.",
          .source = {upstream_tiling, "shape checks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .implies = {"FAG-C40b", "FAG-C41b", "FAG-C42a", "FAG-C48", "TND-2a"},
          .applies = ranks_fit,
          .holds =
              [](const FlashCall& c) {
                return !ranks_fit(c) || !is_empty(c.parameters.query) || is_empty(c.parameters.dq);
              },
          .violations = {{"batch",
                          [](FlashCall& c) {
                            if (is_padded(c)) empty_inputs(c, [](FlashProblem& p) { p.batch = 0; });
                          }},
                         {"seq_q", [](FlashCall& c) {
                            empty_inputs(c, [](FlashProblem& p) {
                              make_uniform(p);
                              p.seq_q = 0;
                            });
                          }}}};
}

}  // namespace

std::vector<FlashRequirement> size_requirements() {
  return {heads_limit(),
          batch_limit(),
          batch_limit_with_prefix(),
          no_batch(),
          sequence_limit(),
          packed_sequence_limit(),
          no_sequence(),
          token_limit(),
          no_tokens(),
          rope_head_size_limit(),
          disputed_head_sizes(),
          head_size_limit(),
          no_channels(),
          no_lone_empty_input()};
}

}  // namespace assay::spec::detail
