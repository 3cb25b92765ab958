#pragma once

#include <algorithm>

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

inline bool is_private(Format format) {
  return format == Format::nc1hwc0 || format == Format::fractal_z || format == Format::fractal_nz;
}

/// Returns whether `accepts` returns true for the type of every tensor in `members` that is
/// present.
template <class Op, class Accepts>
bool all_have_type(const Call<Op>& call, std::initializer_list<MemberOf<Op>> members,
                   const Accepts& accepts) {
  return std::ranges::all_of(members, [&](MemberOf<Op> member) {
    const Parameter& parameter = call.parameters.*member;
    return !parameter.present || accepts(parameter.dtype);
  });
}

/// Returns whether `members` have query's type. Also true for null pointers and for types other
/// than fp16, bf16 and fp32, because other requirements check them.
template <class Op>
bool all_like_query(const Call<Op>& call, std::initializer_list<MemberOf<Op>> members) {
  const Parameter& query = call.parameters.query;
  if (!query.present || !is_fp16_bf16_fp32(query.dtype)) return true;
  return all_have_type(call, members, [&](DType dtype) {
    return !is_fp16_bf16_fp32(dtype) || dtype == query.dtype;
  });
}

template <class Op>
bool has_drop_mask(const Call<Op>& c) {
  return takes_pse_and_dropout(c) && given(c.parameters.drop_mask);
}

/// Requires legal types of the operands. Accepts types for which `is_spared` returns true, because
/// other requirements check them.
template <class Op, auto is_spared>
Requirement<Op> operand_types(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "query, keyIn and value are FLOAT16, BFLOAT16 or FLOAT32.",
           .holds =
               [](const Call<Op>& c) {
                 return all_have_type(
                     c, {&Op::Parameters::query, &Op::Parameters::key, &Op::Parameters::value},
                     [&](DType dtype) { return is_fp16_bf16_fp32(dtype) || is_spared(c, dtype); });
               },
           .violations = {{"query", retype<&Op::Parameters::query, DType::int8>},
                          {"key", retype<&Op::Parameters::key, DType::int32>},
                          {"value", retype<&Op::Parameters::value, DType::fp64>}}});
}

/// Requires that the tensors `members` have the type of query.
template <class Op, auto... members>
Requirement<Op> types_like_query(const Stated<Op>& by) {
  return stated<Op>(by,
                    {.holds = [](const Call<Op>& c) { return all_like_query(c, {members...}); },
                     .violations = {{name_of<Op>(members), retype_unlike_query<members, Op>}...}});
}

template <class Op>
Requirement<Op> drop_mask_type(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "dropMask is UINT8.",
                         .applies = has_drop_mask,
                         .holds =
                             [](const Call<Op>& c) {
                               return !has_drop_mask(c) ||
                                      c.parameters.drop_mask.dtype == DType::uint8;
                             },
                         .violations = {{"drop_mask", [](Call<Op>& c) {
                                           attach_drop_mask(c);
                                           c.parameters.drop_mask.dtype = DType::fp16;
                                         }}}});
}

template <class Op>
Requirement<Op> mask_types(const Stated<Op>& by) {
  return stated<Op>(by,
                    {.statement = "attenMask is BOOL or UINT8.",
                     .applies = [](const Call<Op>& c) { return given(c.parameters.atten_mask); },
                     .holds =
                         [](const Call<Op>& c) {
                           return !given(c.parameters.atten_mask) ||
                                  c.parameters.atten_mask.dtype == DType::boolean ||
                                  c.parameters.atten_mask.dtype == DType::uint8;
                         },
                     .violations = {{"fp16",
                                     [](Call<Op>& c) {
                                       attach_mask(c);
                                       c.parameters.atten_mask.dtype = DType::fp16;
                                     }},
                                    {"int8", [](Call<Op>& c) {
                                       attach_mask(c);
                                       c.parameters.atten_mask.dtype = DType::int8;
                                     }}}});
}

template <class Op>
Requirement<Op> statistics_type(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "softmaxMax and softmaxSum are FLOAT32.",
           .holds =
               [](const Call<Op>& c) {
                 return all_have_type(c,
                                      {&Op::Parameters::softmax_max, &Op::Parameters::softmax_sum},
                                      [](DType dtype) { return dtype == DType::fp32; });
               },
           .violations = {{"softmax_max", retype<&Op::Parameters::softmax_max, DType::fp16>},
                          {"softmax_sum", retype<&Op::Parameters::softmax_sum, DType::bf16>}}});
}

template <class Op>
bool is_plain(const Call<Op>& c, MemberOf<Op> member) {
  const Parameter& parameter = c.parameters.*member;
  return !given(parameter) || !is_private(parameter.format);
}

}  // namespace assay::spec::detail
