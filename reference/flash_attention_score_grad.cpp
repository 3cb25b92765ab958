#include "assay/reference/flash_attention_score_grad.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace assay::reference {
namespace {

using Problem = spec::FlashAttentionScoreGrad::Problem;
using Inputs = spec::FlashAttentionScoreGrad::Inputs;

/// Up to here `from` keeps operands in arithmetic of type Real, which saves a conversion per use; 8 to 16 MiB.
constexpr std::int64_t elements_kept_converted = std::int64_t{1} << 18;

template <class Real>
Real dot(const std::vector<Real>& a, const std::vector<Real>& b) {
  Real sum(0);
  for (std::size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

template <class Real>
void add_scaled(std::vector<Real>& sum, const Real& factor, const std::vector<Real>& row) {
  for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += factor * row[d];
}

/// Row `index` of a dense tensor with rows of `dim` elements.
template <class Real, class Element>
std::vector<Real> row(const std::vector<Element>& elements, std::int64_t index, std::int64_t dim) {
  const auto first = elements.begin() + index * dim;
  return std::vector<Real>(first, first + dim);
}

std::int64_t query_index(const Problem& p, std::int64_t b, std::int64_t n, std::int64_t i) {
  return (b * p.heads_q + n) * p.seq_q + i;
}
std::int64_t key_index(const Problem& p, std::int64_t b, std::int64_t kv, std::int64_t j) {
  return (b * p.heads_kv + kv) * p.seq_kv + j;
}

template <class Real>
std::vector<Real> zeros(std::int64_t size) {
  return std::vector<Real>(static_cast<std::size_t>(size), Real(0));
}

template <class Real>
std::vector<Real> dense(const spec::Tensor& tensor, spec::Layout layout,
                        const spec::Extents& extents) {
  const spec::HeadView view(tensor, layout, extents);
  std::vector<Real> elements;
  elements.reserve(static_cast<std::size_t>(spec::element_count(tensor.shape)));
  std::vector<double> values(static_cast<std::size_t>(extents.dim));
  for (std::int64_t b = 0; b < extents.batch; ++b)
    for (std::int64_t n = 0; n < extents.heads; ++n)
      for (std::int64_t s = 0; s < extents.seq; ++s) {
        view.read_row(b, n, s, values);
        for (const double value : values) elements.push_back(static_cast<Real>(value));
      }
  return elements;
}

template <class Real>
std::vector<Real> first_replica(const spec::Tensor& tensor, const Problem& p) {
  const spec::HeadView view(tensor, spec::Layout::bnsd,
                            {p.batch, p.heads_q, p.seq_q, spec::statistics_replicas});
  std::vector<Real> elements;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.seq_q; ++i)
        elements.push_back(static_cast<Real>(view(b, n, i, 0)));
  return elements;
}

}  // namespace

template <class Real>
Operands<Real> operands_of(const Problem& p, const Inputs& inputs) {
  return {.query = dense<Real>(inputs.query, p.input_layout, query_extents(p)),
          .key = dense<Real>(inputs.key, p.input_layout, key_extents(p)),
          .value = dense<Real>(inputs.value, p.input_layout, value_extents(p)),
          .dy = dense<Real>(inputs.dy, p.input_layout, dy_extents(p)),
          .softmax_max = first_replica<Real>(inputs.softmax_max, p),
          .softmax_sum = first_replica<Real>(inputs.softmax_sum, p),
          .attention_in = dense<Real>(inputs.attention_in, p.input_layout, dy_extents(p))};
}

template <class Real>
FlashAttentionScoreGrad<Real>::FlashAttentionScoreGrad(const Problem& problem, Stored operands,
                                                       const spec::Tensor* atten_mask)
    : problem_(problem),
      operands_(std::move(operands)),
      mask_(problem, atten_mask),
      scale_(static_cast<float>(problem.scale_value)) {}

template <class Real>
FlashAttentionScoreGrad<Real>::FlashAttentionScoreGrad(const Problem& problem,
                                                       Operands<Real> operands,
                                                       const spec::Tensor* atten_mask)
    : FlashAttentionScoreGrad(problem, Stored(std::move(operands)), atten_mask) {}

template <class Real>
FlashAttentionScoreGrad<Real> FlashAttentionScoreGrad<Real>::from(const Problem& problem,
                                                                  const Inputs& inputs) {
  const std::int64_t elements =
      spec::element_count(inputs.query.shape) + spec::element_count(inputs.key.shape);
  const spec::Tensor* atten_mask = inputs.atten_mask ? &*inputs.atten_mask : nullptr;
  if (elements <= elements_kept_converted)
    return {problem, Stored(operands_of<Real>(problem, inputs)), atten_mask};
  return {problem, Stored(operands_of<float>(problem, inputs)), atten_mask};
}

template <class Real>
typename FlashAttentionScoreGrad<Real>::QuerySide FlashAttentionScoreGrad<Real>::query_side(
    std::int64_t b, std::int64_t n, std::int64_t i) const {
  const std::int64_t index = query_index(problem_, b, n, i);
  return std::visit(
      [&](const auto& stored) -> QuerySide {
        const auto dy = row<Real>(stored.dy, index, problem_.head_dim_v);
        const auto attention_in = row<Real>(stored.attention_in, index, problem_.head_dim_v);
        return {.query = row<Real>(stored.query, index, problem_.head_dim),
                .dy = dy,
                .softmax_max = Real(stored.softmax_max[static_cast<std::size_t>(index)]),
                .softmax_sum = Real(stored.softmax_sum[static_cast<std::size_t>(index)]),
                .row_term = dot(dy, attention_in)};
      },
      operands_);
}

template <class Real>
typename FlashAttentionScoreGrad<Real>::KeySide FlashAttentionScoreGrad<Real>::key_side(
    std::int64_t b, std::int64_t kv, std::int64_t j) const {
  const std::int64_t index = key_index(problem_, b, kv, j);
  return std::visit(
      [&](const auto& stored) -> KeySide {
        return {.key = row<Real>(stored.key, index, problem_.head_dim),
                .value = row<Real>(stored.value, index, problem_.head_dim_v)};
      },
      operands_);
}

template <class Real>
Pair<Real> FlashAttentionScoreGrad<Real>::kept_pair(const QuerySide& query,
                                                    const KeySide& key) const {
  const Real score = scale_ * dot(query.query, key.key);
  const Real prob = exp(Real(score - query.softmax_max)) / query.softmax_sum;
  const Real dprob = dot(query.dy, key.value);
  return {.score = score,
          .prob = prob,
          .dprob = dprob,
          .dscore = prob * (dprob - query.row_term)};
}

template <class Real>
Pair<Real> FlashAttentionScoreGrad<Real>::pair(std::int64_t b, std::int64_t n, std::int64_t i,
                                               std::int64_t j) const {
  Pair<Real> result = kept_pair(query_side(b, n, i), key_side(b, n / problem_.group(), j));
  if (!mask_.keeps(b, n, i, j)) result.prob = result.dscore = Real(0);
  return result;
}

template <class Real>
std::vector<Real> FlashAttentionScoreGrad<Real>::dq_row(std::int64_t b, std::int64_t n,
                                                        std::int64_t i) const {
  const QuerySide query = query_side(b, n, i);
  auto dq = zeros<Real>(problem_.head_dim);
  for (std::int64_t j = 0; j < problem_.seq_kv; ++j) {
    if (!mask_.keeps(b, n, i, j)) continue;
    const KeySide key = key_side(b, n / problem_.group(), j);
    add_scaled(dq, Real(scale_ * kept_pair(query, key).dscore), key.key);
  }
  return dq;
}

template <class Real>
KeyRow<Real> FlashAttentionScoreGrad<Real>::dkv_row(std::int64_t b, std::int64_t kv,
                                                    std::int64_t j) const {
  const KeySide key = key_side(b, kv, j);
  KeyRow<Real> row{.dk = zeros<Real>(problem_.head_dim), .dv = zeros<Real>(problem_.head_dim_v)};
  for (std::int64_t n = kv * problem_.group(); n < (kv + 1) * problem_.group(); ++n)
    for (std::int64_t i = 0; i < problem_.seq_q; ++i) {
      if (!mask_.keeps(b, n, i, j)) continue;
      const QuerySide query = query_side(b, n, i);
      const Pair<Real> pair = kept_pair(query, key);
      add_scaled(row.dk, Real(scale_ * pair.dscore), query.query);
      add_scaled(row.dv, pair.prob, query.dy);
    }
  return row;
}

namespace {

template <class Real>
struct SoftmaxRow {
  Real max, sum;
  std::vector<Real> prob;  ///< of every key; excluded keys have 0
};

template <class Real>
SoftmaxRow<Real> softmax(const std::vector<Real>& score, std::span<const std::uint8_t> keep) {
  constexpr float dead = std::numeric_limits<float>::max();
  SoftmaxRow<Real> row{.max = Real(-dead), .sum = Real(dead), .prob = zeros<Real>(
                           static_cast<std::int64_t>(score.size()))};
  const auto first = std::find(keep.begin(), keep.end(), 1) - keep.begin();
  if (first == static_cast<std::ptrdiff_t>(keep.size())) return row;
  row.max = score[static_cast<std::size_t>(first)];
  for (std::size_t j = 0; j < score.size(); ++j)
    if (keep[j] != 0 && score[j] > row.max) row.max = score[j];
  row.sum = Real(0);
  for (std::size_t j = 0; j < score.size(); ++j) {
    if (keep[j] == 0) continue;
    row.prob[j] = exp(Real(score[j] - row.max));
    row.sum += row.prob[j];
  }
  for (Real& prob : row.prob) prob /= row.sum;
  return row;
}

}  // namespace

template <class Real>
Forward<Real> forward(const Problem& p, const Operands<Real>& operands,
                      const spec::Tensor* atten_mask) {
  const Mask mask(p, atten_mask);
  const Real scale(static_cast<float>(p.scale_value));
  Forward<Real> result;
  std::vector<std::uint8_t> keep(static_cast<std::size_t>(p.seq_kv));
  auto score = zeros<Real>(p.seq_kv);
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.seq_q; ++i) {
        const auto query = row<Real>(operands.query, query_index(p, b, n, i), p.head_dim);
        const std::int64_t first_key = key_index(p, b, n / p.group(), 0);
        for (std::int64_t j = 0; j < p.seq_kv; ++j)
          score[static_cast<std::size_t>(j)] =
              scale * dot(query, row<Real>(operands.key, first_key + j, p.head_dim));
        mask.read_row(b, n, i, keep);
        const SoftmaxRow<Real> softmax_row = softmax<Real>(score, keep);
        result.softmax_max.push_back(softmax_row.max);
        result.softmax_sum.push_back(softmax_row.sum);
        auto out = zeros<Real>(p.head_dim_v);
        for (std::int64_t j = 0; j < p.seq_kv; ++j)
          if (keep[static_cast<std::size_t>(j)] != 0)
            add_scaled(out, softmax_row.prob[static_cast<std::size_t>(j)],
                       row<Real>(operands.value, first_key + j, p.head_dim_v));
        result.attention_out.insert(result.attention_out.end(), out.begin(), out.end());
      }
  return result;
}

template Operands<float> operands_of(const Problem&, const Inputs&);
template Operands<double> operands_of(const Problem&, const Inputs&);
template Operands<Quad> operands_of(const Problem&, const Inputs&);
template Operands<Fifty> operands_of(const Problem&, const Inputs&);
template class FlashAttentionScoreGrad<double>;
template class FlashAttentionScoreGrad<Quad>;
template class FlashAttentionScoreGrad<Fifty>;
template Forward<double> forward(const Problem&, const Operands<double>&, const spec::Tensor*);
template Forward<Quad> forward(const Problem&, const Operands<Quad>&, const spec::Tensor*);
template Forward<Fifty> forward(const Problem&, const Operands<Fifty>&, const spec::Tensor*);

}  // namespace assay::reference
