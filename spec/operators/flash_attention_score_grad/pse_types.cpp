#include "operators/flash_attention_score_grad/table.hpp"

/// Requirements about the type of the position bias and of slopes.
namespace assay::spec::detail {
namespace {

using P = FlashParameters;

/// Returns whether the call has a bias to which these requirements apply. u3 accepts no bias;
/// FAG-C09 covers that.
bool has_pse(const FlashCall& c) {
  return takes_pse_and_dropout(c) && given(c.parameters.pse_shift);
}

/// Changes the type of all tensors that have query's type, except the bias.
void rewrite_type(FlashCall& call, DType dtype) {
  for (const FlashMember member :
       {&P::query, &P::key, &P::value, &P::dy, &P::attention_in, &P::dq, &P::dk, &P::dv})
    (call.parameters.*member).dtype = dtype;
}

/// Returns whether the bias has query's type. Other requirements cover null pointers, and types
/// other than fp16, bf16 and fp32.
bool is_like_query(const FlashCall& c) {
  const Parameter& query = c.parameters.query;
  const DType pse = c.parameters.pse_shift.dtype;
  return !query.present || !is_fp16_bf16_fp32(query.dtype) || !is_fp16_bf16_fp32(pse) ||
         pse == query.dtype;
}

FlashRequirement pse_types() {
  return {.id = "FAG-C23",
          .statement = "pseShift is FLOAT16, BFLOAT16 or FLOAT32.",
          .source = {operator_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = g_u1_pages,
          .sides = {Side::accept, Side::reject},
          .status = exactly(Status::param_invalid),
          .status_for = u1_page,
          .applies = has_pse,
          .holds =
              [](const FlashCall& c) {
                return !has_pse(c) || is_fp16_bf16_fp32(c.parameters.pse_shift.dtype);
              },
          .violations = {{"pse_shift", [](FlashCall& c) {
                            attach_pse(c);
                            c.parameters.pse_shift.dtype = DType::int32;
                          }}}};
}

bool has_slopes(const FlashCall& c) {
  return has_pse(c) && (pse_type_of(c) == 2 || pse_type_of(c) == 3);
}

/// FAG-C23b and FAG-C23c say which of the two types slopes have.
FlashRequirement pse_of_fitting_type() {
  return {
      .id = "FAG-C23a",
      .statement =
          "pseShift has the type of query; slopes of pseType 2 and 3 have that type or FLOAT32.",
      .source = {operator_page, "constraints"},
      .standing = Standing::documented,
      .stated_for = g_u1_pages,
      .sides = {Side::accept, Side::reject},
      .notes = "FAG-Q34",
      .implies = {"FAG-C23c"},
      .applies = has_pse,
      .holds =
          [](const FlashCall& c) {
            const std::int64_t type = pse_type_of(c);
            if (!has_pse(c) || type < 0 || type > 3) return true;
            if (has_slopes(c) && c.parameters.pse_shift.dtype == DType::fp32) return true;
            return is_like_query(c);
          },
      .violations = {{"unlike_query",
                      [](FlashCall& c) {
                        attach_pse(c);
                        if (has_pse(c)) retype_unlike_query<&P::pse_shift>(c);
                      }},
                     {"slopes", [](FlashCall& c) {
                        attach_slopes(c, 2);
                        if (takes_slopes(c)) c.parameters.pse_shift.dtype = DType::fp16;
                      }}}};
}

bool has_slopes_beside_16_bits(const FlashCall& c) {
  const DType query = c.parameters.query.dtype;
  return has_slopes(c) && (query == DType::fp16 || query == DType::bf16);
}

/// Attaches slopes of type `slopes` in pseType 3, and gives the operands the type `dtype`. Does so
/// on entry points that `takes` accepts.
void attach_slopes_beside(FlashCall& call, DType dtype, DType slopes,
                          bool (*takes)(const FlashCall&)) {
  if (!takes(call)) return;
  attach_slopes(call, 3);
  if (!has_slopes(call)) return;
  rewrite_type(call, dtype);
  call.parameters.pse_shift.dtype = slopes;
}

/// The page of g2 names one type for all tensors, without exception; the host code accepts only
/// FLOAT32.
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

FlashRequirement slopes_of_float32() {
  static constexpr auto concerned = [](const FlashCall& c) { return is_u2(c) && has_slopes(c); };
  return {.id = "FAG-C23c",
          .statement = "Slopes of pseType 2 and 3 are FLOAT32.",
          .source = {upstream_second_unpadding_page, "pseShift"},
          .standing = Standing::page,
          .page_for = u2_page,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q34",
          .applies = concerned,
          .holds =
              [](const FlashCall& c) {
                const DType slopes = c.parameters.pse_shift.dtype;
                return !concerned(c) || slopes == DType::fp32 || !is_fp16_bf16_fp32(slopes);
              },
          .violations = {{"type_of_query", [](FlashCall& c) {
                            attach_slopes_beside(c, DType::fp16, DType::fp16, is_u2);
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
  return {pse_types(), pse_of_fitting_type(), slopes_like_query(), slopes_of_float32(),
          slopes_of_query_type()};
}

}  // namespace assay::spec::detail
