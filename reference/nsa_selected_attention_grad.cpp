#include "assay/reference/nsa_selected_attention_grad.hpp"

#include <utility>

#include "dense.hpp"
#include "rows.hpp"

namespace assay::reference {
namespace {

using Problem = spec::NsaSelectedAttentionGrad::Problem;
using Inputs = spec::NsaSelectedAttentionGrad::Inputs;

template <class Real>
std::vector<Real> first_replica(const Problem& p, const spec::Tensor& statistics) {
  spec::Extents extents = query_extents(p);
  extents.dim = spec::statistics_replicas;
  const auto all = dense<Real>(statistics, spec::Layout::tnd, extents);
  std::vector<Real> first;
  for (std::size_t k = 0; k < all.size(); k += spec::statistics_replicas) first.push_back(all[k]);
  return first;
}

}  // namespace

template <class Real>
SelectedOperands<Real> operands_of(const Problem& p, const Inputs& inputs) {
  const auto packed = [](const spec::Tensor& tensor, const spec::Extents& extents) {
    return dense<Real>(tensor, spec::Layout::tnd, extents);
  };
  return {.query = packed(inputs.query, query_extents(p)),
          .key = packed(inputs.key, key_extents(p)),
          .value = packed(inputs.value, value_extents(p)),
          .attention_out_grad = packed(inputs.attention_out_grad, attention_out_extents(p)),
          .softmax_max = first_replica<Real>(p, inputs.softmax_max),
          .softmax_sum = first_replica<Real>(p, inputs.softmax_sum),
          .attention_out = packed(inputs.attention_out, attention_out_extents(p)),
          .topk_indices =
              dense<std::int64_t>(inputs.topk_indices, spec::Layout::tnd, topk_extents(p))};
}

template <class Real>
NsaSelectedAttentionGrad<Real>::NsaSelectedAttentionGrad(const Problem& problem,
                                                         SelectedOperands<Real> operands)
    : problem_(problem),
      operands_(std::move(operands)),
      selection_(problem, operands_.topk_indices),
      queries_(query_extents(problem)),
      keys_(key_extents(problem)),
      scale_(static_cast<float>(problem.scale_value)) {}

template <class Real>
NsaSelectedAttentionGrad<Real> NsaSelectedAttentionGrad<Real>::from(const Problem& problem,
                                                                    const Inputs& inputs) {
  return {problem, operands_of<Real>(problem, inputs)};
}

template <class Real>
typename NsaSelectedAttentionGrad<Real>::QuerySide NsaSelectedAttentionGrad<Real>::query_side(
    std::int64_t b, std::int64_t n, std::int64_t i) const {
  const std::int64_t index = queries_.row(b, n, i);
  const auto gradient = row_of(operands_.attention_out_grad, index, problem_.head_dim_v);
  const auto out = row_of(operands_.attention_out, index, problem_.head_dim_v);
  return {.query = row_of(operands_.query, index, problem_.head_dim),
          .attention_out_grad = gradient,
          .softmax_max = operands_.softmax_max[static_cast<std::size_t>(index)],
          .softmax_sum = operands_.softmax_sum[static_cast<std::size_t>(index)],
          .row_term = dot(gradient, out)};
}

template <class Real>
typename NsaSelectedAttentionGrad<Real>::KeySide NsaSelectedAttentionGrad<Real>::key_side(
    std::int64_t b, std::int64_t kv, std::int64_t j) const {
  const std::int64_t index = keys_.row(b, kv, j);
  return {.key = row_of(operands_.key, index, problem_.head_dim),
          .value = row_of(operands_.value, index, problem_.head_dim_v)};
}

template <class Real>
SelectedPair<Real> NsaSelectedAttentionGrad<Real>::seen_pair(const QuerySide& query,
                                                             const KeySide& key) const {
  const Real score = scale_ * dot(query.query, key.key);
  const Real prob = exp(Real(score - query.softmax_max)) / query.softmax_sum;
  const Real dprob = dot(query.attention_out_grad, key.value);
  return {.score = score, .prob = prob, .dprob = dprob, .dscore = prob * (dprob - query.row_term)};
}

template <class Real>
SelectedPair<Real> NsaSelectedAttentionGrad<Real>::pair(std::int64_t b, std::int64_t n,
                                                        std::int64_t i, std::int64_t j) const {
  SelectedPair<Real> result =
      seen_pair(query_side(b, n, i), key_side(b, n / problem_.group(), j));
  if (!selection_.sees(i, j)) result.prob = result.dscore = Real(0);
  return result;
}

template <class Real>
std::vector<Real> NsaSelectedAttentionGrad<Real>::dq_row(std::int64_t b, std::int64_t n,
                                                         std::int64_t i) const {
  const std::int64_t kv = n / problem_.group();
  const QuerySide query = query_side(b, n, i);
  auto dq = zeros<Real>(problem_.head_dim);
  for (std::int64_t k = 0; k < selection_.size(); ++k) {
    const std::int64_t j = selection_.key(b, kv, i, k);
    if (!selection_.sees(i, j)) continue;
    const KeySide key = key_side(b, kv, j);
    add_scaled(dq, Real(scale_ * seen_pair(query, key).dscore), key.key);
  }
  return dq;
}

template <class Real>
SelectedKeyRow<Real> NsaSelectedAttentionGrad<Real>::dkv_row(std::int64_t b, std::int64_t kv,
                                                             std::int64_t j) const {
  const KeySide key = key_side(b, kv, j);
  SelectedKeyRow<Real> sum{.dk = zeros<Real>(problem_.head_dim),
                           .dv = zeros<Real>(problem_.head_dim_v)};
  for (std::int64_t n = kv * problem_.group(); n < (kv + 1) * problem_.group(); ++n)
    for (std::int64_t i = 0; i < problem_.length_q(b); ++i) {
      const std::int64_t times = selection_.multiplicity(b, kv, i, j);
      if (times == 0 || !selection_.sees(i, j)) continue;
      const QuerySide query = query_side(b, n, i);
      const SelectedPair<Real> pair = seen_pair(query, key);
      for (std::int64_t time = 0; time < times; ++time) {
        add_scaled(sum.dk, Real(scale_ * pair.dscore), query.query);
        add_scaled(sum.dv, pair.prob, query.attention_out_grad);
      }
    }
  return sum;
}

template SelectedOperands<double> operands_of(const Problem&, const Inputs&);
template SelectedOperands<Quad> operands_of(const Problem&, const Inputs&);
template SelectedOperands<Fifty> operands_of(const Problem&, const Inputs&);
template class NsaSelectedAttentionGrad<double>;
template class NsaSelectedAttentionGrad<Quad>;
template class NsaSelectedAttentionGrad<Fifty>;

}  // namespace assay::reference
