#include "operators/attention/pse_types.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

/// Requirements about the type of the position bias and of slopes.
namespace assay::spec::detail {
namespace {

using P = FlashParameters;

bool has_slopes_beside_16_bits(const FlashCall& c) {
  const DType query = c.parameters.query.dtype;
  return passes_slopes(c) && (query == DType::fp16 || query == DType::bf16);
}

/// Requires FLOAT32 slopes. The documentation page of entry point g2 names one type for all tensors
/// without exception, but the vendor's host code accepts only FLOAT32 for slopes.
FlashRequirement slopes_like_query() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_padded(c) && has_slopes_beside_16_bits(c);
  };
  return stated(
      by(Standing::open, "FAG-C23b", {operator_page, "constraints"}, "FAG-Q34", g2_page),
      {.statement = "Slopes of pseType 2 and 3 are not FLOAT32 if query has another type.",
       .sides = {Side::reject},
       .applies = concerned,
       .holds =
           [](const FlashCall& c) {
             return !concerned(c) || c.parameters.pse_shift.dtype != DType::fp32;
           },
       .violations = {{"float32", [](FlashCall& c) {
                         attach_slopes_beside(c, DType::bf16, DType::fp32, is_padded);
                       }}}});
}

bool has_slopes_of_public_page(const FlashCall& c) { return is_u2(c) || is_u5(c); }

FlashRequirement slopes_of_query_type() {
  return stated(
      by("FAG-C23d", {operator_page, "constraints"}, "FAG-Q34", g2_page),
      {.statement = "Slopes of pseType 2 and 3 may have the type of query, FLOAT16 or BFLOAT16.",
       .sides = {Side::accept},
       .applies = [](const FlashCall& c) {
         return is_padded(c) && has_slopes_beside_16_bits(c) &&
                c.parameters.pse_shift.dtype == c.parameters.query.dtype;
       }});
}

}  // namespace

std::vector<FlashRequirement> pse_type_requirements() {
  return {
      pse_types<FlashOp>(with_status(by("FAG-C23", {operator_page, "parameters"}, {}, g_u1_pages),
                                     Status::param_invalid, u1_page)),
      pse_of_fitting_type<FlashOp>(implying(
          by("FAG-C23a", {operator_page, "constraints"}, "FAG-Q34", g_u1_pages), {"FAG-C23c"})),
      slopes_like_query(),
      slopes_of_float32<FlashOp, has_slopes_of_public_page>(
          by(Standing::page, "FAG-C23c", {upstream_second_unpadding_page, "pseShift"}, "FAG-Q34",
             {}, u2_page)),
      slopes_of_query_type()};
}

}  // namespace assay::spec::detail
