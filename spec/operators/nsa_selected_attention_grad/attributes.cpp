#include "operators/nsa_selected_attention_grad/table.hpp"

namespace assay::spec::nsa {
namespace {

using Op = SelectedOp;

template <std::int64_t mode>
void set_mode(SelectedCall& call) {
  call.attributes.sparse_mode = mode;
}

/// NSAS-C03 covers a null inputLayout.
SelectedRow layout() {
  return {
      .id = "NSAS-C11",
      .statement = "inputLayout is exactly TND.",
      .source = {selected_page, "parameters"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .notes = "NSAS-Q3, NSAS-Q18",
      .applies = [](const SelectedCall& c) { return c.attributes.input_layout.has_value(); },
      .holds =
          [](const SelectedCall& c) { return c.attributes.input_layout.value_or("TND") == "TND"; },
      .violations = {{"lower_case", [](SelectedCall& c) { c.attributes.input_layout = "tnd"; }},
                     {"bsnd", [](SelectedCall& c) { c.attributes.input_layout = "BSND"; }},
                     {"empty", [](SelectedCall& c) { c.attributes.input_layout = ""; }}}};
}

SelectedRow head_number() {
  return {.id = "NSAS-C17a",
          .statement = "headNum is the number of heads of query.",
          .source = {upstream_selected_tiling, "headNum"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = ranks_fit,
          .holds =
              [](const SelectedCall& c) {
                return !ranks_fit(c) || c.attributes.head_num == c.parameters.query.shape[1];
              },
          .violations = {{"one_more", [](SelectedCall& c) { ++c.attributes.head_num; }},
                         {"zero", [](SelectedCall& c) { c.attributes.head_num = 0; }}}};
}

SelectedRow sparse_modes() {
  return {.id = "NSAS-C33",
          .statement = "sparseMode is 0 or 2.",
          .source = {selected_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAS-Q7",
          .applies = always<Op>,
          .holds =
              [](const SelectedCall& c) {
                return c.attributes.sparse_mode == 0 || c.attributes.sparse_mode == 2;
              },
          .violations = {{"one", set_mode<1>},
                         {"three", set_mode<3>},
                         {"eight", set_mode<8>},
                         {"negative", set_mode<-1>}}};
}

/// In this mode without a mask the forward sees every key, but the kernel of the gradient applies
/// the causal mask.
SelectedRow mode_without_mask() {
  return {.id = "NSAS-C33a",
          .statement =
              "sparseMode 2 needs attenMask: the documents do not say what mode 2 means "
              "without a mask.",
          .source = {upstream_selected_forward, "attenMask"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .notes = "NSAS-Q16, NSAS-Q19, NSAS-U5",
          .applies = [](const SelectedCall& c) { return c.attributes.sparse_mode == 2; },
          .holds =
              [](const SelectedCall& c) {
                return c.attributes.sparse_mode != 2 || given(c.parameters.atten_mask);
              },
          .violations = {{"no_mask", [](SelectedCall& c) {
                            c.parameters.atten_mask = {};
                            c.attributes.sparse_mode = 2;
                          }}}};
}

/// The formulas of the documentation page divide by the root of the head size; the description of
/// scaleValue and the example do not.
SelectedRow any_scale() {
  return {.id = "NSAS-C33b",
          .statement = "scaleValue is usually one over the square root of D.",
          .source = {selected_page, "parameters"},
          .standing = Standing::advice,
          .sides = {Side::none},
          .notes = "NSAS-Q5, NSAS-Q6",
          .applies = always<Op>,
          .holds = always<Op>,
          .violations = {},
          .reason = "the sentence is advice, which no call can break; cases use other scales, too"};
}

}  // namespace

std::vector<SelectedRow> selected_attribute_requirements() {
  return {layout(), head_number(), sparse_modes(), mode_without_mask(), any_scale()};
}

}  // namespace assay::spec::nsa
