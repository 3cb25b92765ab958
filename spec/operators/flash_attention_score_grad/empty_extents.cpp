#include <algorithm>
#include <utility>

#include "operators/flash_attention_score_grad/table.hpp"

/// Requirements that refuse extents of 0.
namespace assay::spec::detail {
namespace {

using P = FlashParameters;

bool has_query_extents(const FlashCall& c) { return query_as_given(c).has_value(); }
bool is_padded_with_extents(const FlashCall& c) { return is_padded(c) && key_as_given(c); }

bool is_empty(const Parameter& parameter) {
  return std::ranges::find(parameter.shape, 0) != parameter.shape.end();
}

void set_head_dim(FlashProblem& p, std::int64_t head_dim) { p.head_dim = p.head_dim_v = head_dim; }

/// Makes the inputs on the query side empty and leaves the gradients unchanged.
void empty_inputs(FlashCall& call, void (*change)(FlashProblem& problem)) {
  const P before = call.parameters;
  rewrite(call, change);
  call.parameters.dq = before.dq;
  call.parameters.dk = before.dk;
  call.parameters.dv = before.dv;
  call.parameters.dq_rope = before.dq_rope;
  call.parameters.dk_rope = before.dk_rope;
}

/// A lower limit of 1 that the pages state. If the extent is 0, the host code fills the gradients
/// that are not empty with zeros, and returns.
FlashRequirement nothing(std::string_view id, std::string_view statement, std::string_view page,
                         std::span<const FlashEntryPoint> stated_for,
                         bool (*applies)(const FlashCall&), bool (*holds)(const FlashCall&),
                         std::vector<Violation<FlashOp>> violations) {
  return {.id = id,
          .statement = statement,
          .source = {page, "constraints"},
          .standing = Standing::open,
          .stated_for = stated_for,
          .sides = {Side::reject},
          .applies = applies,
          .holds = holds,
          .violations = std::move(violations)};
}

FlashRequirement no_batch() {
  return nothing(
      "FAG-C40b", "The batch size is at least 1.", operator_page, g_pages, is_padded_with_extents,
      [](const FlashCall& c) { return !is_padded_with_extents(c) || query_as_given(c)->batch > 0; },
      {{"batch", [](FlashCall& c) {
          if (is_padded(c)) rewrite(c, [](FlashProblem& p) { p.batch = 0; });
        }}});
}

FlashRequirement no_sequence() {
  return nothing("FAG-C41b", "Sq and Skv are at least 1.", operator_page, g_pages,
                 is_padded_with_extents,
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

/// Keys have no token in total only if every key sequence is empty; TND-2a covers that.
FlashRequirement no_tokens() {
  static constexpr auto concerned = [](const FlashCall& c) { return is_packed(c) && ranks_fit(c); };
  FlashRequirement requirement = nothing(
      "FAG-C42a", "query and keyIn have at least 1 token.", unpadding_page, u_pages, concerned,
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
  requirement.page_for = public_pages;
  return requirement;
}

FlashRequirement no_channels() {
  FlashRequirement requirement = nothing(
      "FAG-C44c", "The head sizes are at least 1.", operator_page, all_pages, has_query_extents,
      [](const FlashCall& c) {
        const auto query = query_as_given(c);
        const auto value = value_as_given(c);
        return !query || (query->dim > 0 && (!value || value->dim > 0));
      },
      {{"head_dim",
        [](FlashCall& c) {
          // queryRope must be at most as wide as query.
          if (!is_u3(c)) rewrite(c, [](FlashProblem& p) { set_head_dim(p, 0); });
        }},
       {"head_dim_v",
        [](FlashCall& c) { rewrite(c, [](FlashProblem& p) { p.head_dim_v = 0; }); }}});
  requirement.implies = {"FAG-C35a"};
  requirement.page_for = public_pages;
  return requirement;
}

/// Returns the number of heads of query. If heads share an axis with the channels, it returns 0 or
/// headNum for a hidden size of 0 and 1 otherwise: FAG-C38 covers a headNum that does not match the
/// shape.
std::int64_t heads_of(const FlashCall& c) {
  const Layout layout = *layout_of(c);
  const Shape& query = c.parameters.query.shape;
  if (!merges_heads(layout)) return query[*position_of(layout, Axis::heads)];
  return query.back() == 0 ? c.attributes.head_num : 1;
}

FlashRequirement some_heads() {
  return {.id = "FAG-C39a",
          .statement = "query has at least one head.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = all_pages,
          .page_for = public_pages,
          .sides = {Side::accept, Side::reject},
          .implies = {"FAG-C37", "FAG-C38"},
          .applies = ranks_fit,
          .holds = [](const FlashCall& c) { return !ranks_fit(c) || heads_of(c) != 0; },
          .reaches = [](const FlashCall& c) { return c.attributes.head_num == 1; },
          .violations = {{"none", [](FlashCall& c) {
                            rewrite(c, [](FlashProblem& p) {
                              p.heads_q = 0;
                              p.heads_kv = 1;
                            });
                          }}}};
}

/// In upstream's code, empty gradients are legal, and the other gradients are filled with zeros.
/// The lower limits of 1 on the pages contradict this.
FlashRequirement no_lone_empty_input() {
  return {.id = "FAG-C49",
          .statement = "query has an extent of 0 only if dqOut is empty as well.",
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

std::vector<FlashRequirement> empty_extent_requirements() {
  return {no_batch(),    no_sequence(), no_tokens(),
          no_channels(), some_heads(),  no_lone_empty_input()};
}

}  // namespace assay::spec::detail
