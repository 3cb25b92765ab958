#include <algorithm>

#include "operators/nsa_selected_attention_grad/table.hpp"

namespace assay::spec {
namespace nsa::selection {
namespace {

using Op = SelectedOp;
using P = Op::Parameters;
using Row = SelectedRow;

constexpr Tensors<Op, &P::query, &P::key, &P::value, &P::attention_out, &P::attention_out_grad>
    of_16;
constexpr Tensors<Op, &P::dq, &P::dk, &P::dv> gradients;

/// Passes the same storage formats as the example on the documentation page. All tensors of the
/// example have three axes.
void pass_nchw(SelectedCall& call) {
  visit_fields(call.parameters, [](std::string_view, auto& member) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(member)>, Parameter>)
      if (member.present && member.shape.size() == 3) member.format = Format::nchw;
  });
}

/// Requires the storage formats ND or NCHW: the documentation page names ND, and its example passes
/// NCHW. No requirement covers the other plain formats.
Row plain_formats() {
  constexpr Format nz = Format::fractal_nz, z = Format::fractal_z, c0 = Format::nc1hwc0;
  Row row = of_plain_format<nz, c0, z, nz, c0, z, nz, nz, nz, c0, z>(
      Tensors<Op, &P::query, &P::key, &P::value, &P::attention_out, &P::attention_out_grad,
              &P::softmax_max, &P::softmax_sum, &P::atten_mask, &P::dq, &P::dk, &P::dv>(),
      stated("NSAS-C10", returns, {}, "NSAS-Q9", invalid));
  row.statement =
      "Tensors have storage format ND, or NCHW as in the page's example, never a private one.";
  std::ranges::find(row.violations, "atten_mask", &Violation<Op>::name)->apply =
      put_private_mask<Op>;
  row.variants = {{"nchw", pass_nchw}};
  return row;
}
/// Requires storage format ND of topkIndices. The documentation page's table of return codes omits
/// this requirement; its table of parameters contains it.
Row plain_index_format() {
  Row row = of_plain_format<Format::fractal_nz>(Tensors<Op, &P::topk_indices>(),
                                                stated("NSAS-C10a", parameters, {}, "NSAS-Q2"));
  row.statement = "topkIndices has storage format ND, never a private one.";
  return row;
}

/// Requires a mask in sparse mode 2. Without a mask, the forward does not mask any key, but the
/// kernel of the gradient applies the causal mask.
Row mode_without_mask() {
  Row row = contested(
      Standing::disputed,
      tested(coded("NSAS-C33a", {upstream_selected_forward, "attenMask"},
                   "sparseMode 2 needs attenMask: the documents do not say what mode 2 means "
                   "without a mask."),
             [](const SelectedCall& c) {
               return c.attributes.sparse_mode != 2 || given(c.parameters.atten_mask);
             },
             {{"no_mask", [](SelectedCall& c) {
                 c.parameters.atten_mask = {};
                 c.attributes.sparse_mode = 2;
               }}}));
  row.notes = "NSAS-Q16, NSAS-Q19, NSAS-U5";
  row.applies = [](const SelectedCall& c) { return c.attributes.sparse_mode == 2; };
  return row;
}
/// Advice about scaleValue. No call can violate it. The formulas of the documentation page divide
/// the scores by the square root of the head size, but the description of scaleValue and the
/// example do not.
Row any_scale() {
  Row row = unexercised<Op>(
      "NSAS-C33b", "scaleValue is usually one over the square root of D.",
      {selected_page, parameters}, Standing::advice,
      "the sentence is advice, which no call can break; cases use other scales, too");
  row.notes = "NSAS-Q5, NSAS-Q6";
  return row;
}

std::vector<Row> presence() {
  return {
      offered_on_a2<Op>(stated("NSAS-C01", "products",
                               "Atlas A2 training products offer aclnnNsaSelectedAttentionGrad.")),
      not_offered_on_a3<Op>(stated("NSAS-C01a", "products",
                                   "Atlas A3 training and inference products do not offer "
                                   "aclnnNsaSelectedAttentionGrad.",
                                   "NSAS-Q11")),
      unexercised<Op>(
          "NSAS-C01b",
          "Ascend 910_95, Atlas 800I A2, A200I A2 Box, Atlas 200I/500 A2 inference, Atlas "
          "inference, Atlas training and Atlas 200I/300/500 inference products do not offer "
          "aclnnNsaSelectedAttentionGrad.",
          {selected_page, "products"}, Standing::documented, other_products_reason),
      not_null(
          Tensors<Op, &P::query, &P::key, &P::value, &P::attention_out, &P::attention_out_grad,
                  &P::softmax_max, &P::softmax_sum, &P::topk_indices, &P::dq, &P::dk, &P::dv>(),
          stated("NSAS-C02", returns,
                 "query, key, value, attentionOut, attentionOutGrad, softmaxMax, softmaxSum, "
                 "topkIndices, dqOut, dkOut and dvOut are not null.",
                 "NSAS-Q1, NSAS-Q2, NSAS-Q12, NSAS-Q17, NSAS-Q21", null)),
      tested(stated("NSAS-C03", returns, "inputLayout, workspaceSize and executor are not null.",
                    {}, null),
             [](const SelectedCall& c) {
               return c.attributes.input_layout && c.parameters.workspace_size &&
                      c.parameters.executor;
             },
             {{"input_layout", [](SelectedCall& c) { c.attributes.input_layout.reset(); }},
              {"workspace_size", [](SelectedCall& c) { c.parameters.workspace_size = false; }},
              {"executor", [](SelectedCall& c) { c.parameters.executor = false; }}})};
}

std::vector<Row> types() {
  using enum DType;
  return {
      of_16_bits<fp32, int8, fp64, fp32, int32>(
          of_16, stated("NSAS-C04", returns,
                        "query, key, value, attentionOut and attentionOutGrad are FLOAT16 or "
                        "BFLOAT16.",
                        "NSAS-Q2, NSAS-Q3, NSAS-Q17", invalid)),
      statistics_of_fp32<Op>(stated("NSAS-C05", parameters, "softmaxMax and softmaxSum are FLOAT.",
                                    "NSAS-Q1, NSAS-Q2", invalid)),
      indices_of_int32<Op>(stated("NSAS-C06", parameters, {}, "NSAS-Q2")),
      mask_of_bytes<Op>(stated("NSAS-C07", parameters, {}, "NSAS-Q10", invalid)),
      // The operator's prototype registers only BOOL masks, which contradicts the next requirement.
      allowed(stated("NSAS-C07a", parameters, "attenMask may be UINT8.", "NSAS-Q10, NSAS-U4"),
              [](const SelectedCall& c) {
                return has_mask(c) && c.parameters.atten_mask.dtype == uint8;
              }),
      of_16_bits<fp32, fp64, int16>(
          gradients, stated("NSAS-C08", returns, "dqOut, dkOut and dvOut are FLOAT16 or BFLOAT16.",
                            "NSAS-Q1", invalid)),
      of_type_of<&P::query>(gradients,
                            coded("NSAS-C08a", {upstream_selected_tiling, "shape inference"},
                                  "dqOut, dkOut and dvOut have the type of query.")),
      of_type_of<&P::query>(
          Tensors<Op, &P::key, &P::value, &P::attention_out, &P::attention_out_grad>(),
          coded("NSAS-C09", {upstream_selected_forward, limits},
                "query, key, value, attentionOut and attentionOutGrad have the same type.")),
      plain_formats(), plain_index_format(),
      allowed(stated("NSAS-C10b", parameters,
                     "Any strided view of a tensor that the page lists is accepted."),
              [](const SelectedCall& c) {
                return some_strided<Op>(
                    c, {&P::query, &P::key, &P::value, &P::attention_out, &P::softmax_max,
                        &P::softmax_sum, &P::topk_indices, &P::atten_mask});
              }),
      // The documentation page does not mention strides for these tensors.
      allowed(of_standing(Standing::derived, stated("NSAS-C10c", parameters,
                                                    "attentionOutGrad, dqOut, dkOut and dvOut may "
                                                    "be strided views, like the other tensors.",
                                                    "NSAS-Q1")),
              [](const SelectedCall& c) {
                return some_strided<Op>(c, {&P::attention_out_grad, &P::dq, &P::dk, &P::dv});
              })};
}

std::vector<Row> attributes_and_contents() {
  return {
      // Requirement NSAS-C03 checks a null inputLayout.
      layout_is_tnd<Op>(stated("NSAS-C11", parameters, {}, "NSAS-Q3, NSAS-Q18")),
      counts_query_heads<Op>(coded("NSAS-C17a", {upstream_selected_tiling, "headNum"})),
      mode_0_or_2<Op>(stated("NSAS-C33", parameters, {}, "NSAS-Q7")),
      mode_without_mask(),
      any_scale(),
      content<Op>("NSAS-C38",
                  "Every index names a block whose keys are all in the query's sequence.",
                  {selected_page, "formulas"}, Standing::derived),
      content<Op>("NSAS-C39",
                  "With the mask, every query still sees at least one key of the blocks that it "
                  "lists.",
                  {selected_page, "formulas"}, Standing::derived),
      content<Op>("NSAS-C40",
                  "The 8 replicas of a statistic are equal, and softmaxSum is positive.",
                  {upstream_selected_kernels, "softmax statistics"}, Standing::upstream),
      unexercised<Op>(
          "NSAS-C41",
          "query, key, value, attentionOut and attentionOutGrad have the same inputLayout.",
          {selected_page, limits}, Standing::documented,
          "a single argument names the layout of all tensors, so their layouts cannot differ"),
      first_phase<Op>("NSAS-C42", {selected_page, "prototypes"}, Standing::documented),
      one_second_phase<Op>("NSAS-C42a"),
      unexercised<Op>("NSAS-C43",
                      "If PyTorch calls the operator, the versions of the CANN packages and of "
                      "PyTorch's packages match.",
                      {selected_page, limits}, Standing::documented,
                      "this suite does not call the vendor's PyTorch")};
}

}  // namespace
}  // namespace nsa::selection

std::span<const Requirement<NsaSelectedAttentionGrad>> NsaSelectedAttentionGrad::requirements() {
  using namespace nsa::selection;
  static const auto requirements = nsa::sorted_requirements<NsaSelectedAttentionGrad>(
      {presence, types, attributes_and_contents, selected_length_requirements,
       selected_size_requirements});
  return requirements;
}

bool supports(SelectedEntryPoint, Product product) { return product == Product::a2; }

std::string_view product_requirement(SelectedEntryPoint, Product product) {
  return product == Product::a2 ? "NSAS-C01" : "NSAS-C01a";
}

}  // namespace assay::spec
