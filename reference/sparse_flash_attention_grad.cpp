#include "assay/reference/sparse_flash_attention_grad.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "dense.hpp"
#include "rows.hpp"

namespace assay::reference {
namespace {

using Op = spec::SparseFlashAttentionGrad;
using Problem = Op::Problem;

constexpr std::int64_t dim = Problem::head_dim;

/// Reads the softmax statistics. They contain one number for each token and head, and are stored
/// token by token in every layout.
template <class Real>
std::vector<Real> statistics(const spec::Tensor& tensor, const spec::Extents& queries) {
  const std::vector<std::int64_t> elements = spec::viewed_elements(tensor);
  if (std::ssize(elements) != queries.rows())
    throw std::invalid_argument("a statistic has " + std::to_string(elements.size()) +
                                " elements; expected: " + std::to_string(queries.rows()));
  std::vector<Real> rows(elements.size());
  for (std::int64_t row = 0; row < queries.rows(); ++row) {
    const auto [b, n, s] = queries.position(row);
    const std::int64_t place = (queries.start(b) + s) * queries.heads + n;
    rows[static_cast<std::size_t>(row)] =
        static_cast<Real>(tensor.load(elements[static_cast<std::size_t>(place)]));
  }
  return rows;
}

template <class Real>
std::vector<Real> optional_rows(const std::optional<spec::Tensor>& tensor, const Problem& p,
                                const spec::Extents& extents) {
  if (extents.dim == 0) return {};
  if (!tensor) throw std::invalid_argument("a rope tensor is missing");
  return dense<Real>(*tensor, p.layout, extents);
}

template <class Real>
Real scale_of(const Problem& p) {
  return Real(static_cast<double>(static_cast<float>(p.scale_value)));
}

/// Returns the number of keys that the query may see. These are the first keys of its sequence.
std::int64_t visible(const Problem& p, std::int64_t b, std::int64_t s) {
  if (p.sparse_mode == 0) return p.length_kv(b);
  return std::max<std::int64_t>(0, p.length_kv(b) - p.length_q(b) + s + 1);
}

}  // namespace

template <class Real>
SparseFlashOperands<Real> operands_of(const Problem& p, const Op::Inputs& inputs) {
  const auto rows = [&](const spec::Tensor& tensor, const spec::Extents& extents) {
    return dense<Real>(tensor, p.layout, extents);
  };
  if (!p.is_merged() && !inputs.value) throw std::invalid_argument("value is missing");
  return {.query = rows(inputs.query, query_extents(p)),
          .key = rows(inputs.key, key_extents(p)),
          .value = rows(p.is_merged() ? inputs.key : *inputs.value, key_extents(p)),
          .d_out = rows(inputs.d_out, query_extents(p)),
          .out = rows(inputs.out, query_extents(p)),
          .query_rope = optional_rows<Real>(inputs.query_rope, p, query_rope_extents(p)),
          .key_rope = optional_rows<Real>(inputs.key_rope, p, key_rope_extents(p)),
          .softmax_max = statistics<Real>(inputs.softmax_max, query_extents(p)),
          .softmax_sum = statistics<Real>(inputs.softmax_sum, query_extents(p)),
          .sparse_indices =
              dense<std::int64_t>(inputs.sparse_indices, p.layout, sparse_indices_extents(p))};
}

template <class Real>
std::vector<std::int64_t> attended_keys(const Problem& p, const SparseFlashOperands<Real>& operands,
                                        std::int64_t b, std::int64_t s) {
  const std::int64_t size = p.sparse_block_size, seen = visible(p, b, s);
  const std::int64_t blocks = (seen + size - 1) / size;
  const std::int64_t first = sparse_indices_extents(p).row(b, 0, s) * p.sparse_block_count;
  std::vector<std::int64_t> keys;
  for (std::int64_t slot = 0; slot < std::min(p.sparse_block_count, blocks); ++slot) {
    const std::int64_t block = operands.sparse_indices[static_cast<std::size_t>(first + slot)];
    if (block < 0) break;
    if (block >= blocks)
      throw std::invalid_argument("sparse_indices: entry " + std::to_string(slot) + " of query " +
                                  std::to_string(s) + " of sequence " + std::to_string(b) + " is " +
                                  std::to_string(block) + "; it sees " + std::to_string(blocks) +
                                  " blocks");
    for (std::int64_t j = block * size; j < std::min((block + 1) * size, seen); ++j)
      keys.push_back(j);
  }
  return keys;
}

template <class Real>
SparseFlashForward<Real> forward_row(const Problem& p, const SparseFlashOperands<Real>& operands,
                                     std::int64_t b, std::int64_t n, std::int64_t s) {
  SparseFlashForward<Real> result{Real(0), Real(0), zeros<Real>(dim)};
  const std::int64_t query = query_extents(p).row(b, n, s);
  const std::vector<std::int64_t> keys = attended_keys(p, operands, b, s);
  std::vector<Real> scores;
  for (const std::int64_t j : keys) {
    const std::int64_t key = key_extents(p).row(b, 0, j);
    Real score = dot(row<Real>(operands.query, query, dim), row<Real>(operands.key, key, dim));
    if (p.head_dim_rope > 0)
      score += dot(row<Real>(operands.query_rope, query, p.head_dim_rope),
                   row<Real>(operands.key_rope, key, p.head_dim_rope));
    scores.push_back(scale_of<Real>(p) * score);
  }
  if (keys.empty()) return result;
  result.softmax_max = *std::ranges::max_element(scores);
  for (Real& score : scores) {
    score = exp(Real(score - result.softmax_max));
    result.softmax_sum += score;
  }
  for (std::size_t k = 0; k < keys.size(); ++k)
    add_scaled(result.out, Real(scores[k] / result.softmax_sum),
               row<Real>(operands.value, key_extents(p).row(b, 0, keys[k]), dim));
  return result;
}

template <class Real, class Stored>
SparseFlashAttentionGrad<Real, Stored>::SparseFlashAttentionGrad(
    const Problem& problem, SparseFlashOperands<Stored> operands)
    : problem_(problem),
      operands_(std::move(operands)),
      queries_(query_extents(problem)),
      keys_(key_extents(problem)),
      scale_(scale_of<Real>(problem)) {
  for (std::int64_t b = 0; b < problem.batch; ++b)
    for (std::int64_t s = 0; s < problem.length_q(b); ++s)
      attended_.push_back(attended_keys(problem_, operands_, b, s));
}

/// Computes P and dS of one query row and one key row.
template <class Real, class Stored>
typename SparseFlashAttentionGrad<Real, Stored>::Pair SparseFlashAttentionGrad<Real, Stored>::pair(
    std::int64_t query, std::int64_t key) const {
  const SparseFlashOperands<Stored>& of = operands_;
  const std::int64_t rope = problem_.head_dim_rope;
  const auto d_out = row<Real>(of.d_out, query, dim);
  const Real score = scale_ * dot(joined_row<Real>(of.query, dim, of.query_rope, rope, query),
                                  joined_row<Real>(of.key, dim, of.key_rope, rope, key));
  const Real maximum(of.softmax_max[static_cast<std::size_t>(query)]),
      sum(of.softmax_sum[static_cast<std::size_t>(query)]);
  const Real prob = exp(Real(score - maximum)) / sum;
  const Real dprob = dot(d_out, row<Real>(of.value, key, dim));
  const Real row_term = dot(d_out, row<Real>(of.out, query, dim));
  return {.prob = prob, .dscore = prob * (dprob - row_term)};
}

template <class Real, class Stored>
SparseFlashQueryRow<Real> SparseFlashAttentionGrad<Real, Stored>::query_row(std::int64_t b,
                                                                            std::int64_t n,
                                                                            std::int64_t s) const {
  auto sum = zeros<Real>(dim + problem_.head_dim_rope);
  for (const std::int64_t j : attended_[static_cast<std::size_t>(queries_.start(b) + s)]) {
    const std::int64_t key = keys_.row(b, 0, j);
    add_scaled(
        sum, Real(scale_ * pair(queries_.row(b, n, s), key).dscore),
        joined_row<Real>(operands_.key, dim, operands_.key_rope, problem_.head_dim_rope, key));
  }
  std::vector<Real> rope = split_rope(sum, dim);
  return {.d_query = std::move(sum), .d_query_rope = std::move(rope)};
}

template <class Real, class Stored>
SparseFlashKeyRow<Real> SparseFlashAttentionGrad<Real, Stored>::key_row(std::int64_t b,
                                                                        std::int64_t j) const {
  auto d_key = zeros<Real>(dim + problem_.head_dim_rope), d_value = zeros<Real>(dim);
  for (std::int64_t s = 0; s < problem_.length_q(b); ++s) {
    const auto& keys = attended_[static_cast<std::size_t>(queries_.start(b) + s)];
    const auto times = std::ranges::count(keys, j);
    for (std::int64_t n = 0; times > 0 && n < problem_.heads_q; ++n) {
      const std::int64_t query = queries_.row(b, n, s);
      const Pair of = pair(query, keys_.row(b, 0, j));
      for (std::int64_t time = 0; time < times; ++time) {
        add_scaled(d_key, Real(scale_ * of.dscore),
                   joined_row<Real>(operands_.query, dim, operands_.query_rope,
                                    problem_.head_dim_rope, query));
        add_scaled(d_value, of.prob, row<Real>(operands_.d_out, query, dim));
      }
    }
  }
  std::vector<Real> rope = split_rope(d_key, dim);
  if (problem_.is_merged()) {
    for (std::size_t d = 0; d < d_key.size(); ++d) d_key[d] += d_value[d];
    d_value.clear();
  }
  return {.d_key = std::move(d_key), .d_key_rope = std::move(rope), .d_value = std::move(d_value)};
}

template SparseFlashOperands<double> operands_of(const Problem&, const Op::Inputs&);
template SparseFlashOperands<float> operands_of(const Problem&, const Op::Inputs&);
template std::vector<std::int64_t> attended_keys(const Problem&, const SparseFlashOperands<double>&,
                                                 std::int64_t, std::int64_t);
template SparseFlashForward<double> forward_row(const Problem&, const SparseFlashOperands<double>&,
                                                std::int64_t, std::int64_t, std::int64_t);
template class SparseFlashAttentionGrad<double>;
template class SparseFlashAttentionGrad<DoubleDouble, float>;
template class SparseFlashAttentionGrad<Quad, double>;
template class SparseFlashAttentionGrad<SeventyFive, float>;

}  // namespace assay::reference
