#pragma once

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

/// Returns whether the call has a position bias (pse) to which the requirements of this file apply.
/// False for entry points with ropes, because another requirement forbids a bias there.
template <class Op>
bool has_pse(const Call<Op>& c) {
  return takes_pse_and_dropout(c) && given(c.parameters.pse_shift);
}

/// Returns whether the bias has query's type. Also true for null pointers and for types other than
/// fp16, bf16 and fp32, because other requirements check them.
template <class Op>
bool is_like_query(const Call<Op>& c) {
  const Parameter& query = c.parameters.query;
  const DType pse = c.parameters.pse_shift.dtype;
  return !query.present || !is_fp16_bf16_fp32(query.dtype) || !is_fp16_bf16_fp32(pse) ||
         pse == query.dtype;
}

template <class Op>
Requirement<Op> pse_types(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "pseShift is FLOAT16, BFLOAT16 or FLOAT32.",
                         .applies = has_pse,
                         .holds =
                             [](const Call<Op>& c) {
                               return !has_pse(c) ||
                                      is_fp16_bf16_fp32(c.parameters.pse_shift.dtype);
                             },
                         .violations = {{"pse_shift", [](Call<Op>& c) {
                                           attach_pse(c);
                                           c.parameters.pse_shift.dtype = DType::int32;
                                         }}}});
}

template <class Op>
bool passes_slopes(const Call<Op>& c) {
  return has_pse(c) && (pse_type_of(c) == 2 || pse_type_of(c) == 3);
}

template <class Op>
Requirement<Op> pse_of_fitting_type(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement =
           "pseShift has the type of query; slopes of pseType 2 and 3 have that type or FLOAT32.",
       .applies = has_pse,
       .holds =
           [](const Call<Op>& c) {
             const std::int64_t type = pse_type_of(c);
             if (!has_pse(c) || type < 0 || type > 3) return true;
             if (passes_slopes(c) && c.parameters.pse_shift.dtype == DType::fp32) return true;
             return is_like_query(c);
           },
       .violations = {{"unlike_query",
                       [](Call<Op>& c) {
                         attach_pse(c);
                         if (has_pse(c)) retype_unlike_query<&Op::Parameters::pse_shift>(c);
                       }},
                      {"slopes", [](Call<Op>& c) {
                         attach_slopes(c, 2);
                         if (takes_slopes(c)) c.parameters.pse_shift.dtype = DType::fp16;
                       }}}});
}

/// For calls that `takes` selects: adds slopes of type `slopes` in pseType 3, and sets all tensors
/// with query's type to the type `dtype`.
template <class Op>
void attach_slopes_beside(Call<Op>& call, DType dtype, DType slopes,
                          bool (*takes)(const Call<Op>&)) {
  if (!takes(call)) return;
  attach_slopes(call, 3);
  if (!passes_slopes(call)) return;
  for (const MemberOf<Op> member : TensorRoles<Op>::laid_out(takes_ropes(call)))
    (call.parameters.*member).dtype = dtype;
  call.parameters.pse_shift.dtype = slopes;
}

template <class Op, auto on>
Requirement<Op> slopes_of_float32(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) { return on(c) && passes_slopes(c); };
  return stated<Op>(by, {.statement = "Slopes of pseType 2 and 3 are FLOAT32.",
                         .applies = concerned,
                         .holds =
                             [](const Call<Op>& c) {
                               const DType slopes = c.parameters.pse_shift.dtype;
                               return !concerned(c) || slopes == DType::fp32 ||
                                      !is_fp16_bf16_fp32(slopes);
                             },
                         .violations = {{"type_of_query", [](Call<Op>& c) {
                                           attach_slopes_beside(c, DType::fp16, DType::fp16, on);
                                         }}}});
}

}  // namespace assay::spec::detail
