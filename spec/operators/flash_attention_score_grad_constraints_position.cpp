#include <algorithm>

#include "flash_attention_score_grad_rows.hpp"

namespace assay::spec::detail {
namespace {

constexpr std::int64_t last_pse_type = 3;


bool is_g2(const FlashCall& c) { return c.surface == FlashSurface::g2; }

bool pse_type_is_known(const FlashCall& c) {
  return pse_type_of(c) >= 0 && pse_type_of(c) <= last_pse_type;
}

bool has_slopes(const FlashCall& c) {
  return given(c.parameters.pse_shift) && pse_type_is_known(c) && pse_type_of(c) >= 2;
}

bool pse_can_be_judged(const FlashCall& c) {
  return given(c.parameters.pse_shift) && pse_type_is_known(c) && key_as_given(c);
}

bool pse_shape_fits(const FlashCall& c) {
  if (!pse_can_be_judged(c)) return true;
  const Extents query = *query_as_given(c);
  const std::int64_t seq_kv = key_as_given(c)->seq;
  const Shape& shape = c.parameters.pse_shift.shape;
  if (has_slopes(c)) return shape == Shape{query.heads} || shape == Shape{query.batch, query.heads};
  if (shape.size() != 4 || shape[1] != query.heads || shape[3] != seq_kv) return false;
  if (shape[2] == query.seq || shape[2] == compressed_pse_rows)
    return shape[0] == query.batch || shape[0] == 1;
  return shape[2] == 1 && shape[0] == query.batch;
}

/// Whether pse holds the last 1024 rows of a longer bias.
bool is_compressed(const FlashCall& c) {
  if (!pse_can_be_judged(c) || !pse_shape_fits(c) || has_slopes(c)) return false;
  return c.parameters.pse_shift.shape[2] == compressed_pse_rows &&
         query_as_given(c)->seq > compressed_pse_rows;
}

/// Modes 2 and 3 are causal, 0 and 4 where their window is; of the others the documents say nothing
/// here.
bool is_causal(const FlashCall& c) {
  const auto& a = c.attributes;
  if (a.sparse_mode != 0 && a.sparse_mode != 4) return true;
  return a.pre_tokens >= query_as_given(c)->seq && a.next_tokens == 0;
}

/// A compressed pse of 1025 queries and `seq_kv` keys in sparse mode 2.
void attach_compressed_pse(FlashCall& call, void (*change)(FlashProblem& problem)) {
  rewrite(call, change);
  attach_mask(call, 2, {compressed_mask_edge, compressed_mask_edge});
  attach_pse(call);
  Shape shape = call.parameters.pse_shift.shape;
  if (shape.size() != 4) return;
  shape[2] = compressed_pse_rows;
  reshape(call.parameters.pse_shift, shape);
}

/// A well-formed pse with one axis changed.
void misshape_pse(FlashCall& call, std::size_t axis) {
  attach_pse(call);
  Shape shape = call.parameters.pse_shift.shape;
  if (axis >= shape.size()) return;
  ++shape[axis];
  reshape(call.parameters.pse_shift, shape);
}

FlashRow pse_type_range() {
  return {.id = "FAG-C76",
          .statement = "pseType is one of 0 to 3.",
          .source = {upstream_page, "pseType"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = is_g2,
          .holds = pse_type_is_known,
          .violations = {{"negative", [](FlashCall& c) { c.attributes.pse_type = -1; }},
                         {"four", [](FlashCall& c) { c.attributes.pse_type = 4; }}}};
}

FlashRow pse_type_without_pse() {
  return {.id = "FAG-C78",
          .statement = "Without a pseShift pseType is 1.",
          .source = {upstream_tiling, "pse checks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = [](const FlashCall& c) { return is_g2(c) && !given(c.parameters.pse_shift); },
          .holds =
              [](const FlashCall& c) {
                return given(c.parameters.pse_shift) || !pse_type_is_known(c) ||
                       pse_type_of(c) == 1;
              },
          .violations = {{"zero", [](FlashCall& c) { c.attributes.pse_type = 0; }},
                         {"two", [](FlashCall& c) { c.attributes.pse_type = 2; }},
                         {"three", [](FlashCall& c) { c.attributes.pse_type = 3; }}}};
}

FlashRow pse_shapes() {
  return {.id = "FAG-C79",
          .statement =
              "pseShift is [B,N,Sq,Skv], [B,N,1,Skv], [1,N,Sq,Skv] or either with 1024 rows in "
              "pseType 0 "
              "and 1, and [N] or [B,N] in pseType 2 and 3.",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::reject},
          .applies = pse_can_be_judged,
          .holds = pse_shape_fits,
          .violations = {{"batch", [](FlashCall& c) { misshape_pse(c, 0); }},
                         {"heads", [](FlashCall& c) { misshape_pse(c, 1); }},
                         {"columns", [](FlashCall& c) { misshape_pse(c, 3); }},
                         {"rank",
                          [](FlashCall& c) {
                            attach_pse(c);
                            change_rank<&FlashParameters::pse_shift>(c);
                          }},
                         {"slopes", [](FlashCall& c) {
                            attach_slopes(c, 2);
                            if (!given(c.parameters.pse_shift)) return;
                            reshape(c.parameters.pse_shift,
                                    {c.parameters.pse_shift.shape.back() + 1});
                          }}}};
}

FlashRow slopes_need_equal_lengths() {
  return {.id = "FAG-C80",
          .statement = "Sq and Skv are equal in pseType 2 and 3.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::reject},
          .applies = [](const FlashCall& c) { return has_slopes(c) && key_as_given(c); },
          .holds =
              [](const FlashCall& c) {
                const auto key = key_as_given(c);
                return !has_slopes(c) || !key || key->seq == query_as_given(c)->seq;
              },
          .violations = {{"seq_kv", [](FlashCall& c) {
                            if (!is_g2(c)) return;
                            rewrite(c, [](FlashProblem& p) { p.seq_kv = p.seq_q + 1; });
                            const auto problem = problem_of(c);
                            if (!problem) return;
                            c.parameters.pse_shift = {.present = true, .dtype = DType::fp32};
                            reshape(c.parameters.pse_shift, {problem->heads_q});
                            c.attributes.pse_type = 3;
                          }}}};
}

/// FAG-Q18: at Sq = 1024 the compressed form is the full one, so both readings of the bound agree.
FlashRow compressed_pse_is_causal() {
  return {
      .id = "FAG-C81",
      .statement = "A pseShift of 1024 rows for more queries needs Sq = Skv and a causal window.",
      .source = {upstream_page, "pseShift"},
      .standing = Standing::upstream,
      .sides = {Side::reject},
      .applies = is_compressed,
      .holds =
          [](const FlashCall& c) {
            if (!is_compressed(c)) return true;
            return query_as_given(c)->seq == key_as_given(c)->seq && is_causal(c);
          },
      .violations = {{"lengths",
                      [](FlashCall& c) {
                        attach_compressed_pse(c, [](FlashProblem& p) {
                          p.seq_q = compressed_pse_rows + 1;
                          p.seq_kv = p.seq_q + 1;
                        });
                      }},
                     {"window", [](FlashCall& c) {
                        attach_compressed_pse(c, [](FlashProblem& p) {
                          p.seq_q = p.seq_kv = compressed_pse_rows + 1;
                        });
                        attach_mask(c, 0, {compressed_pse_rows + 1, compressed_pse_rows + 1});
                      }}}};
}

}  // namespace

std::vector<FlashRow> position_rows() {
  return {pse_type_range(), pse_type_without_pse(), pse_shapes(), slopes_need_equal_lengths(),
          compressed_pse_is_causal()};
}

}  // namespace assay::spec::detail
