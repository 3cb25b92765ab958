#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "assay/spec/striding.hpp"
#include "operators/attention/table.hpp"

/// Functions that change a legal call of an attention operator so that it breaks a requirement.
namespace assay::spec::detail {

template <auto member, class Op>
void remove(Call<Op>& call) {
  call.parameters.*member = {};
}
template <auto member, class Op>
void make_scalar(Call<Op>& call) {
  reshape(call.parameters.*member, {});
}
template <auto member, DType dtype, class Op>
void retype(Call<Op>& call) {
  (call.parameters.*member).dtype = dtype;
}
/// Gives the tensor a floating type that differs from the type of query: bf16 if query is fp32,
/// else fp32.
template <auto member, class Op>
void retype_unlike_query(Call<Op>& call) {
  const bool fp32 = call.parameters.query.dtype == DType::fp32;
  (call.parameters.*member).dtype = fp32 ? DType::bf16 : DType::fp32;
}
template <auto member, Format format, class Op>
void reformat(Call<Op>& call) {
  (call.parameters.*member).format = format;
}
template <auto member, class Op>
void drop_axis(Call<Op>& call) {
  Shape shape = (call.parameters.*member).shape;
  if (shape.empty()) return;
  shape.pop_back();
  reshape(call.parameters.*member, shape);
}
template <auto member, class Op>
void add_axis(Call<Op>& call) {
  Shape shape = (call.parameters.*member).shape;
  if (shape.empty()) return;
  shape.push_back(1);
  reshape(call.parameters.*member, shape);
}
/// Gives the tensor a wrong number of axes: removes the last axis if there are at least four,
/// otherwise adds an axis of extent 1.
template <auto member, class Op>
void change_rank(Call<Op>& call) {
  Shape shape = (call.parameters.*member).shape;
  if (shape.size() > 3) {
    shape.pop_back();
  } else {
    shape.push_back(1);
  }
  reshape(call.parameters.*member, shape);
}

/// Applies `change` to the sizes and options of the call, then builds the call again in its
/// simplest form: contiguous, without padding, bias, dropout, prefix or window, and with a mask
/// only if the entry point requires one.
template <class Op>
void rewrite(Call<Op>& call, void (*change)(AttentionProblem&)) {
  Call<Op> bare = call;
  bare.parameters.pse_shift = bare.parameters.drop_mask = bare.parameters.atten_mask = {};
  bare.parameters.prefix.reset();
  bare.parameters.q_start_idx.reset();
  bare.parameters.kv_start_idx.reset();
  auto problem = problem_of(bare);
  if (!problem) return;
  problem->padding_q = problem->padding_kv = 0;
  problem->keep_prob = 1;
  problem->sparse_mode = 0;
  problem->pse_type = 1;
  problem->pre_tokens = problem->next_tokens = unbounded_tokens;
  if (takes_ropes(call)) problem->atten_mask = MaskShape::ss;
  change(*problem);
  call =
      call_of(*problem, call.entry_point, call.product, Striding::contiguous, Striding::contiguous);
}

/// Adds 1 to the extent of `axis` of each listed tensor. Does nothing if the layout has no such
/// axis.
template <class Op>
void grow(Call<Op>& call, std::initializer_list<MemberOf<Op>> members, Axis axis) {
  const auto problem = problem_of(call);
  if (!problem) return;
  const auto position = position_of(problem->input_layout, axis);
  if (!position) return;
  for (const MemberOf<Op> member : members) {
    Parameter& parameter = call.parameters.*member;
    if (!given(parameter)) continue;
    Shape shape = parameter.shape;
    std::int64_t step = 1;
    if (merges_heads(problem->input_layout) && (axis == Axis::heads || axis == Axis::dim)) {
      const bool of_key = std::ranges::count(TensorRoles<Op>::key_like, member) +
                              std::ranges::count(TensorRoles<Op>::value_like, member) >
                          0;
      const std::int64_t heads = of_key ? problem->heads_kv : problem->heads_q;
      step = axis == Axis::dim ? heads : shape.back() / heads;
    }
    shape[*position] += step;
    reshape(parameter, shape);
  }
}

/// The put functions add one optional input to a call and leave the rest unchanged: a mask with an
/// unbounded window; a position bias (pse) of pseType 1; slopes of pseType 2 or 3; a prefix that
/// leaves every key unmasked for all queries. In padded layouts the position bias is a full tensor;
/// for packed sequences it has a form on which all documentation pages agree.
template <class Op>
void put_mask(Call<Op>& call, std::int64_t sparse_mode, const Shape& shape) {
  call.parameters.atten_mask = {.present = true, .dtype = DType::boolean};
  reshape(call.parameters.atten_mask, shape);
  call.attributes.sparse_mode = sparse_mode;
  call.attributes.pre_tokens = call.attributes.next_tokens = unbounded_tokens;
}

template <class Op>
void put_compressed_mask(Call<Op>& call, std::int64_t sparse_mode) {
  const std::int64_t rows = sparse_mode == 6 ? compressed_prefix_rows : 0;
  put_mask(call, sparse_mode, {compressed_mask_edge + rows, compressed_mask_edge});
}

template <class Op>
void put_pse(Call<Op>& call) {
  auto problem = problem_of(call);
  if (!problem) return;
  problem->pse_type = 1;
  problem->pse_shift = is_packed(call) ? TensorRoles<Op>::packed_pse : PseShape::bnss;
  call.parameters.pse_shift = {.present = true, .dtype = pse_dtype(*problem)};
  reshape(call.parameters.pse_shift, pse_shape(*problem));
  call.attributes.pse_type = 1;
}

template <class Op>
void put_slopes(Call<Op>& call, std::int64_t pse_type) {
  const auto problem = problem_of(call);
  if (!problem || !takes_slopes(call)) return;
  call.parameters.pse_shift = {.present = true, .dtype = DType::fp32};
  reshape(call.parameters.pse_shift, {problem->heads_q});
  call.attributes.pse_type = pse_type;
}

template <class Op>
void put_prefix(Call<Op>& call) {
  const auto key = key_as_given(call);
  if (!key) return;
  auto& prefix = call.parameters.prefix.emplace();
  for (std::int64_t b = 0; b < key->batch; ++b) prefix.push_back(key->length(b));
}

/// Each attach function adds one input to a call, and first simplifies the call so that no sequence
/// is empty. A position bias also needs a mask, so this mask is added, too. If the entry point does
/// not have the input, the functions do nothing.
template <class Op>
void attach_mask(Call<Op>& call, std::int64_t sparse_mode, const Shape& shape) {
  if (!problem_of(call)) return;
  rewrite(call, leave_no_sequence_empty);
  put_mask(call, sparse_mode, shape);
}

template <class Op>
void attach_mask(Call<Op>& call) {
  if (given(call.parameters.atten_mask)) return;
  rewrite(call, leave_no_sequence_empty);
  const auto problem = problem_of(call);
  if (problem && !given(call.parameters.atten_mask))
    put_mask(call, 0, {problem->seq_q, problem->seq_kv});
}

template <class Op>
void attach_pse(Call<Op>& call) {
  if (!takes_pse_and_dropout(call)) return;
  rewrite(call, is_packed(call) ? make_square : leave_no_sequence_empty);
  if (is_packed(call)) put_compressed_mask(call, 2);
  put_pse(call);
}

template <class Op>
void attach_slopes(Call<Op>& call, std::int64_t pse_type) {
  if (!takes_slopes(call)) return;
  rewrite(call, make_square_fp32);
  put_slopes(call, pse_type);
}

template <class Op>
void attach_drop_mask(Call<Op>& call) {
  if (!takes_pse_and_dropout(call)) return;
  rewrite(call, leave_no_sequence_empty);
  const auto bytes = drop_mask_bytes(call);
  if (!bytes) return;
  call.parameters.drop_mask = {.present = true, .dtype = DType::uint8};
  reshape(call.parameters.drop_mask, {*bytes});
  call.attributes.keep_prob = 0.5;
}

template <class Op>
void attach_prefix(Call<Op>& call) {
  if (takes_ropes(call) || !problem_of(call)) return;
  rewrite(call, leave_no_sequence_empty);
  put_compressed_mask(call, 6);
  put_prefix(call);
}

}  // namespace assay::spec::detail
