#include "assay/reference/nsa_selected_attention.hpp"

#include <type_traits>
#include <utility>

#include "rows.hpp"
#include "softmax_row.hpp"

namespace assay::reference {

using Problem = spec::SelectionProblem;

template <class Real, class Stored>
SelectedGiven<Real, Stored>::SelectedGiven(const Problem& of, SelectedOperands<Stored> rows)
    : problem(of),
      operands(std::move(rows)),
      selection(problem, operands.topk_indices),
      queries(query_extents(problem)),
      keys(key_extents(problem)),
      scale(static_cast<float>(problem.scale_value)) {}

template <class Real, class Stored>
std::vector<std::int64_t> NsaSelectedAttention<Real, Stored>::seen_keys(std::int64_t b,
                                                                        std::int64_t kv,
                                                                        std::int64_t i) const {
  std::vector<std::int64_t> seen;
  for (std::int64_t k = 0; k < given_.selection.size(); ++k) {
    const std::int64_t j = given_.selection.key(b, kv, i, k);
    if (given_.selection.sees(i, j)) seen.push_back(j);
  }
  return seen;
}

/// Returns a row in arithmetic of type Real. If the row is stored in this type, the result is a
/// view and not a copy.
template <class Real, class Stored>
auto real_row(const std::vector<Stored>& elements, std::int64_t index, std::int64_t dim) {
  if constexpr (std::is_same_v<Real, Stored>)
    return row_of(elements, index, dim);
  else
    return row<Real>(elements, index, dim);
}

template <class Real, class Stored>
void NsaSelectedAttention<Real, Stored>::append_row(std::int64_t b, std::int64_t n, std::int64_t i,
                                                    SelectedForward<Real>& rows) const {
  const auto& [problem, operands, selection, queries, keys, scale] = given_;
  const std::int64_t kv = n / problem.group(), first_key = keys.row(b, kv, 0);
  const std::vector<std::int64_t> seen = seen_keys(b, kv, i);
  const auto query = real_row<Real>(operands.query, queries.row(b, n, i), problem.head_dim);
  std::vector<Real> score;
  for (const std::int64_t j : seen)
    score.push_back(scale *
                    dot(query, real_row<Real>(operands.key, first_key + j, problem.head_dim)));
  const SoftmaxRow<Real> softmax_row = softmax(score);
  auto out = zeros<Real>(problem.head_dim_v);
  for (std::size_t k = 0; k < seen.size(); ++k)
    add_scaled(out, softmax_row.prob[k],
               real_row<Real>(operands.value, first_key + seen[k], problem.head_dim_v));
  rows.softmax_max.push_back(softmax_row.max);
  rows.softmax_sum.push_back(softmax_row.sum);
  rows.attention_out.insert(rows.attention_out.end(), out.begin(), out.end());
}

template <class Real>
SelectedForward<Real> forward(const Problem& p, const SelectedOperands<Real>& operands) {
  const NsaSelectedAttention<Real> attention(p, operands);
  SelectedForward<Real> result;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) attention.append_row(b, n, i, result);
  return result;
}

template struct SelectedGiven<double>;
template struct SelectedGiven<DoubleDouble, float>;
template struct SelectedGiven<Quad>;
template struct SelectedGiven<Fifty>;
template struct SelectedGiven<SeventyFive, float>;
template class NsaSelectedAttention<double>;
template class NsaSelectedAttention<Quad>;
template class NsaSelectedAttention<Fifty>;
template class NsaSelectedAttention<DoubleDouble, float>;
template class NsaSelectedAttention<SeventyFive, float>;
template SelectedForward<double> forward(const Problem&, const SelectedOperands<double>&);
template SelectedForward<Quad> forward(const Problem&, const SelectedOperands<Quad>&);
template SelectedForward<Fifty> forward(const Problem&, const SelectedOperands<Fifty>&);

}  // namespace assay::reference
