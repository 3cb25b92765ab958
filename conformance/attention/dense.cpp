#include "attention/dense.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "assay/conformance/judge/vector_loops.hpp"
#include "attention/mask_pattern.hpp"

namespace assay::conformance::flash {
namespace {

const spec::Tensor* pointer(const std::optional<spec::Tensor>& tensor) {
  return tensor ? &*tensor : nullptr;
}

/// Copies a tensor into channels [first, first + extents.dim) of rows of `width` channels.
void copy_rows(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& e,
               std::int64_t width, std::int64_t first, std::vector<double>& rows) {
  rows.resize(static_cast<std::size_t>(e.rows() * width));
  const spec::HeadView view(tensor, layout, e);
  double* row = rows.data() + first;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.length(b); ++s, row += width)
        view.read_row(b, n, s, {row, static_cast<std::size_t>(e.dim)});
}

std::vector<double> rows_of(const spec::Tensor& tensor, spec::Layout layout,
                            const spec::Extents& e) {
  std::vector<double> rows;
  copy_rows(tensor, layout, e, e.dim, 0, rows);
  return rows;
}

/// A tensor with its rope part, if it has one, behind its own channels.
std::vector<double> roped_rows(const spec::Tensor& tensor, const std::optional<spec::Tensor>& rope,
                               spec::Layout layout, spec::Extents extents, std::int64_t rope_dim) {
  const std::int64_t width = extents.dim + rope_dim;
  std::vector<double> rows;
  copy_rows(tensor, layout, extents, width, 0, rows);
  const std::int64_t first = std::exchange(extents.dim, rope_dim);
  if (rope_dim > 0) copy_rows(rope.value(), layout, extents, width, first, rows);
  return rows;
}

/// Replica 0 of the statistics in the order of the rows. A packed tensor of TND has that order
/// itself.
std::vector<double> first_replicas(const spec::Tensor& statistics, const Op::Problem& p,
                                   const spec::Extents& queries) {
  const std::vector<std::int64_t> elements = spec::viewed_elements(statistics);
  std::vector<double> values(static_cast<std::size_t>(queries.rows()));
  const bool by_token =
      is_packed(p.input_layout) && p.softmax_in_layout == spec::StatisticsOrder::same_as_input;
  for (std::int64_t b = 0; b < queries.batch; ++b)
    for (std::int64_t n = 0; n < queries.heads; ++n)
      for (std::int64_t s = 0; s < queries.length(b); ++s) {
        const std::int64_t row = queries.row(b, n, s);
        const std::int64_t place = by_token ? (queries.start(b) + s) * queries.heads + n : row;
        values[static_cast<std::size_t>(row)] =
            statistics.load(elements[static_cast<std::size_t>(place * spec::statistics_replicas)]);
      }
  return values;
}

/// Largest sum of magnitudes of a row.
double largest_sum(const std::vector<double>& rows, std::int64_t dim) {
  double largest = 0;
  for (std::size_t first = 0; first < rows.size(); first += static_cast<std::size_t>(dim)) {
    double sum = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d)
      sum += std::abs(rows[first + d]);
    largest = std::max(largest, sum);
  }
  return largest;
}

spec::Extents widened(spec::Extents extents, std::int64_t by) {
  extents.dim += by;
  return extents;
}

}  // namespace

Dense::Dense(const Op::Problem& p, const Op::Inputs& inputs)
    : Dense(p, inputs, std::make_shared<MaskPattern>(p, pointer(inputs.atten_mask))) {}

Dense::Dense(const Op::Problem& p, const Op::Inputs& inputs,
             std::shared_ptr<const KeyPattern> attends)
    : problem(p),
      queries(widened(query_extents(p), p.head_dim_rope)),
      keys(widened(key_extents(p), p.head_dim_rope)),
      scale(static_cast<double>(static_cast<float>(p.scale_value))),
      largest_kappa(p.has_dropout() ? 1 / static_cast<double>(static_cast<float>(p.keep_prob)) : 1),
      key_pattern(std::move(attends)),
      position_bias(p, pointer(inputs.pse_shift)),
      dropout(p, pointer(inputs.drop_mask)),
      query_(roped_rows(inputs.query, inputs.query_rope, p.input_layout, query_extents(p),
                        p.head_dim_rope)),
      key_(
          roped_rows(inputs.key, inputs.key_rope, p.input_layout, key_extents(p), p.head_dim_rope)),
      value_(rows_of(inputs.value, p.input_layout, value_extents(p))),
      dy_(rows_of(inputs.dy, p.input_layout, dy_extents(p))),
      attention_in_(rows_of(inputs.attention_in, p.input_layout, dy_extents(p))),
      softmax_max_(first_replicas(inputs.softmax_max, p, queries)),
      softmax_sum_(first_replicas(inputs.softmax_sum, p, queries)) {
  largest_row = std::max(largest_sum(query_, width()), largest_sum(key_, width()));
}

Columns::Columns(const Dense& dense, std::int64_t b, std::int64_t kv,
                 std::vector<std::int64_t> keys)
    : dense_(&dense), b_(b), keys_(std::move(keys)) {
  const auto transpose = [&](std::int64_t dim, auto row, std::vector<double>& to) {
    to.resize(static_cast<std::size_t>(dim * size()));
    for (std::int64_t c = 0; c < size(); ++c)
      for (std::int64_t d = 0; d < dim; ++d)
        to[static_cast<std::size_t>(d * size() + c)] = row(key(c))[d];
  };
  transpose(
      dense.width(), [&](std::int64_t j) { return dense.key(b, kv, j); }, key_);
  transpose(
      dense.problem.head_dim_v, [&](std::int64_t j) { return dense.value(b, kv, j); }, value_);
}

void Columns::multiply(std::int64_t n, std::int64_t i, Products& products) const {
  products.times.resize(static_cast<std::size_t>(size()));
  products.attends = dense_->key_pattern->count({b_, n, i}, keys_, products.times);
  if (!products.attends) return;
  add_sums(n, i, products);
  add_features(n, i, products);
}

void Columns::add_sums(std::int64_t n, std::int64_t i, Products& products) const {
  const auto columns = static_cast<std::size_t>(size());
  const auto sums = [&](const double* row, const std::vector<double>& matrix, std::int64_t dim,
                        std::vector<double>& sum, std::vector<double>& absolute,
                        std::vector<double>& squares) {
    sum.assign(columns, 0), absolute.assign(columns, 0), squares.assign(columns, 0);
    for (std::int64_t d = 0; d < dim; ++d)
      add_products(row[d], matrix.data() + d * size(), size(),
                   {sum.data(), absolute.data(), squares.data()});
  };
  sums(dense_->query(b_, n, i), key_, dense_->width(), products.score, products.score_abs,
       products.score_sq);
  sums(dense_->dy(b_, n, i), value_, dense_->problem.head_dim_v, products.dprob, products.dprob_abs,
       products.dprob_sq);
}

void Columns::add_features(std::int64_t n, std::int64_t i, Products& products) const {
  const auto columns = static_cast<std::size_t>(size());
  products.bias.assign(columns, 0);
  products.kappa.assign(columns, 1);
  if (dense_->position_bias.present())
    for (std::size_t c = 0; c < columns; ++c)
      if (products.times[c] != 0) products.bias[c] = dense_->bias(b_, n, i, keys_[c]);
  if (!dense_->problem.has_dropout()) return;
  for (std::size_t c = 0; c < columns; ++c) {
    if (products.times[c] == 0) continue;
    const double kappa = dense_->kappa(b_, n, i, keys_[c]);
    products.kappa[c] = kappa;
    products.dprob[c] *= kappa;
    products.dprob_abs[c] *= kappa;
    products.dprob_sq[c] *= kappa * kappa;
  }
}

std::vector<Window> windows_of(const Dense& dense, std::span<const std::int64_t> rows) {
  std::vector<Window> windows;
  std::size_t widest = 0;
  for (const std::int64_t row : rows) {
    std::vector<std::int64_t> keys = dense.key_pattern->keys(dense.queries.position(row));
    widest = std::max(widest, keys.size());
    if (!windows.empty()) {
      Window& window = windows.back();
      std::vector<std::int64_t> both;
      std::ranges::set_union(window.keys, keys, std::back_inserter(both));
      if (both.size() <= 2 * widest) {
        window.keys = std::move(both);
        ++window.rows;
        continue;
      }
    }
    widest = keys.size();
    windows.push_back({1, std::move(keys)});
  }
  return windows;
}

std::vector<std::int64_t> ascending(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(last - first));
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace assay::conformance::flash
