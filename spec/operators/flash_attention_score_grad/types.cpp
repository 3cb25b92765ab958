#include "operators/attention/types.hpp"

#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

bool is_float8(DType dtype) { return dtype == DType::float8_e5m2 || dtype == DType::float8_e4m3fn; }

/// Returns whether the type is one of the 8-bit types, which another requirement, FAG-C22, checks.
/// Only the documentation page of the padded layouts names them.
bool left_to_another_row(const FlashCall& c, DType dtype) {
  return is_padded(c) && is_float8(dtype);
}

template <FlashMember member, DType dtype>
void retype_padded(FlashCall& call) {
  if (is_padded(call)) retype<member, dtype>(call);
}

void pass_privately(Parameter& parameter, DType dtype) {
  parameter = {.present = true, .dtype = dtype, .format = Format::fractal_nz};
  reshape(parameter, {1, 1, 8, 8});
}

FlashRequirement gradient_types() {
  return stated(with_status(by("FAG-C21", {unpadding_page, "parameters"}, {}, all_pages),
                            Status::param_invalid, u_pages),
                {.statement = "dy, dqOut, dkOut and dvOut are FLOAT16, BFLOAT16 or FLOAT32.",
                 .holds =
                     [](const FlashCall& c) {
                       return all_have_type(c, {&P::dq, &P::dk, &P::dv}, is_fp16_bf16_fp32) &&
                              all_have_type(c, {&P::dy}, [&](DType dtype) {
                                return is_fp16_bf16_fp32(dtype) || left_to_another_row(c, dtype);
                              });
                     },
                 .violations = {{"dy", retype<&P::dy, DType::int8>},
                                {"dq", retype<&P::dq, DType::int32>},
                                {"dk", retype<&P::dk, DType::fp64>},
                                {"dv", retype<&P::dv, DType::int16>}}});
}

FlashRequirement attention_in_types() {
  return stated(with_status(by("FAG-C21c", {unpadding_page, "parameters"}, {}, u_pages),
                            Status::param_invalid),
                {.statement = "attentionIn is FLOAT16, BFLOAT16 or FLOAT32.",
                 .holds =
                     [](const FlashCall& c) {
                       return all_have_type(c, {&P::attention_in}, is_fp16_bf16_fp32);
                     },
                 .violations = {{"attention_in", retype<&P::attention_in, DType::fp64>}}});
}

/// The page of u5 lists FLOAT32 for attentionIn, although it excludes this type for query.
FlashRequirement attention_in_like_query() {
  return stated(by("FAG-C21a", {unpadding_page, "parameters"}, {}, u_pages),
                {.statement = "attentionIn has the type of query; on u5 it may also be FLOAT32.",
                 .holds =
                     [](const FlashCall& c) {
                       return (is_u5(c) && c.parameters.attention_in.dtype == DType::fp32) ||
                              all_like_query(c, {&P::attention_in});
                     },
                 .violations = {{"attention_in", [](FlashCall& c) {
                                   retype_unlike_query<&P::attention_in>(c);
                                   if (is_u5(c))
                                     c.parameters.attention_in.dtype =
                                         c.parameters.query.dtype == DType::bf16 ? DType::fp16
                                                                                 : DType::bf16;
                                 }}}});
}

FlashRequirement no_8_bit_floats() {
  return stated(by("FAG-C22", {operator_page, "parameters"}, {}, g_pages),
                {.statement = "Neither Atlas A2 nor Atlas A3 accepts 8-bit floating-point types "
                              "for query, keyIn, value or dy.",
                 .applies = is_padded,
                 .holds =
                     [](const FlashCall& c) {
                       return is_packed(c) ||
                              all_have_type(c, {&P::query, &P::key, &P::value, &P::dy},
                                            [](DType dtype) { return !is_float8(dtype); });
                     },
                 .violations = {{"query", retype_padded<&P::query, DType::float8_e5m2>},
                                {"key", retype_padded<&P::key, DType::float8_e4m3fn>},
                                {"value", retype_padded<&P::value, DType::float8_e5m2>},
                                {"dy", retype_padded<&P::dy, DType::float8_e4m3fn>}}});
}

/// Requires one axis of a drop mask. The documentation page lists 0 and 1 as numbers of axes; the
/// vendor's host code only counts the elements.
FlashRequirement drop_mask_rank() {
  static constexpr auto concerned = [](const FlashCall& c) { return is_u1(c) && has_drop_mask(c); };
  return stated(by(Standing::open, "FAG-C24a", {unpadding_page, "parameters"}, {}, u1_page),
                {.statement = "dropMask has one axis, as the page lists.",
                 .sides = {Side::reject},
                 .applies = concerned,
                 .holds =
                     [](const FlashCall& c) {
                       return !concerned(c) || c.parameters.drop_mask.shape.size() == 1;
                     },
                 .violations = {{"two", [](FlashCall& c) {
                                   if (!is_u1(c)) return;
                                   attach_drop_mask(c);
                                   Parameter& mask = c.parameters.drop_mask;
                                   if (given(mask)) reshape(mask, {1, mask.shape.front()});
                                 }}}});
}

/// Tensors that FlashAttentionScoreGrad.md, the common documentation page of the entry points g1
/// and g2, does not describe.
constexpr FlashMember beside_operator_page[] = {&P::softmax_max,  &P::softmax_sum,  &P::softmax_in,
                                                &P::padding_mask, &P::attention_in, &P::dpse};

/// Requires plain storage formats. The documentation pages name only ND; the vendor's host code
/// also accepts formats such as NCHW. No requirement covers those formats.
FlashRequirement plain_formats() {
  return stated(
      with_status(by("FAG-C28", {unpadding_page, "parameters"}, "FAG-Q38", all_pages),
                  Status::param_invalid, u_pages),
      {.statement = "query, keyIn, value, their ropes, dy, pseShift, dropMask, attenMask and "
                    "the gradients have storage format ND, never a private one.",
       .holds =
           [](const FlashCall& c) {
             return std::ranges::all_of(every_tensor, [&](FlashMember member) {
               return std::ranges::find(beside_operator_page, member) !=
                          std::end(beside_operator_page) ||
                      is_plain(c, member);
             });
           },
       .violations = {{"query", reformat<&P::query, Format::fractal_nz>},
                      {"key", reformat<&P::key, Format::nc1hwc0>},
                      {"value", reformat<&P::value, Format::fractal_z>},
                      {"dy", reformat<&P::dy, Format::fractal_nz>},
                      {"atten_mask",
                       [](FlashCall& c) {
                         attach_mask(c);
                         c.parameters.atten_mask.format = Format::fractal_nz;
                       }},
                      {"pse_shift",
                       [](FlashCall& c) {
                         attach_pse(c);
                         c.parameters.pse_shift.format = Format::nc1hwc0;
                       }},
                      {"drop_mask",
                       [](FlashCall& c) {
                         attach_drop_mask(c);
                         c.parameters.drop_mask.format = Format::fractal_z;
                       }},
                      {"query_rope", reformat<&P::query_rope, Format::fractal_nz>},
                      {"key_rope", reformat<&P::key_rope, Format::nc1hwc0>},
                      {"dq", reformat<&P::dq, Format::fractal_nz>},
                      {"dk", reformat<&P::dk, Format::fractal_z>},
                      {"dv", reformat<&P::dv, Format::nc1hwc0>}}});
}

FlashRequirement plain_formats_of_the_forward() {
  return stated(
      with_status(by("FAG-C28a", {unpadding_page, "parameters"}, "FAG-Q38", u_pages),
                  Status::param_invalid),
      {.statement = "softmaxMax, softmaxSum, attentionIn, softmaxIn, paddingMask and dpseOut "
                    "have storage format ND, never a private one.",
       .holds =
           [](const FlashCall& c) {
             return std::ranges::all_of(beside_operator_page,
                                        [&](FlashMember member) { return is_plain(c, member); });
           },
       .violations = {{"softmax_max", reformat<&P::softmax_max, Format::nc1hwc0>},
                      {"softmax_sum", reformat<&P::softmax_sum, Format::fractal_nz>},
                      {"attention_in", reformat<&P::attention_in, Format::fractal_nz>},
                      {"padding_mask",
                       [](FlashCall& c) {
                         if (is_padded(c) || is_u1(c))
                           pass_privately(c.parameters.padding_mask, DType::uint8);
                       }},
                      {"softmax_in", [](FlashCall& c) {
                         if (!is_u3(c)) pass_privately(c.parameters.softmax_in, DType::fp32);
                       }}}});
}

}  // namespace

std::vector<FlashRequirement> type_requirements() {
  return {operand_types<FlashOp, left_to_another_row>(
              with_status(by("FAG-C20", {operator_page, "parameters"}, {}, all_pages, public_pages),
                          Status::param_invalid, u_pages)),
          types_like_query<FlashOp, &P::key, &P::value>(
              worded<FlashOp>(by("FAG-C20a", {operator_page, "constraints"}, {}, all_pages),
                              "query, keyIn and value have the same type.")),
          gradient_types(),
          attention_in_types(),
          attention_in_like_query(),
          types_like_query<FlashOp, &P::dy, &P::dq, &P::dk, &P::dv>(
              worded<FlashOp>(by(Standing::upstream, "FAG-C21b",
                                 {upstream_types, "check that the types of a call are equal"}),
                              "dy, dqOut, dkOut and dvOut have the type of query.")),
          no_8_bit_floats(),
          drop_mask_type<FlashOp>(
              with_status(by("FAG-C24", {operator_page, "parameters"}, {}, g_u1_pages),
                          Status::param_invalid, u1_page)),
          drop_mask_rank(),
          mask_types<FlashOp>(
              with_status(by("FAG-C25", {operator_page, "parameters"}, "CV-O1", all_pages),
                          Status::param_invalid, u_pages)),
          statistics_type<FlashOp>(with_status(
              by("FAG-C26", {unpadding_page, "parameters"}, {}, u_pages), Status::param_invalid)),
          plain_formats(),
          plain_formats_of_the_forward()};
}

}  // namespace assay::spec::detail
