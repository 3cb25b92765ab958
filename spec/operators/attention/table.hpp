#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/attention.hpp"
#include "assay/spec/requirement.hpp"
#include "operators/attention/axes.hpp"
#include "operators/standing.hpp"

/// Functions that read calls of attention operators, for the requirements. Op is the forward or its
/// gradient: their parameters have the same names.
namespace assay::spec::detail {

template <class Op>
using MemberOf = Parameter Op::Parameters::*;

/// The tensors of an operator, grouped by their roles. The file table.hpp of each operator
/// specialises this struct with these members:
///   laid_out(ropes): the required tensors in the layout inputLayout, with or without rope tensors
///   key_like, value_like: the tensors with the shape of key, and those with the shape of value
///   query_rope_like, key_rope_like: the tensors with the shape of query's or key's rope part
///   operands: the tensors that must have the same batch size
///   packed_pse: the form of packed position bias on which all documentation pages agree
template <class Op>
struct TensorRoles;

/// These functions select the calls to which a requirement applies: every call; calls on the padded
/// or on the packed entry points; calls with rope tensors, which some entry points require; calls
/// that may have a position bias and dropout; calls that may have pseType 2 or 3.
template <class Op>
bool always(const Call<Op>&) {
  return true;
}
template <class Op>
bool is_padded(const Call<Op>& call) {
  return !is_unpadding(call.entry_point);
}
template <class Op>
bool is_packed(const Call<Op>& call) {
  return is_unpadding(call.entry_point);
}
template <class Op>
bool takes_ropes(const Call<Op>& call) {
  const auto& p = call.parameters;
  return requires_rope(call.entry_point) ||
         (has_rope(call.entry_point) && (p.query_rope.present || p.key_rope.present));
}
template <class Op>
bool takes_pse_and_dropout(const Call<Op>& call) {
  return !takes_ropes(call);
}
template <class Op>
bool takes_slopes(const Call<Op>& call) {
  return has_pse_type(call.entry_point) && !takes_ropes(call);
}

/// The reason why no test call violates a requirement about tensor elements.
inline constexpr std::string_view content_reason =
    "the requirement is about elements, which phase 1 does not read; all numerically judged cases "
    "satisfy it";

/// The members of a requirement that differ between operators: which document states the
/// requirement, and where. If `statement` is not empty, it replaces the text in Shared.
template <class Op>
struct Stated {
  std::string_view id;
  std::string_view statement = {};
  Source source;
  Standing standing = Standing::documented;
  std::span<const typename Op::EntryPoint> stated_for = {}, page_for = {};
  std::string_view notes = {};
  std::vector<std::string_view> implies = {};
  ExpectedStatus status = any_refusal;
  std::span<const typename Op::EntryPoint> status_for = {};
};

/// Returns `by` with the status code that the documentation demands for a refused call. The status
/// code applies to the entry points `pages`, or to all entry points if `pages` is empty.
template <class Op>
Stated<Op> with_status(Stated<Op> by, Status status,
                       std::span<const typename Op::EntryPoint> pages = {}) {
  by.status = exactly(status);
  by.status_for = pages;
  return by;
}
template <class Op>
Stated<Op> worded(Stated<Op> by, std::string_view statement, std::string_view notes = {}) {
  by.statement = statement;
  if (!notes.empty()) by.notes = notes;
  return by;
}

/// The members of a requirement that are equal for all operators with this requirement.
template <class Op>
struct Shared {
  std::string_view statement = {};
  std::vector<Side> sides = {Side::accept, Side::reject};
  bool (*applies)(const Call<Op>& call) = always;
  bool (*holds)(const Call<Op>& call) = always;
  bool (*reaches)(const Call<Op>& call) = nullptr;
  std::vector<Violation<Op>> violations = {};
  std::vector<Variant<Op>> variants = {};
  std::string_view reason = {};
};

template <class Op>
Requirement<Op> stated(const Stated<Op>& by, Shared<Op> shared) {
  // If the documentation contradicts itself about a call, a kernel may refuse the call. Therefore
  // no test case requires that a kernel accepts it.
  if (by.standing == Standing::disputed) std::erase(shared.sides, Side::accept);
  return {.id = by.id,
          .statement = by.statement.empty() ? shared.statement : by.statement,
          .source = by.source,
          .standing = by.standing,
          .stated_for = by.stated_for,
          .page_for = by.page_for,
          .sides = std::move(shared.sides),
          .notes = by.notes,
          .implies = by.implies,
          .status = by.status,
          .status_for = by.status_for,
          .applies = shared.applies,
          .holds = shared.holds,
          .reaches = shared.reaches,
          .violations = std::move(shared.violations),
          .variants = std::move(shared.variants),
          .reason = shared.reason};
}

template <auto on, auto change, class Op>
void change_on(Call<Op>& call) {
  if (on(call)) change(call);
}

/// Builds a requirement: `fits` must be true for every call that `on` selects. Each function in
/// `changes` changes a call so that it violates the requirement. `names` contains the names of
/// these functions.
template <class Op, auto on, auto fits, auto... changes>
Requirement<Op> demanded(const Stated<Op>& by, std::initializer_list<std::string_view> names) {
  auto name = names.begin();
  return stated<Op>(by, {.applies = on,
                         .holds = [](const Call<Op>& c) { return !on(c) || fits(c); },
                         .violations = {{*name++, change_on<on, changes, Op>}...}});
}

/// Returns the layout that a call names, or nothing if the entry point does not accept it.
template <class Op>
std::optional<Layout> layout_of(const Call<Op>& call) {
  const auto& text = call.attributes.input_layout;
  const auto layout = text ? spellings_of<Layout>.parse(*text) : std::nullopt;
  if (!layout || is_packed(*layout) != is_unpadding(call.entry_point)) return std::nullopt;
  return layout;
}

/// Returns whether inputLayout is known and all tensors that it describes are present with the rank
/// of the layout.
template <class Op>
bool ranks_fit(const Call<Op>& call) {
  const auto layout = layout_of(call);
  if (!layout) return false;
  return std::ranges::all_of(
      TensorRoles<Op>::laid_out(takes_ropes(call)), [&](MemberOf<Op> member) {
        const Parameter& parameter = call.parameters.*member;
        return parameter.present && parameter.shape.size() == rank_of(*layout);
      });
}

template <class Op>
bool lengths_fit(const Call<Op>& call) {
  const auto& p = call.parameters;
  return sums_fit(p.actual_seq_qlen, p.query) && sums_fit(p.actual_seq_kvlen, p.key) &&
         p.actual_seq_qlen->size() == p.actual_seq_kvlen->size();
}

/// These functions return the extents of query, key or value, computed from the shapes and
/// cumulative lengths of a call. They return nothing if the call violates a requirement about
/// layout, ranks, lengths, headNum or head sizes. In BSH and SBH one axis contains heads and
/// channels. Then headNum gives the number of query heads, key has the head size of query, and
/// value has as many heads as key. In TND the member `ends` is set.
template <class Op>
std::optional<Extents> query_as_given(const Call<Op>& call) {
  if (!ranks_fit(call)) return std::nullopt;
  const auto& p = call.parameters;
  if (is_padded(call)) return padded_extents(p.query, *layout_of(call), call.attributes.head_num);
  if (!lengths_fit(call)) return std::nullopt;
  return packed_extents(p.query, p.actual_seq_qlen);
}

template <class Op>
std::optional<Extents> key_as_given(const Call<Op>& call) {
  const auto query = query_as_given(call);
  if (!query) return std::nullopt;
  const auto& p = call.parameters;
  if (is_packed(call)) return packed_extents(p.key, p.actual_seq_kvlen);
  if (!merges_heads(*layout_of(call))) return padded_extents(p.key, *layout_of(call), 0);
  const std::int64_t last = p.key.shape.back();
  if (query->dim == 0 || last % query->dim != 0) return std::nullopt;
  if (last == 0)
    return Extents{.batch = extent(p.key, *layout_of(call), Axis::batch),
                   .heads = 0,
                   .seq = extent(p.key, *layout_of(call), Axis::seq),
                   .dim = query->dim};
  return padded_extents(p.key, *layout_of(call), last / query->dim);
}

template <class Op>
std::optional<Extents> value_as_given(const Call<Op>& call) {
  const auto key = key_as_given(call);
  if (!key) return std::nullopt;
  const auto& p = call.parameters;
  if (is_packed(call)) return packed_extents(p.value, p.actual_seq_kvlen);
  return padded_extents(p.value, *layout_of(call), key->heads);
}

/// Returns `shape`, which is in the call's layout, with `heads` heads of size `dim`.
template <class Op>
Shape with_head_size(const Call<Op>& call, Shape shape, std::int64_t heads, std::int64_t dim) {
  shape.back() = merges_heads(*layout_of(call)) ? heads * dim : dim;
  return shape;
}

/// Returns the pseType of the call; 1 on entry points without this attribute.
template <class Op>
std::int64_t pse_type_of(const Call<Op>& call) {
  return has_pse_type(call.entry_point) ? call.attributes.pse_type : 1;
}

/// Returns whether the call has a mask and the sparseMode `mode`.
template <class Op>
bool masked_in_mode(const Call<Op>& call, std::int64_t mode) {
  return given(call.parameters.atten_mask) && call.attributes.sparse_mode == mode;
}

/// Returns the number of bytes of a drop mask with one bit per score; nothing if the extents are
/// undefined.
template <class Op>
std::optional<std::int64_t> drop_mask_bytes(const Call<Op>& call) {
  const auto query = query_as_given(call);
  const auto key = key_as_given(call);
  if (!query || !key) return std::nullopt;
  const bool alike = query->ends.empty() && key->ends.empty();
  const std::int64_t different = alike ? std::min<std::int64_t>(query->batch, 1) : query->batch;
  std::int64_t bits = 0;
  for (std::int64_t b = 0; b < different; ++b) {
    std::int64_t scores = query->heads;
    if (__builtin_mul_overflow(scores, query->length(b), &scores) ||
        __builtin_mul_overflow(scores, key->length(b), &scores) ||
        __builtin_add_overflow(bits, scores, &bits))
      return std::numeric_limits<std::int64_t>::max();
  }
  if (alike && __builtin_mul_overflow(bits, query->batch, &bits))
    return std::numeric_limits<std::int64_t>::max();
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

/// Returns the problem (the sizes and options of the computation) that the attributes and tensor
/// shapes of a call define. Returns nothing if they do not define a problem.
template <class Op>
std::optional<AttentionProblem> bare_problem_of(const Call<Op>& call) {
  const auto query = query_as_given(call);
  const auto key = key_as_given(call);
  const auto value = value_as_given(call);
  if (!query || !key || !value) return std::nullopt;
  const auto& a = call.attributes;
  AttentionProblem problem{.input_layout = *layout_of(call),
                           .dtype = call.parameters.query.dtype,
                           .batch = query->batch,
                           .heads_q = query->heads,
                           .heads_kv = key->heads,
                           .seq_q = query->seq,
                           .seq_kv = key->seq,
                           .head_dim = query->dim,
                           .head_dim_v = value->dim,
                           .scale_value = a.scale_value,
                           .keep_prob = a.keep_prob,
                           .sparse_mode = a.sparse_mode,
                           .pre_tokens = a.pre_tokens,
                           .next_tokens = a.next_tokens,
                           .pse_type = pse_type_of(call)};
  problem.lengths_q = lengths_of(*query);
  problem.lengths_kv = lengths_of(*key);
  if (is_packed(call)) {
    problem.padding_q = std::max<std::int64_t>(0, call.parameters.query.shape[0] - query->tokens());
    problem.padding_kv = std::max<std::int64_t>(0, call.parameters.key.shape[0] - key->tokens());
  }
  if (takes_ropes(call)) problem.head_dim_rope = call.parameters.query_rope.shape.back();
  return problem;
}

/// Returns the form in which the position bias (pse) is passed; nothing if its shape matches no
/// accepted form.
template <class Op>
std::optional<PseShape> pse_form_of(const Call<Op>& call) {
  auto problem = bare_problem_of(call);
  if (!problem) return std::nullopt;
  std::vector<PseShape> forms = {PseShape::bnss, PseShape::one_nss, PseShape::bn1s};
  if (is_packed(call)) forms.insert(forms.end(), {PseShape::packed_bnss, PseShape::packed_bn1s});
  // The compressed form needs at least as many queries as it has rows; with fewer, it would need
  // columns outside the tensor.
  if (is_packed(call) || problem->seq_q >= compressed_pse_rows)
    forms.insert(forms.end(), {PseShape::bnhs, PseShape::one_nhs});
  if (pse_type_of(call) >= 2) forms = {PseShape::slopes_n, PseShape::slopes_bn};
  for (const PseShape form : forms) {
    problem->pse_shift = form;
    if (pse_shape(*problem) == call.parameters.pse_shift.shape) return form;
  }
  return std::nullopt;
}

/// Returns the form in which the mask is passed; nothing if no form matches.
template <class Op>
std::optional<MaskShape> mask_form_of(const Call<Op>& call) {
  auto problem = bare_problem_of(call);
  if (!problem) return std::nullopt;
  using enum MaskShape;
  static constexpr MaskShape written[] = {ss, one_one_ss, b_one_ss, bnss};
  static constexpr MaskShape fixed[] = {compressed, compressed_one_one_ss, compressed_b_one_ss,
                                        compressed_bnss};
  const std::int64_t mode = call.attributes.sparse_mode;
  for (const MaskShape form : mode == 0 || mode == 1 || mode == 5 ? written : fixed) {
    problem->atten_mask = form;
    if (mask_shape(*problem) == call.parameters.atten_mask.shape) return form;
  }
  return std::nullopt;
}

template <class Op>
std::optional<DropMask> drop_form_of(const Call<Op>& call, AttentionProblem problem) {
  if (!given(call.parameters.drop_mask)) return DropMask::absent;
  for (const DropMask form : {DropMask::exact, DropMask::granules}) {
    problem.drop_mask = form;
    if (element_count(call.parameters.drop_mask.shape) == element_count(drop_mask_shape(problem)))
      return form;
  }
  return std::nullopt;
}

/// Returns the problem (the sizes and options of the computation) of a legal call. Returns nothing
/// for other calls.
template <class Op>
std::optional<AttentionProblem> problem_of(const Call<Op>& call) {
  auto problem = bare_problem_of(call);
  if (!problem) return std::nullopt;
  const auto& p = call.parameters;
  if (given(p.atten_mask)) {
    const auto form = mask_form_of(call);
    if (!form) return std::nullopt;
    problem->atten_mask = *form;
    problem->mask_dtype = p.atten_mask.dtype;
  }
  if (given(p.pse_shift)) {
    const auto form = pse_form_of(call);
    if (!form) return std::nullopt;
    problem->pse_shift = *form;
    if (problem->pse_type >= 2) problem->slope_dtype = p.pse_shift.dtype;
  }
  const auto drop = drop_form_of(call, *problem);
  if (!drop) return std::nullopt;
  problem->drop_mask = *drop;
  problem->prefix = p.prefix.value_or(std::vector<std::int64_t>{});
  if (has_pse_type(call.entry_point)) {
    problem->q_start_idx = p.q_start_idx.value_or(std::vector<std::int64_t>{});
    problem->kv_start_idx = p.kv_start_idx.value_or(std::vector<std::int64_t>{});
  }
  if constexpr (requires { call.attributes.softmax_in_layout; })
    if (call.attributes.softmax_in_layout == "same_as_input")
      problem->softmax_in_layout = SoftmaxInLayout::same_as_input;
  if constexpr (requires { call.attributes.softmax_out_layout; })
    if (call.attributes.softmax_out_layout == "same_as_input")
      problem->softmax_in_layout = SoftmaxInLayout::same_as_input;
  problem->statistics_order = upstream_order(problem->softmax_in_layout);
  if (has_sink(call.entry_point) && element_count(p.sink.shape) != 0 && p.sink.present)
    problem->sink = SinkShape::per_head;
  return problem;
}

/// Returns the name of a tensor in the list of parameters.
template <class Op>
std::string_view name_of(MemberOf<Op> member) {
  const typename Op::Parameters parameters{};
  std::string_view found;
  visit_fields(parameters, [&]<class Field>(std::string_view name, const Field& field) {
    if constexpr (std::same_as<Field, Parameter>)
      if (&field == &(parameters.*member)) found = name;
  });
  return found;
}

template <class Op>
bool has_query_extents(const Call<Op>& c) {
  return query_as_given(c).has_value();
}
template <class Op>
bool has_value_extents(const Call<Op>& c) {
  return value_as_given(c).has_value();
}
template <class Op>
bool has_key_extents(const Call<Op>& c) {
  return key_as_given(c).has_value();
}

}  // namespace assay::spec::detail
