#include "attention/dense.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "assay/parallel/loop.hpp"
#include "attention/formula/rows.hpp"
#include "attention/mask_pattern.hpp"

namespace assay::conformance::attention {
namespace {

const spec::Tensor* pointer(const std::optional<spec::Tensor>& tensor) {
  return tensor ? &*tensor : nullptr;
}

/// Reads the rows of a tensor, followed by the rope channels if there is a rope tensor.
class Source {
 public:
  Source(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents)
      : extents_(extents), views_{{tensor, layout, extents}} {}
  void append(const spec::Tensor& rope, spec::Layout layout, std::int64_t rope_dim) {
    spec::Extents extents = extents_;
    extents.dim = rope_dim;
    views_.emplace_back(rope, layout, extents);
    dims_.push_back(rope_dim);
  }

  /// Returns the rows of heads n .. n + count - 1 in sequence b.
  std::vector<float> rows(std::int64_t b, std::int64_t n, std::int64_t count) const {
    const std::int64_t width = std::accumulate(dims_.begin(), dims_.end(), std::int64_t{0});
    std::vector<float> rows(static_cast<std::size_t>(count * extents_.length(b) * width));
    std::vector<double> row(static_cast<std::size_t>(std::ranges::max(dims_)));
    auto to = rows.begin();
    for (const std::int64_t end = n + count; n < end; ++n)
      for (std::int64_t s = 0; s < extents_.length(b); ++s)
        for (std::size_t k = 0; k < views_.size(); ++k) {
          const auto channels = std::span(row).first(static_cast<std::size_t>(dims_[k]));
          views_[k].read_row(b, n, s, channels);
          to = std::ranges::transform(channels, to, [](double x) {
                 return static_cast<float>(x);
               }).out;
        }
    return rows;
  }

 private:
  spec::Extents extents_;
  std::vector<spec::HeadView> views_;
  std::vector<std::int64_t> dims_ = {extents_.dim};
};

/// Reads the rows of key heads.
class Reader {
 public:
  Reader(const Op::Problem& p, const Operands& operands)
      : p_(p),
        query_(*operands.query, p.input_layout, query_extents(p)),
        key_(*operands.key, p.input_layout, key_extents(p)),
        value_(*operands.value, p.input_layout, value_extents(p)) {
    if (operands.dy != nullptr) dy_.emplace(*operands.dy, p.input_layout, dy_extents(p));
    if (p.head_dim_rope == 0) return;
    query_.append(*operands.query_rope, p.input_layout, p.head_dim_rope);
    key_.append(*operands.key_rope, p.input_layout, p.head_dim_rope);
  }

  HeadRows operator()(std::int64_t head) const {
    HeadRows rows = queries_and_keys(head);
    const std::int64_t b = head / p_.heads_kv, kv = head % p_.heads_kv, group = p_.group();
    rows.value = value_.rows(b, kv, 1);
    if (dy_) rows.dy = dy_->rows(b, kv * group, group);
    return rows;
  }
  HeadRows queries_and_keys(std::int64_t head) const {
    const std::int64_t b = head / p_.heads_kv, kv = head % p_.heads_kv, group = p_.group();
    return {.query = query_.rows(b, kv * group, group), .key = key_.rows(b, kv, 1)};
  }

 private:
  const Op::Problem& p_;
  Source query_, key_, value_;
  std::optional<Source> dy_;
};

/// If not all rows are kept in memory: the number of query and key elements that are in memory at a
/// time.
constexpr std::int64_t elements_of_chunk = std::int64_t{1} << 20;

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

/// Returns the largest sum of |x| over the channels of a row.
double largest_sum(const std::vector<float>& rows, std::int64_t dim) {
  double largest = 0;
  for (std::size_t first = 0; first < rows.size(); first += static_cast<std::size_t>(dim)) {
    double sum = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d)
      sum += static_cast<double>(std::abs(rows[first + d]));
    largest = std::max(largest, sum);
  }
  return largest;
}

/// Returns the largest sum of x^2 over the channels of a row.
double largest_norm(const std::vector<float>& rows, std::int64_t dim) {
  double largest = 0;
  for (std::size_t first = 0; first < rows.size(); first += static_cast<std::size_t>(dim))
    largest = std::max(largest, norm_squared(FloatRow(rows.data() + first), dim));
  return largest;
}

spec::Extents widened(spec::Extents extents, std::int64_t by) {
  extents.dim += by;
  return extents;
}

}  // namespace

double norm_squared(FloatRow x, std::int64_t dim) {
  double sum = 0;
  for (std::int64_t d = 0; d < dim; ++d) sum += x[d] * x[d];
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

Dense::Dense(const Op::Problem& p, const Op::Inputs& inputs, Held held)
    : Dense(p, operands_of(inputs), std::make_shared<MaskPattern>(p, pointer(inputs.atten_mask)),
            held) {}

Dense::Dense(const Op::Problem& p, const Operands& operands,
             std::shared_ptr<const KeyPattern> attends, Held held)
    : problem(p),
      queries(widened(query_extents(p), p.head_dim_rope)),
      keys(widened(key_extents(p), p.head_dim_rope)),
      scale(static_cast<double>(static_cast<float>(p.scale_value))),
      sinks(elements_of(operands.sink)),
      largest_kappa(p.has_dropout() ? 1 / static_cast<double>(static_cast<float>(p.keep_prob)) : 1),
      key_pattern(std::move(attends)),
      position_bias(p, operands.pse_shift),
      dropout(p, operands.drop_mask),
      operands_(operands),
      held_(held),
      heads_(static_cast<std::size_t>(p.batch * p.heads_kv)),
      softmax_max_(first_replicas(operands.softmax_max, p, queries)),
      softmax_sum_(first_replicas(operands.softmax_sum, p, queries)) {
  if (operands.attention_in != nullptr)
    attention_in_.emplace(*operands.attention_in, p.input_layout, dy_extents(p));
  const Reader read(problem, operands_);
  for (std::size_t k = 0; k < heads_.size(); ++k) {
    const auto number = static_cast<std::int64_t>(k);
    HeadRows head = held_ == Held::all ? read(number) : read.queries_and_keys(number);
    for (const auto* rows : {&head.query, &head.key})
      largest_row = std::max(largest_row, largest_sum(*rows, width()));
    largest_query = std::max(largest_query, largest_norm(head.query, width()));
    largest_key = std::max(largest_key, largest_norm(head.key, width()));
    if (held_ == Held::all) heads_[k] = std::move(head);
  }
}

std::vector<double> Dense::attention_in(std::int64_t b, std::int64_t n, std::int64_t i) const {
  std::vector<double> row(static_cast<std::size_t>(problem.head_dim_v));
  attention_in_.value().read_row(b, n, i, row);
  return row;
}

void Dense::each_chunk(
    const std::function<void(std::int64_t first, std::int64_t last)>& visit) const {
  const std::int64_t heads = std::ssize(heads_);
  if (held_ == Held::all) return visit(0, heads);
  const Reader read(problem, operands_);
  const auto at = [this](std::int64_t k) -> HeadRows& {
    return heads_[static_cast<std::size_t>(k)];
  };
  for (std::int64_t first = 0, last = 0; first < heads; first = last) {
    for (std::int64_t elements = 0; last < heads && elements < elements_of_chunk; ++last) {
      const std::int64_t b = last / problem.heads_kv;
      elements += (problem.group() * queries.length(b) + keys.length(b)) * width();
    }
    parallel::for_each(last - first, [&](std::int64_t k) { at(first + k) = read(first + k); });
    visit(first, last);
    for (std::int64_t k = first; k < last; ++k) at(k) = {};
  }
}

Columns::Columns(const Dense& dense, std::int64_t b, std::int64_t kv,
                 std::vector<std::int64_t> keys)
    : dense_(&dense),
      b_(b),
      keys_(std::move(keys)),
      pitch_(static_cast<std::int64_t>(padded_keys(keys_.size()))) {
  const auto transpose = [&](std::int64_t dim, auto row, std::vector<double>& to) {
    to.resize(static_cast<std::size_t>(dim * pitch_));
    for (std::int64_t c = 0; c < size(); ++c)
      for (std::int64_t d = 0; d < dim; ++d)
        to[static_cast<std::size_t>(d * pitch_ + c)] = row(key(c))[d];
  };
  transpose(
      dense.width(), [&](std::int64_t j) { return dense.key(b, kv, j); }, key_);
  if (!dense.has_gradient()) return;
  transpose(
      dense.problem.head_dim_v, [&](std::int64_t j) { return dense.value(b, kv, j); }, value_);
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
  const auto sums = [&](FloatRow row, const std::vector<double>& matrix, std::int64_t dim,
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
