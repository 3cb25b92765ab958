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

/// The documentation page of g2 names one type for all tensors without exception, but the host code
/// accepts only FLOAT32 here.
FlashRequirement slopes_like_query() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return is_padded(c) && has_slopes_beside_16_bits(c);
  };
  return {.id = "FAG-C23b",
          .statement = "Slopes of pseType 2 and 3 are not FLOAT32 if query has another type.",
          .source = {operator_page, "constraints"},
          .standing = Standing::open,
          .stated_for = g2_page,
          .sides = {Side::reject},
          .notes = "FAG-Q34",
          .applies = concerned,
          .holds =
              [](const FlashCall& c) {
                return !concerned(c) || c.parameters.pse_shift.dtype != DType::fp32;
              },
          .violations = {{"float32", [](FlashCall& c) {
                            attach_slopes_beside(c, DType::bf16, DType::fp32, is_padded);
                          }}}};
}

FlashRequirement slopes_of_query_type() {
  return {.id = "FAG-C23d",
          .statement = "Slopes of pseType 2 and 3 may have the type of query, FLOAT16 or BFLOAT16.",
          .source = {operator_page, "constraints"},
          .standing = Standing::documented,
          .stated_for = g2_page,
          .sides = {Side::accept},
          .notes = "FAG-Q34",
          .applies =
              [](const FlashCall& c) {
                return is_padded(c) && has_slopes_beside_16_bits(c) &&
                       c.parameters.pse_shift.dtype == c.parameters.query.dtype;
              },
          .holds = always};
}

}  // namespace

std::vector<FlashRequirement> pse_type_requirements() {
  return {pse_types<FlashOp>({.id = "FAG-C23",
                              .source = {operator_page, "parameters"},
                              .stated_for = g_u1_pages,
                              .status = exactly(Status::param_invalid),
                              .status_for = u1_page}),
          pse_of_fitting_type<FlashOp>({.id = "FAG-C23a",
                                        .source = {operator_page, "constraints"},
                                        .stated_for = g_u1_pages,
                                        .notes = "FAG-Q34",
                                        .implies = {"FAG-C23c"}}),
          slopes_like_query(),
          slopes_of_float32<FlashOp, is_u2>({.id = "FAG-C23c",
                                             .source = {upstream_second_unpadding_page, "pseShift"},
                                             .standing = Standing::page,
                                             .page_for = u2_page,
                                             .notes = "FAG-Q34"}),
          slopes_of_query_type()};
}

}  // namespace assay::spec::detail
