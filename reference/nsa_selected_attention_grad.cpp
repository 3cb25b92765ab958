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
  return {
      .query = packed(inputs.query, query_extents(p)),
      .key = packed(inputs.key, key_extents(p)),
      .value = packed(inputs.value, value_extents(p)),
      .attention_out_grad = packed(inputs.attention_out_grad, attention_out_extents(p)),
      .softmax_max = first_replica<Real>(p, inputs.softmax_max),
      .softmax_sum = first_replica<Real>(p, inputs.softmax_sum),
      .attention_out = packed(inputs.attention_out, attention_out_extents(p)),
      .topk_indices = dense<std::int64_t>(inputs.topk_indices, spec::Layout::tnd, topk_extents(p))};
}

template <class Real, class Stored>
NsaSelectedAttentionGrad<Real, Stored> NsaSelectedAttentionGrad<Real, Stored>::from(
    const Problem& problem, const Inputs& inputs) {
  return {problem, operands_of<Stored>(problem, inputs)};
}

template <class Real, class Stored>
typename NsaSelectedAttentionGrad<Real, Stored>::QuerySide
NsaSelectedAttentionGrad<Real, Stored>::query_side(std::int64_t b, std::int64_t n,
                                                   std::int64_t i) const {
  const SelectedOperands<Stored>& operands = given_.operands;
  const std::int64_t index = given_.queries.row(b, n, i), dim_v = given_.problem.head_dim_v;
  const auto gradient = row<Real>(operands.attention_out_grad, index, dim_v);
  const auto out = row<Real>(operands.attention_out, index, dim_v);
  return {.query = row<Real>(operands.query, index, given_.problem.head_dim),
          .attention_out_grad = gradient,
          .softmax_max = Real(operands.softmax_max[static_cast<std::size_t>(index)]),
          .softmax_sum = Real(operands.softmax_sum[static_cast<std::size_t>(index)]),
          .row_term = dot(gradient, out)};
}

template <class Real, class Stored>
typename NsaSelectedAttentionGrad<Real, Stored>::KeySide
NsaSelectedAttentionGrad<Real, Stored>::key_side(std::int64_t b, std::int64_t kv,
                                                 std::int64_t j) const {
  const std::int64_t index = given_.keys.row(b, kv, j);
  return {.key = row<Real>(given_.operands.key, index, given_.problem.head_dim),
          .value = row<Real>(given_.operands.value, index, given_.problem.head_dim_v)};
}

template <class Real, class Stored>
SelectedPair<Real> NsaSelectedAttentionGrad<Real, Stored>::seen_pair(const QuerySide& query,
                                                                     const KeySide& key) const {
  const Real score = given_.scale * dot(query.query, key.key);
  const Real prob = exp(Real(score - query.softmax_max)) / query.softmax_sum;
  const Real dprob = dot(query.attention_out_grad, key.value);
  return {.score = score, .prob = prob, .dprob = dprob, .dscore = prob * (dprob - query.row_term)};
}

template <class Real, class Stored>
SelectedPair<Real> NsaSelectedAttentionGrad<Real, Stored>::pair(std::int64_t b, std::int64_t n,
                                                                std::int64_t i,
                                                                std::int64_t j) const {
  SelectedPair<Real> result =
      seen_pair(query_side(b, n, i), key_side(b, n / given_.problem.group(), j));
  if (!given_.selection.sees(i, j)) result.prob = result.dscore = Real(0);
  return result;
}

template <class Real, class Stored>
std::vector<Real> NsaSelectedAttentionGrad<Real, Stored>::dq_row(std::int64_t b, std::int64_t n,
                                                                 std::int64_t i) const {
  const std::int64_t kv = n / given_.problem.group();
  const QuerySide query = query_side(b, n, i);
  auto dq = zeros<Real>(given_.problem.head_dim);
  for (std::int64_t k = 0; k < given_.selection.size(); ++k) {
    const std::int64_t j = given_.selection.key(b, kv, i, k);
    if (!given_.selection.sees(i, j)) continue;
    const KeySide key = key_side(b, kv, j);
    add_scaled(dq, Real(given_.scale * seen_pair(query, key).dscore), key.key);
  }
  return dq;
}

template <class Real, class Stored>
SelectedKeyRow<Real> NsaSelectedAttentionGrad<Real, Stored>::dkv_row(std::int64_t b,
                                                                     std::int64_t kv,
                                                                     std::int64_t j) const {
  const KeySide key = key_side(b, kv, j);
  SelectedKeyRow<Real> sum{.dk = zeros<Real>(given_.problem.head_dim),
                           .dv = zeros<Real>(given_.problem.head_dim_v)};
  for (std::int64_t n = kv * given_.problem.group(); n < (kv + 1) * given_.problem.group(); ++n)
    for (std::int64_t i = 0; i < given_.problem.length_q(b); ++i) {
      const std::int64_t times = given_.selection.multiplicity(b, kv, i, j);
      if (times == 0 || !given_.selection.sees(i, j)) continue;
      const QuerySide query = query_side(b, n, i);
      const SelectedPair<Real> pair = seen_pair(query, key);
      for (std::int64_t time = 0; time < times; ++time) {
        add_scaled(sum.dk, Real(given_.scale * pair.dscore), query.query);
        add_scaled(sum.dv, pair.prob, query.attention_out_grad);
      }
    }
  return sum;
}

template SelectedOperands<double> operands_of(const Problem&, const Inputs&);
template SelectedOperands<float> operands_of(const Problem&, const Inputs&);
template SelectedOperands<Quad> operands_of(const Problem&, const Inputs&);
template SelectedOperands<Fifty> operands_of(const Problem&, const Inputs&);
template class NsaSelectedAttentionGrad<double>;
template class NsaSelectedAttentionGrad<DoubleDouble, float>;
template class NsaSelectedAttentionGrad<Quad>;
template class NsaSelectedAttentionGrad<Fifty>;
template class NsaSelectedAttentionGrad<SeventyFive, float>;

}  // namespace assay::reference
