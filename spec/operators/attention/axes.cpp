#include "operators/attention/axes.hpp"

#include <algorithm>

#include "assay/spec/striding.hpp"

namespace assay::spec::detail {
namespace {

bool is_empty_anywhere(const AttentionProblem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    if (p.length_q(b) == 0 || p.length_kv(b) == 0) return true;
  return p.batch == 0;
}

}  // namespace

bool given(const Parameter& parameter) { return parameter.present && !parameter.shape.empty(); }

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

std::int64_t extent(const Parameter& parameter, Layout layout, Axis axis) {
  return parameter.shape[*position_of(layout, axis)];
}

bool has_empty_length(const Extents& extents) {
  if (extents.ends.empty()) return extents.seq == 0;
  for (std::int64_t b = 0; b < extents.batch; ++b)
    if (extents.length(b) == 0) return true;
  return false;
}

bool sums_fit(const Sums& sums, const Parameter& parameter) {
  return sums && !sums->empty() && sums->front() >= 0 && std::ranges::is_sorted(*sums) &&
         sums->back() <= extent(parameter, Layout::tnd, Axis::seq);
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

std::vector<std::int64_t> lengths_of(const Extents& extents) {
  std::vector<std::int64_t> lengths;
  if (extents.ends.empty()) return lengths;
  for (std::int64_t b = 0; b < extents.batch; ++b) lengths.push_back(extents.length(b));
  if (std::ranges::all_of(lengths, [&](std::int64_t n) { return n == extents.seq; })) return {};
  return lengths;
}

void reshape(Parameter& parameter, const Shape& shape) {
  parameter.shape = shape;
  apply_striding(parameter, Striding::contiguous);
}

void make_uniform(AttentionProblem& p) {
  p.lengths_q.clear();
  p.lengths_kv.clear();
  p.seq_q = std::max<std::int64_t>(1, p.seq_q);
  p.seq_kv = std::max<std::int64_t>(1, p.seq_kv);
}

void make_square(AttentionProblem& p) {
  make_uniform(p);
  p.seq_kv = p.seq_q;
}

void make_small(AttentionProblem& p) {
  p.batch = p.heads_q = p.heads_kv = 1;
  p.seq_q = p.seq_kv = 16;
  make_uniform(p);
}

void make_square_fp32(AttentionProblem& p) {
  make_square(p);
  p.dtype = DType::fp32;
}

void leave_no_sequence_empty(AttentionProblem& p) {
  if (!is_empty_anywhere(p)) return;
  p.batch = std::max<std::int64_t>(1, p.batch);
  make_uniform(p);
}

}  // namespace assay::spec::detail
