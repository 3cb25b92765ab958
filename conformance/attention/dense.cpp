#include "attention/dense.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "attention/formula/rows.hpp"
#include "attention/mask_pattern.hpp"

namespace assay::conformance::attention {
namespace {

const spec::Tensor* pointer(const std::optional<spec::Tensor>& tensor) {
  return tensor ? &*tensor : nullptr;
}

/// Reads query or key rows, with the rope channels if the problem has any.
InputRows rows_with_rope(const Op::Problem& p, const spec::Tensor& tensor,
                         const spec::Extents& extents, const spec::Tensor* rope) {
  InputRows rows(tensor, p.input_layout, extents);
  if (p.head_dim_rope == 0) return rows;
  spec::Extents of_rope = extents;
  of_rope.dim = p.head_dim_rope;
  rows.add_rope(*rope, p.input_layout, of_rope);
  return rows;
}

/// Returns the first copy of the statistics (the tensor stores several equal copies), ordered like
/// the query rows. In packed sequences the tensor itself may be ordered by token instead.
std::vector<double> first_replicas(const spec::Tensor* statistics, const Op::Problem& p,
                                   const spec::Extents& queries) {
  if (statistics == nullptr) return {};
  const std::vector<std::int64_t> elements = spec::viewed_elements(*statistics);
  std::vector<double> values(static_cast<std::size_t>(queries.rows()));
  const bool by_token =
      is_packed(p.input_layout) && p.statistics_order == spec::StatisticsOrder::tokens_first;
  for (std::int64_t b = 0; b < queries.batch; ++b)
    for (std::int64_t n = 0; n < queries.heads; ++n)
      for (std::int64_t s = 0; s < queries.length(b); ++s) {
        const std::int64_t row = queries.row(b, n, s);
        const std::int64_t place = by_token ? (queries.start(b) + s) * queries.heads + n : row;
        values[static_cast<std::size_t>(row)] =
            statistics->load(elements[static_cast<std::size_t>(place * spec::statistics_replicas)]);
      }
  return values;
}

std::vector<double> elements_of(const spec::Tensor* tensor) {
  std::vector<double> values;
  if (tensor == nullptr) return values;
  for (const std::int64_t element : spec::viewed_elements(*tensor))
    values.push_back(tensor->load(element));
  return values;
}

/// Returns the largest sum of |x| and the largest sum of x^2 over the channels of a row.
std::pair<double, double> largest_sums(const InputRows& rows, const spec::Extents& extents) {
  std::pair<double, double> largest = {0, 0};
  FloatRow row(rows.width());
  for (std::int64_t b = 0; b < extents.batch; ++b)
    for (std::int64_t n = 0; n < extents.heads; ++n)
      for (std::int64_t s = 0; s < extents.length(b); ++s) {
        rows.read({b, n, s}, row.data());
        double sum = 0;
        for (std::int64_t d = 0; d < rows.width(); ++d) sum += std::abs(row[d]);
        largest.first = std::max(largest.first, sum);
        largest.second = std::max(largest.second, norm_squared(row.data(), rows.width()));
      }
  return largest;
}

spec::Extents widened(spec::Extents extents, std::int64_t by) {
  extents.dim += by;
  return extents;
}

}  // namespace

double norm_squared(const float* x, std::int64_t dim) {
  double sum = 0;
  for (std::int64_t d = 0; d < dim; ++d)
    sum += static_cast<double>(x[d]) * static_cast<double>(x[d]);
  return sum;
}

Operands operands_of(const Op::Inputs& inputs) {
  return {.query = &inputs.query,
          .key = &inputs.key,
          .value = &inputs.value,
          .dy = &inputs.dy,
          .attention_in = &inputs.attention_in,
          .softmax_max = &inputs.softmax_max,
          .softmax_sum = &inputs.softmax_sum,
          .query_rope = pointer(inputs.query_rope),
          .key_rope = pointer(inputs.key_rope),
          .pse_shift = pointer(inputs.pse_shift),
          .drop_mask = pointer(inputs.drop_mask),
          .sink = pointer(inputs.sink)};
}

GradientTensors gradient_tensors(const Op::Outputs& outputs) {
  return {.dq = &outputs.dq,
          .dk = &outputs.dk,
          .dv = &outputs.dv,
          .dq_rope = pointer(outputs.dq_rope),
          .dk_rope = pointer(outputs.dk_rope)};
}

Dense::Dense(const Op::Problem& p, const Op::Inputs& inputs)
    : Dense(p, operands_of(inputs), std::make_shared<MaskPattern>(p, pointer(inputs.atten_mask))) {}

Dense::Dense(const Op::Problem& p, const Operands& operands,
             std::shared_ptr<const KeyPattern> attends)
    : problem(p),
      query_rows(rows_with_rope(p, *operands.query, query_extents(p), operands.query_rope)),
      key_rows(rows_with_rope(p, *operands.key, key_extents(p), operands.key_rope)),
      value_rows(*operands.value, p.input_layout, value_extents(p)),
      queries(widened(query_extents(p), p.head_dim_rope)),
      keys(widened(key_extents(p), p.head_dim_rope)),
      scale(static_cast<double>(static_cast<float>(p.scale_value))),
      sinks(elements_of(operands.sink)),
      largest_kappa(p.has_dropout() ? 1 / static_cast<double>(static_cast<float>(p.keep_prob)) : 1),
      key_pattern(std::move(attends)),
      position_bias(p, operands.pse_shift),
      dropout(p, operands.drop_mask),
      softmax_max_(first_replicas(operands.softmax_max, p, queries)),
      softmax_sum_(first_replicas(operands.softmax_sum, p, queries)) {
  if (operands.dy != nullptr) dy_rows.emplace(*operands.dy, p.input_layout, dy_extents(p));
  if (operands.attention_in != nullptr)
    attention_in_.emplace(*operands.attention_in, p.input_layout, dy_extents(p));
  double largest_key_row = 0;
  std::tie(largest_row, largest_query) = largest_sums(query_rows, queries);
  std::tie(largest_key_row, largest_key) = largest_sums(key_rows, keys);
  largest_row = std::max(largest_row, largest_key_row);
}

std::vector<double> Dense::attention_in(std::int64_t b, std::int64_t n, std::int64_t i) const {
  std::vector<double> row(static_cast<std::size_t>(problem.head_dim_v));
  attention_in_.value().read_row(b, n, i, row);
  return row;
}

Columns::Columns(const Dense& dense, std::int64_t b, std::int64_t kv,
                 std::vector<std::int64_t> keys)
    : dense_(&dense),
      b_(b),
      keys_(std::move(keys)),
      pitch_(static_cast<std::int64_t>(padded_keys(keys_.size()))) {
  const auto transpose = [&](const InputRows& rows, std::vector<double>& to) {
    to.resize(static_cast<std::size_t>(rows.width() * pitch_));
    FloatRow row(rows.width());
    for (std::int64_t c = 0; c < size(); ++c) {
      rows.read({b, kv, key(c)}, row.data());
      for (std::int64_t d = 0; d < rows.width(); ++d)
        to[static_cast<std::size_t>(d * pitch_ + c)] = row[d];
    }
  };
  transpose(dense.key_rows, key_);
  if (dense.has_gradient()) transpose(dense.value_rows, value_);
}

void Columns::multiply(std::int64_t n, std::int64_t i, RowProducts& products) const {
  products.query = {b_, n, i};
  products.keys = keys_.data();
  products.times.resize(static_cast<std::size_t>(size()));
  products.attends = dense_->key_pattern->count({b_, n, i}, keys_, products.times);
  if (!products.attends) return;
  add_sums(n, i, products);
  add_features(n, i, products);
}

void Columns::add_sums(std::int64_t n, std::int64_t i, RowProducts& products) const {
  const auto occurs = [](std::uint8_t times) { return times != 0; };
  const auto& times = products.times;
  const auto before = std::ranges::find_if(times, occurs) - times.begin();
  const auto after = times.rend() - std::find_if(times.rbegin(), times.rend(), occurs);
  // Only the steps of columns that the query attends to.
  const std::size_t first = static_cast<std::size_t>(before) / keys_of_step * keys_of_step;
  const std::size_t keys = padded_keys(static_cast<std::size_t>(after)) - first;
  const auto sums = [&](const FloatRow& row, const std::vector<double>& matrix, std::int64_t dim,
                        std::vector<double>& sum, std::vector<double>& absolute,
                        std::vector<double>& squares) {
    for (auto* numbers : {&sum, &absolute, &squares})
      numbers->resize(static_cast<std::size_t>(pitch_));
    engine::read_with(engine::Instructions::fastest, [&](auto compiled) {
      multiply_row(compiled, row.data(), {matrix.data() + first, dim, pitch_}, keys,
                   {sum.data() + first, absolute.data() + first, squares.data() + first});
    });
  };
  sums(dense_->query(b_, n, i), key_, dense_->width(), products.score, products.score_abs,
       products.score_sq);
  if (!dense_->has_gradient()) {
    for (auto* none : {&products.dprob, &products.dprob_abs, &products.dprob_sq})
      none->assign(products.times.size(), 0);
    return;
  }
  sums(dense_->dy(b_, n, i), value_, dense_->problem.head_dim_v, products.dprob, products.dprob_abs,
       products.dprob_sq);
}

void Columns::add_features(std::int64_t n, std::int64_t i, RowProducts& products) const {
  const auto columns = static_cast<std::size_t>(size());
  products.bias.assign(static_cast<std::size_t>(pitch_), 0);
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

std::vector<RowBlock> row_blocks_of(const Dense& dense, std::span<const std::int64_t> rows) {
  std::vector<RowBlock> blocks;
  std::size_t widest = 0;
  for (const std::int64_t row : rows) {
    std::vector<std::int64_t> keys = dense.key_pattern->keys(dense.queries.position(row));
    widest = std::max(widest, keys.size());
    if (!blocks.empty()) {
      RowBlock& block = blocks.back();
      std::vector<std::int64_t> both;
      std::ranges::set_union(block.keys, keys, std::back_inserter(both));
      if (both.size() <= 2 * widest) {
        block.keys = std::move(both);
        ++block.rows;
        continue;
      }
    }
    widest = keys.size();
    blocks.push_back({1, std::move(keys)});
  }
  return blocks;
}

void each_row_of_head(
    const Dense& dense, std::int64_t b, std::int64_t head,
    const std::function<void(std::int64_t number, const RowProducts& products)>& visit) {
  const std::int64_t first = dense.queries.row(b, head, 0);
  const std::vector<std::int64_t> rows = ascending(first, first + dense.queries.length(b));
  RowProducts products;
  std::size_t next = 0;
  for (const RowBlock& block : row_blocks_of(dense, rows)) {
    const Columns columns(dense, b, head / dense.problem.group(), block.keys);
    for (const std::size_t end = next + block.rows; next < end; ++next) {
      columns.multiply(head, dense.queries.position(rows[next]).s, products);
      if (products.attends) visit(rows[next], products);
    }
  }
}

std::vector<std::int64_t> ascending(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(last - first));
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace assay::conformance::attention
