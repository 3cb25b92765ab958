#include "flash_attention_score_grad_rows.hpp"

#include <algorithm>
#include <limits>

namespace assay::spec::detail {
namespace {

std::size_t batch_axis(Layout layout) { return layout == Layout::sbh ? 1 : 0; }

std::size_t seq_axis(Layout layout) {
  switch (layout) {
    case Layout::sbh:
      return 0;
    case Layout::bnsd:
      return 2;
    default:
      return 1;
  }
}

std::size_t head_axis(Layout layout) { return layout == Layout::bnsd ? 1 : 2; }

/// Extents of a tensor whose last axis holds `heads` heads where the layout merges them.
std::optional<Extents> extents_of(const Parameter& parameter, Layout layout, std::int64_t heads) {
  Extents extents{.batch = batch_of(parameter, layout),
                  .heads = heads,
                  .seq = seq_of(parameter, layout),
                  .dim = parameter.shape.back()};
  if (!merges_heads(layout)) {
    extents.heads = parameter.shape[head_axis(layout)];
    return extents;
  }
  if (heads <= 0 || extents.dim % heads != 0) return std::nullopt;
  extents.dim /= heads;
  return extents;
}

std::optional<MaskShape> mask_shape_of(const FlashCall& call, const Extents& query) {
  const Parameter& mask = call.parameters.atten_mask;
  if (!given(mask)) return MaskShape::absent;
  if (call.attributes.sparse_mode > 1) return MaskShape::compressed;
  if (mask.shape.size() == 2) return MaskShape::ss;
  if (mask.shape.size() != 4) return std::nullopt;
  if (mask.shape[1] != 1) return MaskShape::bnss;
  return mask.shape[0] == query.batch && query.batch != 1 ? MaskShape::b_one_ss
                                                          : MaskShape::one_one_ss;
}

Extents extents_of(const FlashProblem& problem, FlashMember member) {
  using P = FlashParameters;
  if (member == &P::query || member == &P::dq) return query_extents(problem);
  if (member == &P::key || member == &P::dk) return key_extents(problem);
  if (member == &P::value || member == &P::dv) return value_extents(problem);
  return dy_extents(problem);
}

void attach(Parameter& parameter, DType dtype, const Shape& shape) {
  parameter = {.present = true, .dtype = dtype};
  reshape(parameter, shape);
}

}  // namespace

bool given(const Parameter& parameter) { return parameter.present && !parameter.shape.empty(); }

std::optional<Layout> layout_of(const FlashCall& call) {
  const auto& text = call.attributes.input_layout;
  return text ? spellings_of<Layout>.parse(*text) : std::nullopt;
}

bool merges_heads(Layout layout) { return layout == Layout::bsh || layout == Layout::sbh; }

bool ranks_fit(const FlashCall& call) {
  const auto layout = layout_of(call);
  if (!layout) return false;
  const std::size_t rank = merges_heads(*layout) ? 3 : 4;
  return std::ranges::all_of(laid_out_tensors, [&](FlashMember member) {
    const Parameter& parameter = call.parameters.*member;
    return parameter.present && parameter.shape.size() == rank;
  });
}

std::int64_t batch_of(const Parameter& parameter, Layout layout) {
  return parameter.shape[batch_axis(layout)];
}

std::int64_t seq_of(const Parameter& parameter, Layout layout) {
  return parameter.shape[seq_axis(layout)];
}

std::optional<Extents> query_as_given(const FlashCall& call) {
  if (!ranks_fit(call)) return std::nullopt;
  return extents_of(call.parameters.query, *layout_of(call), call.attributes.head_num);
}

std::optional<Extents> key_as_given(const FlashCall& call) {
  const auto query = query_as_given(call);
  if (!query) return std::nullopt;
  const Parameter& key = call.parameters.key;
  if (!merges_heads(*layout_of(call))) return extents_of(key, *layout_of(call), 0);
  if (query->dim == 0 || key.shape.back() % query->dim != 0) return std::nullopt;
  return extents_of(key, *layout_of(call), key.shape.back() / query->dim);
}

std::optional<Extents> value_as_given(const FlashCall& call) {
  const auto key = key_as_given(call);
  if (!key) return std::nullopt;
  return extents_of(call.parameters.value, *layout_of(call), key->heads);
}

std::int64_t pse_type_of(const FlashCall& call) {
  return call.surface == FlashSurface::g1 ? 1 : call.attributes.pse_type;
}

bool masked_in_mode(const FlashCall& call, std::int64_t mode) {
  return given(call.parameters.atten_mask) && call.attributes.sparse_mode == mode;
}

std::optional<std::int64_t> drop_mask_bytes(const FlashCall& call) {
  const auto query = query_as_given(call);
  const auto key = key_as_given(call);
  if (!key) return std::nullopt;
  std::int64_t bits = 1;
  for (const std::int64_t extent : {query->batch, query->heads, query->seq, key->seq})
    if (__builtin_mul_overflow(bits, extent, &bits))
      return std::numeric_limits<std::int64_t>::max();
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

std::optional<FlashProblem> problem_of(const FlashCall& call) {
  const auto query = query_as_given(call);
  const auto key = key_as_given(call);
  const auto value = value_as_given(call);
  if (!value) return std::nullopt;
  const auto mask = mask_shape_of(call, *query);
  if (!mask) return std::nullopt;
  FlashProblem problem{.input_layout = *layout_of(call),
                       .dtype = call.parameters.query.dtype,
                       .batch = query->batch,
                       .heads_q = query->heads,
                       .heads_kv = key->heads,
                       .seq_q = query->seq,
                       .seq_kv = key->seq,
                       .head_dim = query->dim,
                       .head_dim_v = value->dim,
                       .scale_value = call.attributes.scale_value,
                       .keep_prob = call.attributes.keep_prob,
                       .sparse_mode = call.attributes.sparse_mode,
                       .pre_tokens = call.attributes.pre_tokens,
                       .next_tokens = call.attributes.next_tokens,
                       .atten_mask = *mask};
  if (*mask != MaskShape::absent) problem.mask_dtype = call.parameters.atten_mask.dtype;
  return problem;
}

void reshape(Parameter& parameter, const Shape& shape) {
  parameter.shape = shape;
  apply_striding(parameter, Striding::contiguous);
}

void rewrite(FlashCall& call, void (*change)(FlashProblem&)) {
  auto problem = problem_of(call);
  if (!problem) return;
  // A window that fits the old lengths need not fit the new ones.
  problem->pre_tokens = problem->next_tokens = unbounded_tokens;
  change(*problem);
  call = call_of(*problem, call.surface, call.product, Striding::contiguous, Striding::contiguous);
}

void resize(FlashCall& call, std::initializer_list<FlashMember> members, void (*change)(Extents&)) {
  const auto problem = problem_of(call);
  if (!problem) return;
  for (const FlashMember member : members) {
    Extents extents = extents_of(*problem, member);
    change(extents);
    reshape(call.parameters.*member, shape_of(problem->input_layout, extents));
  }
}

void attach_mask(FlashCall& call) {
  const auto problem = problem_of(call);
  if (!problem || given(call.parameters.atten_mask)) return;
  const Shape shape = problem->sparse_mode > 1 ? Shape{compressed_mask_edge, compressed_mask_edge}
                                               : Shape{problem->seq_q, problem->seq_kv};
  attach_mask(call, problem->sparse_mode, shape);
}

void attach_mask(FlashCall& call, std::int64_t sparse_mode, const Shape& shape) {
  attach(call.parameters.atten_mask, DType::boolean, shape);
  call.attributes.sparse_mode = sparse_mode;
  call.attributes.pre_tokens = call.attributes.next_tokens = unbounded_tokens;
}

void attach_pse(FlashCall& call) {
  const auto p = problem_of(call);
  if (!p) return;
  attach(call.parameters.pse_shift, p->dtype, {p->batch, p->heads_q, p->seq_q, p->seq_kv});
  call.attributes.pse_type = 1;
}

void attach_slopes(FlashCall& call, std::int64_t pse_type) {
  if (call.surface == FlashSurface::g1) return;
  rewrite(call, [](FlashProblem& problem) { problem.seq_kv = problem.seq_q; });
  const auto problem = problem_of(call);
  if (!problem) return;
  attach(call.parameters.pse_shift, DType::fp32, {problem->heads_q});
  call.attributes.pse_type = pse_type;
}

void attach_drop_mask(FlashCall& call) {
  const auto bytes = drop_mask_bytes(call);
  if (!bytes) return;
  attach(call.parameters.drop_mask, DType::uint8, {*bytes});
  call.attributes.keep_prob = 0.5;
}

void attach_prefix(FlashCall& call) {
  const auto problem = problem_of(call);
  if (!problem) return;
  attach_mask(call, 6, {compressed_mask_edge + 1024, compressed_mask_edge});
  call.parameters.prefix.emplace(static_cast<std::size_t>(problem->batch), problem->seq_kv);
}

}  // namespace assay::spec::detail
