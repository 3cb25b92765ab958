#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "rows.hpp"
#include "softmax_row.hpp"

namespace assay::reference {
namespace {

using Problem = spec::NsaSelectedAttentionGrad::Problem;

template <class Real>
class SelectedDefinition {
 public:
  SelectedDefinition(const Problem& problem, const SelectedOperands<Real>& operands)
      : p_(problem),
        operands_(operands),
        selection_(problem, operands.topk_indices),
        queries_(query_extents(problem)),
        keys_(key_extents(problem)),
        scale_(static_cast<float>(problem.scale_value)) {}

  void append_row(std::int64_t b, std::int64_t n, std::int64_t i,
                  SelectedForward<Real>& result) const {
    const std::vector<std::int64_t> seen = seen_keys(b, n / p_.group(), i);
    const std::int64_t first_key = keys_.row(b, n / p_.group(), 0);
    const auto query = row<Real>(operands_.query, queries_.row(b, n, i), p_.head_dim);
    std::vector<Real> score;
    for (const std::int64_t j : seen)
      score.push_back(scale_ * dot(query, row<Real>(operands_.key, first_key + j, p_.head_dim)));
    const SoftmaxRow<Real> softmax_row = softmax(score);
    auto out = zeros<Real>(p_.head_dim_v);
    for (std::size_t k = 0; k < seen.size(); ++k)
      add_scaled(out, softmax_row.prob[k],
                 row<Real>(operands_.value, first_key + seen[k], p_.head_dim_v));
    result.softmax_max.push_back(softmax_row.max);
    result.softmax_sum.push_back(softmax_row.sum);
    result.attention_out.insert(result.attention_out.end(), out.begin(), out.end());
  }

 private:
  /// As often as they are listed.
  std::vector<std::int64_t> seen_keys(std::int64_t b, std::int64_t kv, std::int64_t i) const {
    std::vector<std::int64_t> seen;
    for (std::int64_t k = 0; k < selection_.size(); ++k) {
      const std::int64_t j = selection_.key(b, kv, i, k);
      if (selection_.sees(i, j)) seen.push_back(j);
    }
    return seen;
  }

  const Problem& p_;
  const SelectedOperands<Real>& operands_;
  Selection selection_;
  spec::Extents queries_, keys_;
  Real scale_;
};

}  // namespace

template <class Real>
SelectedForward<Real> forward(const Problem& p, const SelectedOperands<Real>& operands) {
  const SelectedDefinition<Real> definition(p, operands);
  SelectedForward<Real> result;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) definition.append_row(b, n, i, result);
  return result;
}

template SelectedForward<double> forward(const Problem&, const SelectedOperands<double>&);
template SelectedForward<Quad> forward(const Problem&, const SelectedOperands<Quad>&);
template SelectedForward<Fifty> forward(const Problem&, const SelectedOperands<Fifty>&);

}  // namespace assay::reference
