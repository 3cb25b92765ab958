#pragma once

#include <algorithm>

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

inline constexpr std::int64_t head_size_step = 8;

template <class Op>
bool has_ropes(const Call<Op>& c) {
  return takes_ropes(c) && key_as_given(c).has_value();
}

inline bool is_bf16(const Parameter& parameter) {
  return !parameter.present || parameter.dtype == DType::bf16;
}

template <auto member, DType dtype, class Op>
void retype_rope(Call<Op>& call) {
  if (takes_ropes(call)) retype<member, dtype>(call);
}

/// Changes the type of every tensor except the rope tensors.
template <class Op>
void retype_all_but_ropes(Call<Op>& call) {
  if (!takes_ropes(call)) return;
  rewrite(call, [](AttentionProblem& p) { p.dtype = DType::fp16; });
  for (const auto& ropes : {TensorRoles<Op>::query_rope_like, TensorRoles<Op>::key_rope_like})
    for (const MemberOf<Op> member : ropes) (call.parameters.*member).dtype = DType::bf16;
}

template <class Op>
Requirement<Op> rope_types(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "queryRope and keyInRope are BFLOAT16.",
           .applies = takes_ropes,
           .holds =
               [](const Call<Op>& c) {
                 return !takes_ropes(c) ||
                        (is_bf16(c.parameters.query_rope) && is_bf16(c.parameters.key_rope));
               },
           .violations = {{"query_rope", retype_rope<&Op::Parameters::query_rope, DType::fp16>},
                          {"key_rope", retype_rope<&Op::Parameters::key_rope, DType::fp32>}}});
}

/// Requires that query has the type of queryRope, which is BFLOAT16. Accepts types other than fp16,
/// bf16 and fp32, because another requirement checks them.
template <class Op>
Requirement<Op> query_of_rope_type(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "query has the type of queryRope, which is BFLOAT16.",
                         .applies = takes_ropes,
                         .holds =
                             [](const Call<Op>& c) {
                               const Parameter& query = c.parameters.query;
                               return !takes_ropes(c) || is_bf16(query) ||
                                      !is_fp16_bf16_fp32(query.dtype);
                             },
                         .violations = {{"query", retype_all_but_ropes}}});
}

template <class Op>
Requirement<Op> rope_shapes(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement = "queryRope has the same numbers of tokens and heads as query, and keyInRope "
                    "has the same numbers as keyIn.",
       .applies = has_ropes,
       .holds =
           [](const Call<Op>& c) {
             if (!has_ropes(c)) return true;
             const auto& p = c.parameters;
             return std::equal(p.query.shape.begin(), p.query.shape.end() - 1,
                               p.query_rope.shape.begin()) &&
                    std::equal(p.key.shape.begin(), p.key.shape.end() - 1,
                               p.key_rope.shape.begin());
           },
       .violations = {{"query_rope_tokens",
                       [](Call<Op>& c) { grow(c, TensorRoles<Op>::query_rope_like, Axis::seq); }},
                      {"query_rope_heads",
                       [](Call<Op>& c) { grow(c, TensorRoles<Op>::query_rope_like, Axis::heads); }},
                      {"key_rope_tokens",
                       [](Call<Op>& c) { grow(c, TensorRoles<Op>::key_rope_like, Axis::seq); }},
                      {"key_rope_heads", [](Call<Op>& c) {
                         grow(c, TensorRoles<Op>::key_rope_like, Axis::heads);
                       }}}});
}

/// Requires head sizes that are multiples of 8. In deterministic mode the vendor's host code has
/// more conditions.
template <class Op>
Requirement<Op> head_size_steps(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement =
               "The head sizes of query and of queryRope are multiples of 8. The head size of "
               "queryRope equals the head size of keyInRope and is at most the head size of query.",
           .applies = has_ropes,
           .holds =
               [](const Call<Op>& c) {
                 if (!has_ropes(c)) return true;
                 const std::int64_t dim = query_as_given(c)->dim;
                 const std::int64_t rope = c.parameters.query_rope.shape.back();
                 return dim % head_size_step == 0 && rope % head_size_step == 0 && rope > 0 &&
                        rope <= dim && rope == c.parameters.key_rope.shape.back();
               },
           .violations = {{"head_dim",
                           [](Call<Op>& c) {
                             if (!takes_ropes(c)) return;
                             rewrite(c, [](AttentionProblem& p) {
                               p.head_dim = head_size_step + head_size_step / 2;
                               p.head_dim_v = p.head_dim_rope = head_size_step;
                             });
                           }},
                          {"rope_step",
                           [](Call<Op>& c) {
                             if (!takes_ropes(c)) return;
                             rewrite(c, [](AttentionProblem& p) {
                               p.head_dim_rope = head_size_step / 2;
                             });
                           }},
                          {"rope_wider",
                           [](Call<Op>& c) {
                             if (!takes_ropes(c)) return;
                             rewrite(c, [](AttentionProblem& p) {
                               p.head_dim_rope = p.head_dim + head_size_step;
                             });
                           }},
                          {"ropes_differ", [](Call<Op>& c) {
                             for (std::int64_t step = 0; step < head_size_step; ++step)
                               grow(c, TensorRoles<Op>::key_rope_like, Axis::dim);
                           }}}});
}

}  // namespace assay::spec::detail
