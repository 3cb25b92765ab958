#include "assay/reference/forward.hpp"

#include <cstdint>

#include "assay/reference/dropout.hpp"
#include "assay/reference/mask.hpp"
#include "assay/reference/position_bias.hpp"
#include "rows.hpp"
#include "softmax_row.hpp"

namespace assay::reference {
namespace {

using Problem = spec::FlashAttentionScoreGrad::Problem;

template <class Real>
class Definition {
 public:
  Definition(const Problem& problem, const Operands<Real>& operands, const SideInputs& side)
      : p_(problem),
        operands_(operands),
        mask_(problem, side.atten_mask),
        position_bias_(problem, side.pse_shift),
        dropout_(problem, side.drop_mask),
        queries_(query_extents(problem)),
        keys_(key_extents(problem)),
        scale_(static_cast<float>(problem.scale_value)) {}

  void append_row(std::int64_t b, std::int64_t n, std::int64_t i, Forward<Real>& result) const {
    const std::vector<std::int64_t> kept = kept_keys(b, n, i);
    const auto query = joined_row<Real>(operands_.query, p_.head_dim, operands_.query_rope,
                                        p_.head_dim_rope, queries_.row(b, n, i));
    const std::int64_t first_key = keys_.row(b, n / p_.group(), 0);
    std::vector<Real> score;
    for (const std::int64_t j : kept) {
      const auto key = joined_row<Real>(operands_.key, p_.head_dim, operands_.key_rope,
                                        p_.head_dim_rope, first_key + j);
      score.push_back(score_of<Real>(dot(query, key),
                                     position_bias_.template value_as<Real>(b, n, i, j), scale_,
                                     p_.pse_type));
    }
    const SoftmaxRow<Real> softmax_row = softmax(score);
    auto out = zeros<Real>(p_.head_dim_v);
    for (std::size_t k = 0; k < kept.size(); ++k)
      if (dropout_.keeps(b, n, i, kept[k]))
        add_scaled(out, Real(softmax_row.prob[k] / Real(dropout_.keep_prob())),
                   row<Real>(operands_.value, first_key + kept[k], p_.head_dim_v));
    result.softmax_max.push_back(softmax_row.max);
    result.softmax_sum.push_back(softmax_row.sum);
    result.attention_out.insert(result.attention_out.end(), out.begin(), out.end());
  }

 private:
  std::vector<std::int64_t> kept_keys(std::int64_t b, std::int64_t n, std::int64_t i) const {
    const KeyRange range = mask_.kept_range(b, i);
    std::vector<std::int64_t> kept;
    for (std::int64_t j = range.first; j < range.last; ++j)
      if (mask_.keeps(b, n, i, j)) kept.push_back(j);
    return kept;
  }

  const Problem& p_;
  const Operands<Real>& operands_;
  Mask mask_;
  PositionBias position_bias_;
  Dropout dropout_;
  spec::Extents queries_, keys_;
  Real scale_;
};

}  // namespace

template <class Real>
Forward<Real> forward(const Problem& p, const Operands<Real>& operands, const SideInputs& side) {
  const Definition<Real> definition(p, operands, side);
  Forward<Real> result;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) definition.append_row(b, n, i, result);
  return result;
}

template Forward<double> forward(const Problem&, const Operands<double>&, const SideInputs&);
template Forward<Quad> forward(const Problem&, const Operands<Quad>&, const SideInputs&);
template Forward<Fifty> forward(const Problem&, const Operands<Fifty>&, const SideInputs&);

}  // namespace assay::reference
