#include "operators/nsa_selected_attention_grad/table.hpp"

namespace assay::spec::nsa::selection {
namespace {

using Op = SelectedOp;
using P = Op::Parameters;

SelectedRow operand_types() {
  return {
      .id = "NSAS-C04",
      .statement = "query, key, value, attentionOut and attentionOutGrad are FLOAT16 or BFLOAT16.",
      .source = {selected_page, "return values"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .notes = "NSAS-Q2, NSAS-Q3, NSAS-Q17",
      .status = exactly(Status::param_invalid),
      .applies = always<Op>,
      .holds =
          [](const SelectedCall& c) {
            return all_have_type<Op>(
                c, {&P::query, &P::key, &P::value, &P::attention_out, &P::attention_out_grad},
                is_16_bit);
          },
      .violations = {{"query", retype<Op, &P::query, DType::fp32>},
                     {"key", retype<Op, &P::key, DType::int8>},
                     {"value", retype<Op, &P::value, DType::fp64>},
                     {"attention_out", retype<Op, &P::attention_out, DType::fp32>},
                     {"attention_out_grad", retype<Op, &P::attention_out_grad, DType::int32>}}};
}

SelectedRow statistics_type() {
  return selection::statistics_of_fp32<Op>({.id = "NSAS-C05",
                                            .statement = "softmaxMax and softmaxSum are FLOAT.",
                                            .source = {selected_page, "parameters"},
                                            .standing = Standing::documented,
                                            .notes = "NSAS-Q1, NSAS-Q2",
                                            .status = exactly(Status::param_invalid)});
}

SelectedRow index_type() {
  return selection::indices_of_int32<Op>({.id = "NSAS-C06",
                                          .source = {selected_page, "parameters"},
                                          .standing = Standing::documented,
                                          .notes = "NSAS-Q2"});
}

SelectedRow mask_types() {
  return selection::mask_of_bytes<Op>({.id = "NSAS-C07",
                                       .source = {selected_page, "parameters"},
                                       .standing = Standing::documented,
                                       .notes = "NSAS-Q10",
                                       .status = exactly(Status::param_invalid)});
}

/// The operator's prototype registers only BOOL masks.
SelectedRow byte_mask() {
  return {.id = "NSAS-C07a",
          .statement = "attenMask may be UINT8.",
          .source = {selected_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::accept},
          .notes = "NSAS-Q10, NSAS-U4",
          .applies =
              [](const SelectedCall& c) {
                return has_mask(c) && c.parameters.atten_mask.dtype == DType::uint8;
              },
          .holds = always<Op>,
          .violations = {}};
}

SelectedRow gradient_types() {
  return {.id = "NSAS-C08",
          .statement = "dqOut, dkOut and dvOut are FLOAT16 or BFLOAT16.",
          .source = {selected_page, "return values"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAS-Q1",
          .status = exactly(Status::param_invalid),
          .applies = always<Op>,
          .holds =
              [](const SelectedCall& c) {
                return all_have_type<Op>(c, {&P::dq, &P::dk, &P::dv}, is_16_bit);
              },
          .violations = {{"dq", retype<Op, &P::dq, DType::fp32>},
                         {"dk", retype<Op, &P::dk, DType::fp64>},
                         {"dv", retype<Op, &P::dv, DType::int16>}}};
}

SelectedRow gradients_of_query_type() {
  return {.id = "NSAS-C08a",
          .statement = "dqOut, dkOut and dvOut have the type of query.",
          .source = {upstream_selected_tiling, "shape inference"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = always<Op>,
          .holds =
              [](const SelectedCall& c) {
                return all_like<Op>(c, &P::query, {&P::dq, &P::dk, &P::dv});
              },
          .violations = {{"dq", swap_type<Op, &P::dq>},
                         {"dk", swap_type<Op, &P::dk>},
                         {"dv", swap_type<Op, &P::dv>}}};
}

SelectedRow operands_of_one_type() {
  return {.id = "NSAS-C09",
          .statement = "query, key, value, attentionOut and attentionOutGrad have one type.",
          .source = {upstream_selected_forward, "constraints"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = always<Op>,
          .holds =
              [](const SelectedCall& c) {
                return all_like<Op>(
                    c, &P::query, {&P::key, &P::value, &P::attention_out, &P::attention_out_grad});
              },
          .violations = {{"key", swap_type<Op, &P::key>},
                         {"value", swap_type<Op, &P::value>},
                         {"attention_out", swap_type<Op, &P::attention_out>},
                         {"attention_out_grad", swap_type<Op, &P::attention_out_grad>}}};
}

/// Passes the formats of the example on the documentation page. All tensors of the example have
/// three axes.
void pass_nchw(SelectedCall& call) {
  visit_fields(call.parameters, [](std::string_view, auto& member) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(member)>, Parameter>)
      if (member.present && member.shape.size() == 3) member.format = Format::nchw;
  });
}

/// The documentation page names ND, and its example passes NCHW. No requirement covers the other
/// plain formats.
SelectedRow plain_formats() {
  return {
      .id = "NSAS-C10",
      .statement =
          "Tensors have storage format ND, or NCHW as in the page's example, never a private one.",
      .source = {selected_page, "return values"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .notes = "NSAS-Q9",
      .status = exactly(Status::param_invalid),
      .applies = always<Op>,
      .holds =
          [](const SelectedCall& c) {
            return all_plain<Op>(
                c, {&P::query, &P::key, &P::value, &P::attention_out, &P::attention_out_grad,
                    &P::softmax_max, &P::softmax_sum, &P::atten_mask, &P::dq, &P::dk, &P::dv});
          },
      .violations = {{"query", reformat<Op, &P::query, Format::fractal_nz>},
                     {"key", reformat<Op, &P::key, Format::nc1hwc0>},
                     {"value", reformat<Op, &P::value, Format::fractal_z>},
                     {"attention_out", reformat<Op, &P::attention_out, Format::fractal_nz>},
                     {"attention_out_grad", reformat<Op, &P::attention_out_grad, Format::nc1hwc0>},
                     {"softmax_max", reformat<Op, &P::softmax_max, Format::fractal_z>},
                     {"softmax_sum", reformat<Op, &P::softmax_sum, Format::fractal_nz>},
                     {"atten_mask",
                      [](SelectedCall& c) {
                        put_mask(c);
                        c.parameters.atten_mask.format = Format::fractal_nz;
                      }},
                     {"dq", reformat<Op, &P::dq, Format::fractal_nz>},
                     {"dk", reformat<Op, &P::dk, Format::nc1hwc0>},
                     {"dv", reformat<Op, &P::dv, Format::fractal_z>}},
      .variants = {{"nchw", pass_nchw}}};
}

/// The documentation page's table of return codes omits this requirement; its table of parameters
/// contains it.
SelectedRow plain_index_format() {
  return {.id = "NSAS-C10a",
          .statement = "topkIndices has storage format ND, never a private one.",
          .source = {selected_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAS-Q2",
          .applies = always<Op>,
          .holds = [](const SelectedCall& c) { return all_plain<Op>(c, {&P::topk_indices}); },
          .violations = {{"topk_indices", reformat<Op, &P::topk_indices, Format::fractal_nz>}}};
}

SelectedRow strided_views() {
  return {.id = "NSAS-C10b",
          .statement = "Any strided view of a tensor that the page lists is accepted.",
          .source = {selected_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::accept},
          .applies =
              [](const SelectedCall& c) {
                return some_strided<Op>(
                    c, {&P::query, &P::key, &P::value, &P::attention_out, &P::softmax_max,
                        &P::softmax_sum, &P::topk_indices, &P::atten_mask});
              },
          .holds = always<Op>,
          .violations = {}};
}

/// The documentation page does not mention strides for these tensors.
SelectedRow strided_gradients() {
  return {
      .id = "NSAS-C10c",
      .statement = "attentionOutGrad, dqOut, dkOut and dvOut may be strided views like the others.",
      .source = {selected_page, "parameters"},
      .standing = Standing::derived,
      .sides = {Side::accept},
      .notes = "NSAS-Q1",
      .applies =
          [](const SelectedCall& c) {
            return some_strided<Op>(c, {&P::attention_out_grad, &P::dq, &P::dk, &P::dv});
          },
      .holds = always<Op>,
      .violations = {}};
}

}  // namespace

std::vector<SelectedRow> selected_type_requirements() {
  return {operand_types(),
          statistics_type(),
          index_type(),
          mask_types(),
          byte_mask(),
          gradient_types(),
          gradients_of_query_type(),
          operands_of_one_type(),
          plain_formats(),
          plain_index_format(),
          strided_views(),
          strided_gradients()};
}

}  // namespace assay::spec::nsa::selection
