#include "flash_attention_score_grad_rows.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

template <FlashMember member, DType dtype>
void attach_plain(FlashCall& call) {
  (call.parameters.*member) = {.present = true, .dtype = dtype};
  reshape(call.parameters.*member, {1, 1, 8, 8});
}

/// The values of both are never used, so what the host code does is unverified. FAG-C11 has every paddingMask of u4.
FlashRow reserved_types() {
  return {
      .id = "FAG-C29",
      .statement =
          "paddingMask is null, UINT8 or BOOL; softmaxIn is null, FLOAT16, BFLOAT16 or FLOAT32.",
      .source = {unpadding_page, "parameters"},
      .standing = Standing::documented,
      .stated_for = u1_page,
      .sides = {Side::reject},
      .notes = "FAG-Q39",
      .status = exactly(Status::param_invalid),
      .applies =
          [](const FlashCall& c) {
            return !is_u3(c) && (given(c.parameters.padding_mask) || given(c.parameters.softmax_in));
          },
      .holds =
          [](const FlashCall& c) {
            const Parameter& mask = c.parameters.padding_mask;
            const Parameter& softmax_in = c.parameters.softmax_in;
            if (is_u3(c)) return true;
            return (is_u4(c) || !given(mask) || mask.dtype == DType::uint8 ||
                    mask.dtype == DType::boolean) &&
                   (!given(softmax_in) || is_fp16_bf16_fp32(softmax_in.dtype));
          },
      .violations = {{"padding_mask",
                      [](FlashCall& c) {
                        if (!is_u3(c) && !is_u4(c)) attach_plain<&P::padding_mask, DType::fp32>(c);
                      }},
                     {"softmax_in", attach_plain<&P::softmax_in, DType::int32>}}};
}

/// Listed with types, left out of the list of refusals, and never produced.
FlashRow dpse_types() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return !is_u3(c) && given(c.parameters.dpse);
  };
  return {.id = "FAG-C29a",
          .statement =
              "dpseOut, if passed, is FLOAT16, BFLOAT16 or FLOAT32; no page promises a refusal.",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .notes = "FAG-Q22",
          .applies = concerned,
          .holds =
              [](const FlashCall& c) {
                return !concerned(c) || is_fp16_bf16_fp32(c.parameters.dpse.dtype);
              },
          .violations = {{"dpse", attach_plain<&P::dpse, DType::int32>}}};
}

}  // namespace

std::vector<FlashRow> reserved_rows() { return {reserved_types(), dpse_types()}; }

}  // namespace assay::spec::detail
