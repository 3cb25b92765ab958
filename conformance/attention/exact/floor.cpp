#include "attention/exact/floor.hpp"

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

/// The tensors that sizes are read from; query and key with their rope parts.
struct Floor::Views {
  Views(const Op::Problem& p, const Op::Inputs& inputs)
      : value(inputs.value, p.input_layout, value_extents(p)),
        dy(inputs.dy, p.input_layout, dy_extents(p)),
        output(inputs.attention_in, p.input_layout, dy_extents(p)) {
    query.emplace_back(inputs.query, p.input_layout, query_extents(p));
    key.emplace_back(inputs.key, p.input_layout, key_extents(p));
    if (p.head_dim_rope == 0) return;
    query.emplace_back(inputs.query_rope.value(), p.input_layout, query_rope_extents(p));
    key.emplace_back(inputs.key_rope.value(), p.input_layout, key_rope_extents(p));
  }

  std::vector<spec::HeadView> query, key;
  spec::HeadView value, dy, output;
};

Floor::Floor(const Op::Problem& p, const Op::Inputs& inputs, const spec::NumericsProfile& numerics)
    : problem_(p),
      queries_(query_extents(p)),
      phi_(numerics.floor * cast_slack),
      kept_factor_(1 / p.keep_prob) {
  if (phi_ == 0) return;
  const std::size_t key_heads = at(p.batch * p.heads_kv);
  row_size_.resize(at(queries_.rows()));
  key_sum_.resize(key_heads * width());
  value_norm_.resize(key_heads);
  query_sum_.resize(key_sum_.size());
  dy_sum_.resize(key_heads * at(p.head_dim_v));
  const Views views(p, inputs);
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t kv = 0; kv < p.heads_kv; ++kv) add_keys(b, kv, views);
    for (std::int64_t n = 0; n < p.heads_q; ++n) add_head(b, n, views);
  }
}

std::size_t Floor::key_head(std::int64_t b, std::int64_t kv) const {
  return at(b * problem_.heads_kv + kv);
}

std::size_t Floor::width() const { return at(problem_.head_dim + problem_.head_dim_rope); }

void Floor::add_keys(std::int64_t b, std::int64_t kv, const Views& views) {
  double largest = 0;
  for (std::int64_t j = 0; j < problem_.length_kv(b); ++j) {
    double* sum = key_sum_.data() + key_head(b, kv) * width();
    for (const spec::HeadView& key : views.key)
      for (std::int64_t d = 0; d < key.extents().dim; ++d) *sum++ += std::abs(key(b, kv, j, d));
    double square = 0;
    for (std::int64_t d = 0; d < problem_.head_dim_v; ++d)
      square += views.value(b, kv, j, d) * views.value(b, kv, j, d);
    largest = std::max(largest, square);
  }
  value_norm_[key_head(b, kv)] = std::sqrt(largest);
}

void Floor::add_head(std::int64_t b, std::int64_t n, const Views& views) {
  const std::size_t kv = key_head(b, n / problem_.group());
  double* dy_sums = dy_sum_.data() + kv * at(problem_.head_dim_v);
  for (std::int64_t i = 0; i < problem_.length_q(b); ++i) {
    double square = 0, row_term = 0;
    for (std::int64_t d = 0; d < problem_.head_dim_v; ++d) {
      const double gradient = views.dy(b, n, i, d);
      square += gradient * gradient;
      row_term += std::abs(gradient * views.output(b, n, i, d));
      dy_sums[d] += std::abs(gradient);
    }
    const double size = kept_factor_ * std::sqrt(square) * value_norm_[kv] + row_term;
    row_size_[at(queries_.row(b, n, i))] = size;
    double* sum = query_sum_.data() + kv * width();
    for (const spec::HeadView& query : views.query)
      for (std::int64_t d = 0; d < query.extents().dim; ++d)
        *sum++ += size * std::abs(query(b, n, i, d));
  }
}

double Floor::dq(const spec::RowPosition& row, std::int64_t d) const {
  if (phi_ == 0) return 0;
  return phi_ * std::abs(problem_.scale_value) * row_size_[at(queries_.row(row.b, row.n, row.s))] *
         key_sum_[key_head(row.b, row.n / problem_.group()) * width() + at(d)];
}

double Floor::dk(const spec::RowPosition& row, std::int64_t d) const {
  if (phi_ == 0) return 0;
  return phi_ * std::abs(problem_.scale_value) *
         query_sum_[key_head(row.b, row.n) * width() + at(d)];
}

double Floor::dv(const spec::RowPosition& row, std::int64_t d) const {
  if (phi_ == 0) return 0;
  return phi_ * kept_factor_ * dy_sum_[key_head(row.b, row.n) * at(problem_.head_dim_v) + at(d)];
}

}  // namespace assay::conformance::lattice
