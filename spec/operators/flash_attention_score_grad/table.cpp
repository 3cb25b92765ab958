#include "operators/flash_attention_score_grad/table.hpp"

#include <algorithm>
#include <limits>

namespace assay::spec::detail {
namespace {

using P = FlashParameters;
using Sums = std::optional<std::vector<std::int64_t>>;

constexpr FlashMember plain_tensors[] = {&P::query,        &P::key, &P::value, &P::dy,
                                         &P::attention_in, &P::dq,  &P::dk,    &P::dv};
constexpr FlashMember tensors_with_rope[] = {
    &P::query,        &P::query_rope, &P::key,     &P::key_rope, &P::value,   &P::dy,
    &P::attention_in, &P::dq,         &P::dq_rope, &P::dk,       &P::dk_rope, &P::dv};

std::int64_t extent(const Parameter& parameter, Layout layout, Axis axis) {
  return parameter.shape[*position_of(layout, axis)];
}

/// Returns whether the sums of lengths never decrease and do not exceed the tokens of `parameter`.
bool sums_fit(const Sums& sums, const Parameter& parameter) {
  return sums && !sums->empty() && sums->front() >= 0 && std::ranges::is_sorted(*sums) &&
         sums->back() <= extent(parameter, Layout::tnd, Axis::seq);
}

bool lengths_fit(const FlashCall& call) {
  const P& p = call.parameters;
  return sums_fit(p.actual_seq_qlen, p.query) && sums_fit(p.actual_seq_kvlen, p.key) &&
         p.actual_seq_qlen->size() == p.actual_seq_kvlen->size();
}

Extents packed_extents(const Parameter& parameter, const Sums& sums) {
  Extents extents{.batch = static_cast<std::int64_t>(sums->size()),
                  .heads = extent(parameter, Layout::tnd, Axis::heads),
                  .seq = 0,
                  .dim = parameter.shape.back(),
                  .ends = *sums};
  for (std::int64_t b = 0; b < extents.batch; ++b)
    extents.seq = std::max(extents.seq, extents.length(b));
  return extents;
}

/// Extents of a padded tensor. If the layout merges heads and channels, the last axis must contain
/// `heads` heads.
std::optional<Extents> padded_extents(const Parameter& parameter, Layout layout,
                                      std::int64_t heads) {
  Extents extents{.batch = extent(parameter, layout, Axis::batch),
                  .heads = heads,
                  .seq = extent(parameter, layout, Axis::seq),
                  .dim = parameter.shape.back()};
  if (!merges_heads(layout)) {
    extents.heads = extent(parameter, layout, Axis::heads);
    return extents;
  }
  if (heads <= 0 || extents.dim % heads != 0) return std::nullopt;
  extents.dim /= heads;
  return extents;
}

/// The lengths of the sequences as a problem stores them: empty if all are equal.
std::vector<std::int64_t> lengths_of(const Extents& extents) {
  std::vector<std::int64_t> lengths;
  if (extents.ends.empty()) return lengths;
  for (std::int64_t b = 0; b < extents.batch; ++b) lengths.push_back(extents.length(b));
  if (std::ranges::all_of(lengths, [&](std::int64_t n) { return n == extents.seq; })) return {};
  return lengths;
}

std::optional<DropMask> drop_form_of(const FlashCall& call, FlashProblem problem) {
  if (!given(call.parameters.drop_mask)) return DropMask::absent;
  for (const DropMask form : {DropMask::exact, DropMask::granules}) {
    problem.drop_mask = form;
    if (element_count(call.parameters.drop_mask.shape) == element_count(drop_mask_shape(problem)))
      return form;
  }
  return std::nullopt;
}

/// The fields of the problem that the tensors in inputLayout and the attributes define; nothing if
/// the call does not define them.
std::optional<FlashProblem> bare_problem_of(const FlashCall& call) {
  const auto query = query_as_given(call);
  const auto key = key_as_given(call);
  const auto value = value_as_given(call);
  if (!query || !key || !value) return std::nullopt;
  const auto& a = call.attributes;
  FlashProblem problem{.input_layout = *layout_of(call),
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
  if (has_rope(call.entry_point)) problem.head_dim_rope = call.parameters.query_rope.shape.back();
  return problem;
}

}  // namespace

std::span<const FlashMember> laid_out_tensors(FlashEntryPoint entry_point) {
  if (has_rope(entry_point)) return tensors_with_rope;
  return plain_tensors;
}

bool given(const Parameter& parameter) { return parameter.present && !parameter.shape.empty(); }

std::optional<Layout> layout_of(const FlashCall& call) {
  const auto& text = call.attributes.input_layout;
  const auto layout = text ? spellings_of<Layout>.parse(*text) : std::nullopt;
  if (!layout || is_packed(*layout) != is_unpadding(call.entry_point)) return std::nullopt;
  return layout;
}

bool merges_heads(Layout layout) { return layout == Layout::bsh || layout == Layout::sbh; }

std::size_t rank_of(Layout layout) {
  return layout == Layout::bsnd || layout == Layout::bnsd ? 4 : 3;
}

std::optional<std::size_t> position_of(Layout layout, Axis axis) {
  using Positions = std::optional<std::size_t>[4];  // of batch, heads, seq, dim
  static constexpr Positions bsh = {0, 2, 1, 2}, sbh = {1, 2, 0, 2}, bsnd = {0, 2, 1, 3},
                             bnsd = {0, 1, 2, 3}, tnd = {std::nullopt, 1, 0, 2};
  const auto k = static_cast<std::size_t>(axis);
  switch (layout) {
    case Layout::bsh:
      return bsh[k];
    case Layout::sbh:
      return sbh[k];
    case Layout::bsnd:
      return bsnd[k];
    case Layout::bnsd:
      return bnsd[k];
    case Layout::tnd:
      return tnd[k];
  }
  return std::nullopt;
}

bool ranks_fit(const FlashCall& call) {
  const auto layout = layout_of(call);
  if (!layout) return false;
  return std::ranges::all_of(laid_out_tensors(call.entry_point), [&](FlashMember member) {
    const Parameter& parameter = call.parameters.*member;
    return parameter.present && parameter.shape.size() == rank_of(*layout);
  });
}

std::optional<Extents> query_as_given(const FlashCall& call) {
  if (!ranks_fit(call)) return std::nullopt;
  const P& p = call.parameters;
  if (is_padded(call)) return padded_extents(p.query, *layout_of(call), call.attributes.head_num);
  if (!lengths_fit(call)) return std::nullopt;
  return packed_extents(p.query, p.actual_seq_qlen);
}

std::optional<Extents> key_as_given(const FlashCall& call) {
  const auto query = query_as_given(call);
  if (!query) return std::nullopt;
  const P& p = call.parameters;
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

std::optional<Extents> value_as_given(const FlashCall& call) {
  const auto key = key_as_given(call);
  if (!key) return std::nullopt;
  const P& p = call.parameters;
  if (is_packed(call)) return packed_extents(p.value, p.actual_seq_kvlen);
  return padded_extents(p.value, *layout_of(call), key->heads);
}

Shape with_head_size(const FlashCall& call, Shape shape, std::int64_t heads, std::int64_t dim) {
  shape.back() = merges_heads(*layout_of(call)) ? heads * dim : dim;
  return shape;
}

bool has_empty_length(const Extents& extents) {
  if (extents.ends.empty()) return extents.seq == 0;
  for (std::int64_t b = 0; b < extents.batch; ++b)
    if (extents.length(b) == 0) return true;
  return false;
}

std::int64_t pse_type_of(const FlashCall& call) {
  return has_pse_type(call.entry_point) ? call.attributes.pse_type : 1;
}

bool masked_in_mode(const FlashCall& call, std::int64_t mode) {
  return given(call.parameters.atten_mask) && call.attributes.sparse_mode == mode;
}

std::optional<std::int64_t> drop_mask_bytes(const FlashCall& call) {
  const auto query = query_as_given(call);
  const auto key = key_as_given(call);
  if (!query || !key) return std::nullopt;
  std::int64_t bits = 0;
  for (std::int64_t b = 0; b < query->batch; ++b) {
    std::int64_t scores = query->heads;
    if (__builtin_mul_overflow(scores, query->length(b), &scores) ||
        __builtin_mul_overflow(scores, key->length(b), &scores) ||
        __builtin_add_overflow(bits, scores, &bits))
      return std::numeric_limits<std::int64_t>::max();
  }
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

std::optional<PseShape> pse_form_of(const FlashCall& call) {
  auto problem = bare_problem_of(call);
  if (!problem) return std::nullopt;
  std::vector<PseShape> forms = {PseShape::bnss, PseShape::one_nss, PseShape::bn1s};
  if (is_packed(call)) forms.insert(forms.end(), {PseShape::packed_bnss, PseShape::packed_bn1s});
  // With fewer queries than the compressed form has rows, the columns of that form would be outside
  // the tensor.
  if (is_packed(call) || problem->seq_q >= compressed_pse_rows)
    forms.insert(forms.end(), {PseShape::bnhs, PseShape::one_nhs});
  if (pse_type_of(call) >= 2) forms = {PseShape::slopes_n, PseShape::slopes_bn};
  for (const PseShape form : forms) {
    problem->pse_shift = form;
    if (pse_shape(*problem) == call.parameters.pse_shift.shape) return form;
  }
  return std::nullopt;
}

std::optional<MaskShape> mask_form_of(const FlashCall& call) {
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

std::optional<FlashProblem> problem_of(const FlashCall& call) {
  auto problem = bare_problem_of(call);
  if (!problem) return std::nullopt;
  const P& p = call.parameters;
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
  if (call.attributes.softmax_in_layout == "same_as_input")
    problem->softmax_in_layout = SoftmaxInLayout::same_as_input;
  problem->statistics_order = upstream_order(problem->softmax_in_layout);
  return problem;
}

}  // namespace assay::spec::detail
