#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

bool drops(const FlashCall& c) {
  return takes_pse_and_dropout(c) && c.attributes.keep_prob > 0 && c.attributes.keep_prob < 1;
}

FlashRequirement operands_present() {
  return {.id = "FAG-C01",
          .statement = "query, keyIn, value and dy are not null.",
          .source = {unpadding_page, "return values"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q28",
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

FlashRequirement outputs_present() {
  return {
      .id = "FAG-C02",
      .statement = "dqOut, dkOut, dvOut, workspaceSize and executor are not null; dpseOut may be.",
      .source = {unpadding_page, "return values"},
      .standing = Standing::documented,
      .stated_for = u_pages,
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

/// The name of this tensor and some pages say "optional", but nothing can be computed without the
/// tensor. FAG-C32a covers rank 0, which the page of u1 lists.
FlashRequirement attention_in_present() {
  return {.id = "FAG-C03",
          .statement = "attentionIn is given, although its name says optional; it is not a scalar.",
          .source = {upstream_entry, "null checks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q21, FAG-Q39",
          .applies = always,
          .holds =
              [](const FlashCall& c) {
                const Parameter& attention_in = c.parameters.attention_in;
                return given(attention_in) || (attention_in.present && is_packed_but_u3(c));
              },
          .violations = {{"null", remove<&P::attention_in>}, {"scalar", [](FlashCall& c) {
                                                                if (!is_packed_but_u3(c))
                                                                  make_scalar<&P::attention_in>(c);
                                                              }}}};
}

FlashRequirement statistics_present() {
  return {.id = "FAG-C04",
          .statement = "softmaxMax and softmaxSum are given, although their names say optional.",
          .source = {upstream_tiling, "null checks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q21",
          .applies = always,
          .holds =
              [](const FlashCall& c) {
                return given(c.parameters.softmax_max) && given(c.parameters.softmax_sum);
              },
          .violations = {{"softmax_max", remove<&P::softmax_max>},
                         {"softmax_sum", remove<&P::softmax_sum>}}};
}

FlashRequirement layout_present() {
  return {
      .id = "FAG-C07",
      .statement = "inputLayout, a required attribute, is not null.",
      .source = {unpadding_page, "return values"},
      .standing = Standing::documented,
      .stated_for = u_pages,
      .sides = {Side::accept, Side::reject},
      .notes = "FAG-Q33",
      .status = exactly(Status::param_nullptr),
      .applies = always,
      .holds = [](const FlashCall& c) { return c.attributes.input_layout.has_value(); },
      .violations = {{"input_layout", [](FlashCall& c) { c.attributes.input_layout.reset(); }}}};
}

FlashRequirement mask_present() {
  return {.id = "FAG-C08",
          .statement = "attenMask is given.",
          .source = {rope_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u3_page,
          .sides = {Side::accept, Side::reject},
          .applies = is_u3,
          .holds = [](const FlashCall& c) { return !is_u3(c) || given(c.parameters.atten_mask); },
          .violations = {{"null",
                          [](FlashCall& c) {
                            if (is_u3(c)) remove<&P::atten_mask>(c);
                          }},
                         {"scalar", [](FlashCall& c) {
                            if (is_u3(c)) make_scalar<&P::atten_mask>(c);
                          }}}};
}

FlashRequirement no_pse() {
  return {.id = "FAG-C09",
          .statement = "pseShift is null.",
          .source = {rope_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u3_page,
          .sides = {Side::accept, Side::reject},
          .applies = is_u3,
          .holds = [](const FlashCall& c) { return !is_u3(c) || !given(c.parameters.pse_shift); },
          .violations = {{"pse_shift", [](FlashCall& c) {
                            if (is_u3(c)) put_pse(c);
                          }}}};
}

FlashRequirement no_drop_mask() {
  return {.id = "FAG-C10",
          .statement = "dropMask is null.",
          .source = {rope_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = u3_page,
          .sides = {Side::accept, Side::reject},
          .applies = is_u3,
          .holds = [](const FlashCall& c) { return !is_u3(c) || !given(c.parameters.drop_mask); },
          .violations = {{"drop_mask", [](FlashCall& c) {
                            const auto bytes = drop_mask_bytes(c);
                            if (!is_u3(c) || !bytes) return;
                            c.parameters.drop_mask = {.present = true, .dtype = DType::uint8};
                            reshape(c.parameters.drop_mask, {*bytes});
                          }}}};
}

/// The host code never reads this tensor; S-V3 and the pages of u2 and u4 require a null pointer.
FlashRequirement no_padding_mask() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_u3(c) || is_of_public_page(c);
  };
  return {.id = "FAG-C11",
          .statement = "paddingMask is null.",
          .source = {rope_page, "parameters"},
          .standing = Standing::open,
          .stated_for = u3_page,
          .page_for = public_pages,
          .sides = {Side::accept, Side::reject},
          .applies = concerned,
          .holds =
              [](const FlashCall& c) { return !concerned(c) || !given(c.parameters.padding_mask); },
          .violations = {{"padding_mask", [](FlashCall& c) {
                            if (!concerned(c)) return;
                            c.parameters.padding_mask = {.present = true, .dtype = DType::boolean};
                            reshape(c.parameters.padding_mask, {1, 1, 8, 8});
                          }}}};
}

FlashRequirement drop_mask_present() {
  return {.id = "FAG-C12",
          .statement = "A keepProb below 1 needs a dropMask.",
          .source = {upstream_tiling, "dropMask checks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q39",
          .applies = drops,
          .holds = [](const FlashCall& c) { return !drops(c) || given(c.parameters.drop_mask); },
          .violations = {{"drop_mask", [](FlashCall& c) {
                            if (!takes_pse_and_dropout(c)) return;
                            c.parameters.drop_mask = {};
                            c.attributes.keep_prob = 0.5;
                          }}}};
}

}  // namespace

std::vector<FlashRequirement> presence_requirements() {
  return {operands_present(),
          outputs_present(),
          attention_in_present(),
          statistics_present(),
          layout_present(),
          mask_present(),
          no_pse(),
          no_drop_mask(),
          no_padding_mask(),
          drop_mask_present()};
}

}  // namespace assay::spec::detail
