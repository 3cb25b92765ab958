#include "flash_attention_score_grad_lattice_floor.hpp"

#include <algorithm>
#include <cmath>

namespace assay::conformance::lattice {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// The residue is itself staged and cast: rounding may carry it past the bound of the exact
/// product.
constexpr double cast_slack = 1 + 0x1p-5;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

Floor::Floor(const Op::Problem& p, const Op::Inputs& inputs, const spec::NumericsProfile& numerics)
    : problem_(p), phi_(numerics.floor * cast_slack) {
  if (phi_ == 0) return;
  row_size_.resize(at(p.batch * p.heads_q * p.seq_q));
  key_sum_.resize(at(p.batch * p.heads_kv * p.head_dim));
  value_norm_.resize(at(p.batch * p.heads_kv));
  query_sum_.resize(key_sum_.size());
  dy_sum_.resize(at(p.batch * p.heads_kv * p.head_dim_v));
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t kv = 0; kv < p.heads_kv; ++kv) add_keys(b, kv, inputs);
    for (std::int64_t n = 0; n < p.heads_q; ++n) add_head(b, n, inputs);
  }
}

std::size_t Floor::key_head(std::int64_t b, std::int64_t kv) const {
  return at(b * problem_.heads_kv + kv);
}

void Floor::add_keys(std::int64_t b, std::int64_t kv, const Op::Inputs& inputs) {
  const Op::Problem& p = problem_;
  const spec::HeadView key(inputs.key, p.input_layout, key_extents(p));
  const spec::HeadView value(inputs.value, p.input_layout, value_extents(p));
  double* sums = key_sum_.data() + key_head(b, kv) * at(p.head_dim);
  double largest = 0;
  for (std::int64_t j = 0; j < p.seq_kv; ++j) {
    for (std::int64_t d = 0; d < p.head_dim; ++d) sums[d] += std::abs(key(b, kv, j, d));
    double square = 0;
    for (std::int64_t d = 0; d < p.head_dim_v; ++d)
      square += value(b, kv, j, d) * value(b, kv, j, d);
    largest = std::max(largest, square);
  }
  value_norm_[key_head(b, kv)] = std::sqrt(largest);
}

void Floor::add_head(std::int64_t b, std::int64_t n, const Op::Inputs& inputs) {
  const Op::Problem& p = problem_;
  const spec::HeadView query(inputs.query, p.input_layout, query_extents(p));
  const spec::HeadView dy(inputs.dy, p.input_layout, dy_extents(p));
  const spec::HeadView output(inputs.attention_in, p.input_layout, dy_extents(p));
  const std::size_t kv = key_head(b, n / p.group());
  double* query_sums = query_sum_.data() + kv * at(p.head_dim);
  double* dy_sums = dy_sum_.data() + kv * at(p.head_dim_v);
  for (std::int64_t i = 0; i < p.seq_q; ++i) {
    double square = 0, row_term = 0;
    for (std::int64_t d = 0; d < p.head_dim_v; ++d) {
      const double gradient = dy(b, n, i, d);
      square += gradient * gradient;
      row_term += std::abs(gradient * output(b, n, i, d));
      dy_sums[d] += std::abs(gradient);
    }
    const double size = std::sqrt(square) * value_norm_[kv] + row_term;
    row_size_[at((b * p.heads_q + n) * p.seq_q + i)] = size;
    for (std::int64_t d = 0; d < p.head_dim; ++d)
      query_sums[d] += size * std::abs(query(b, n, i, d));
  }
}

double Floor::dq(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t d) const {
  if (phi_ == 0) return 0;
  const Op::Problem& p = problem_;
  return phi_ * std::abs(p.scale_value) * row_size_[at((b * p.heads_q + n) * p.seq_q + i)] *
         key_sum_[key_head(b, n / p.group()) * at(p.head_dim) + at(d)];
}

double Floor::dk(std::int64_t b, std::int64_t kv, std::int64_t d) const {
  if (phi_ == 0) return 0;
  return phi_ * std::abs(problem_.scale_value) *
         query_sum_[key_head(b, kv) * at(problem_.head_dim) + at(d)];
}

double Floor::dv(std::int64_t b, std::int64_t kv, std::int64_t d) const {
  if (phi_ == 0) return 0;
  return phi_ * dy_sum_[key_head(b, kv) * at(problem_.head_dim_v) + at(d)];
}

}  // namespace assay::conformance::lattice
