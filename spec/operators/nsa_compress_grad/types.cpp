#include "operators/nsa_compress_grad/table.hpp"

namespace assay::spec::nsa {
namespace {

using Op = CompressOp;
using P = Op::Parameters;

CompressRow operand_types() {
  return {.id = "NSAC-C04",
          .statement = "input and weight are FLOAT16 or BFLOAT16.",
          .source = {compress_page, "return values"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAC-Q15",
          .status = exactly(Status::param_invalid),
          .applies = always<Op>,
          .holds =
              [](const CompressCall& c) {
                return all_have_type<Op>(c, {&P::input, &P::weight}, is_16_bit);
              },
          .violations = {{"input", retype<Op, &P::input, DType::fp32>},
                         {"weight", retype<Op, &P::weight, DType::int8>}}};
}

CompressRow gradient_types() {
  return {.id = "NSAC-C05",
          .statement = "outputGrad, inputGrad and weightGrad are FLOAT16 or BFLOAT16.",
          .source = {compress_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = always<Op>,
          .holds =
              [](const CompressCall& c) {
                return all_have_type<Op>(c, {&P::output_grad, &P::input_grad, &P::weight_grad},
                                         is_16_bit);
              },
          .violations = {{"output_grad", retype<Op, &P::output_grad, DType::fp32>},
                         {"input_grad", retype<Op, &P::input_grad, DType::fp64>},
                         {"weight_grad", retype<Op, &P::weight_grad, DType::fp32>}}};
}

CompressRow types_of_input() {
  return {.id = "NSAC-C06",
          .statement =
              "weight and inputGrad have the type of input; weightGrad has the type of "
              "weight.",
          .source = {compress_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = always<Op>,
          .holds =
              [](const CompressCall& c) {
                return all_like<Op>(c, &P::input, {&P::weight, &P::input_grad}) &&
                       all_like<Op>(c, &P::weight, {&P::weight_grad});
              },
          .violations = {{"weight", swap_type<Op, &P::weight>},
                         {"input_grad", swap_type<Op, &P::input_grad>},
                         {"weight_grad", swap_type<Op, &P::weight_grad>}}};
}

CompressRow type_of_output_gradient() {
  return {
      .id = "NSAC-C06a",
      .statement = "outputGrad has the type of input.",
      .source = {upstream_compress_tiling, "operator prototype"},
      .standing = Standing::upstream,
      .sides = {Side::accept, Side::reject},
      .applies = always<Op>,
      .holds = [](const CompressCall& c) { return all_like<Op>(c, &P::input, {&P::output_grad}); },
      .violations = {{"output_grad", swap_type<Op, &P::output_grad>}}};
}

CompressRow plain_formats() {
  return {.id = "NSAC-C22",
          .statement = "Tensors have storage format ND, never a private one.",
          .source = {compress_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = always<Op>,
          .holds =
              [](const CompressCall& c) {
                return all_plain<Op>(
                    c, {&P::output_grad, &P::input, &P::weight, &P::input_grad, &P::weight_grad});
              },
          .violations = {{"output_grad", reformat<Op, &P::output_grad, Format::fractal_nz>},
                         {"input", reformat<Op, &P::input, Format::nc1hwc0>},
                         {"weight", reformat<Op, &P::weight, Format::fractal_z>},
                         {"input_grad", reformat<Op, &P::input_grad, Format::fractal_nz>},
                         {"weight_grad", reformat<Op, &P::weight_grad, Format::fractal_z>}}};
}

/// Later editions call strided outputs unsupported; this edition marks them as supported.
CompressRow strided_views() {
  return {.id = "NSAC-C23",
          .statement = "A strided view of a tensor in a plain format may be an input or an output.",
          .source = {compress_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::accept},
          .applies =
              [](const CompressCall& c) {
                return some_strided<Op>(
                    c, {&P::output_grad, &P::input, &P::weight, &P::input_grad, &P::weight_grad});
              },
          .holds = always<Op>,
          .violations = {}};
}

}  // namespace

std::vector<CompressRow> compress_type_requirements() {
  return {operand_types(),           gradient_types(), types_of_input(),
          type_of_output_gradient(), plain_formats(),  strided_views()};
}

}  // namespace assay::spec::nsa
