#include "flash_attention_score_grad_rows.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

bool drops(const FlashCall& c) { return c.attributes.keep_prob > 0 && c.attributes.keep_prob < 1; }

FlashRow operands_present() {
  return {.id = "FAG-C01",
          .statement = "query, keyIn, value and dy are not null.",
          .source = {unpadding_page, "return values"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .status = exactly(Status::param_nullptr),
          .applies = always,
          .holds =
              [](const FlashCall& c) {
                const P& p = c.parameters;
                return p.query.present && p.key.present && p.value.present && p.dy.present;
              },
          .violations = {{"query", remove<&P::query>},
                         {"key", remove<&P::key>},
                         {"value", remove<&P::value>},
                         {"dy", remove<&P::dy>}}};
}

FlashRow outputs_present() {
  return {
      .id = "FAG-C02",
      .statement = "dqOut, dkOut, dvOut, workspaceSize and executor are not null; dpseOut may be.",
      .source = {unpadding_page, "return values"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .status = exactly(Status::param_nullptr),
      .applies = always,
      .holds =
          [](const FlashCall& c) {
            const P& p = c.parameters;
            return p.dq.present && p.dk.present && p.dv.present && p.workspace_size && p.executor;
          },
      .violations = {{"dq", remove<&P::dq>},
                     {"dk", remove<&P::dk>},
                     {"dv", remove<&P::dv>},
                     {"workspace_size", [](FlashCall& c) { c.parameters.workspace_size = false; }},
                     {"executor", [](FlashCall& c) { c.parameters.executor = false; }}}};
}

/// FAG-Q21, FAG-Q39: optional by its name and by some pages, yet nothing can be computed without
/// it.
FlashRow attention_in_present() {
  return {.id = "FAG-C03",
          .statement = "attentionIn is given, although its name says optional, and is no scalar.",
          .source = {upstream_entry, "null checks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = always,
          .holds = [](const FlashCall& c) { return given(c.parameters.attention_in); },
          .violations = {{"null", remove<&P::attention_in>},
                         {"scalar", make_scalar<&P::attention_in>}}};
}

FlashRow statistics_present() {
  return {.id = "FAG-C04",
          .statement = "softmaxMax and softmaxSum are given, although their names say optional.",
          .source = {upstream_tiling, "null checks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = always,
          .holds =
              [](const FlashCall& c) {
                return given(c.parameters.softmax_max) && given(c.parameters.softmax_sum);
              },
          .violations = {{"softmax_max", remove<&P::softmax_max>},
                         {"softmax_sum", remove<&P::softmax_sum>}}};
}

FlashRow layout_present() {
  return {
      .id = "FAG-C07",
      .statement = "inputLayout, a required attribute, is not null.",
      .source = {unpadding_page, "return values"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .status = exactly(Status::param_nullptr),
      .applies = always,
      .holds = [](const FlashCall& c) { return c.attributes.input_layout.has_value(); },
      .violations = {{"input_layout", [](FlashCall& c) { c.attributes.input_layout.reset(); }}}};
}

FlashRow drop_mask_present() {
  return {.id = "FAG-C12",
          .statement = "A keepProb below 1 needs a dropMask.",
          .source = {upstream_tiling, "dropMask checks"},
          .standing = Standing::upstream,
          .sides = {Side::reject},
          .applies = drops,
          .holds = [](const FlashCall& c) { return !drops(c) || given(c.parameters.drop_mask); },
          .violations = {{"drop_mask", [](FlashCall& c) {
                            c.parameters.drop_mask = {};
                            c.attributes.keep_prob = 0.5;
                          }}}};
}

}  // namespace

std::vector<FlashRow> presence_rows() {
  return {operands_present(),   outputs_present(), attention_in_present(),
          statistics_present(), layout_present(),  drop_mask_present()};
}

}  // namespace assay::spec::detail
