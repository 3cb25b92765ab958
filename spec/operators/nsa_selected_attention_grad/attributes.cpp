#include "operators/nsa_selected_attention_grad/table.hpp"

namespace assay::spec::nsa::selection {
namespace {

using Op = SelectedOp;

/// Requirement NSAS-C03 checks a null inputLayout.
SelectedRow layout() {
  return selection::layout_is_tnd<Op>({.id = "NSAS-C11",
                                       .source = {selected_page, "parameters"},
                                       .standing = Standing::documented,
                                       .notes = "NSAS-Q3, NSAS-Q18"});
}

SelectedRow head_number() {
  return selection::counts_query_heads<Op>({.id = "NSAS-C17a",
                                            .source = {upstream_selected_tiling, "headNum"},
                                            .standing = Standing::upstream});
}

SelectedRow sparse_modes() {
  return selection::mode_0_or_2<Op>({.id = "NSAS-C33",
                                     .source = {selected_page, "parameters"},
                                     .standing = Standing::documented,
                                     .notes = "NSAS-Q7"});
}

/// In this mode and without a mask, the queries of the forward see every key, but the kernel of the
/// gradient applies the causal mask.
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

}  // namespace assay::spec::nsa::selection
