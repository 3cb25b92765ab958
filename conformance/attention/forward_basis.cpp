#include "attention/forward_basis.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "assay/conformance/judge/vector_loops.hpp"
#include "attention/bound/bound.hpp"
#include "attention/bound/finish.hpp"
#include "attention/bound/forward_output.hpp"
#include "attention/bound/sums.hpp"
#include "attention/lse.hpp"
#include "attention/statistics.hpp"
#include "judge/structure.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance {
namespace {

using attention::Dense;
using attention::ForwardRow;
using spec::at;

/// Returns, for each output channel, the largest amount that masked pairs may add to an element, if
/// each masked probability is 1.
std::vector<double> residues_of(const Dense& dense, const spec::RowPosition& row) {
  const std::int64_t kv = row.n / dense.problem.group();
  std::vector<double> sums(at(dense.problem.head_dim_v)), largest = sums;
  for (std::int64_t j = 0; j < dense.keys.length(row.b); ++j) {
    const attention::FloatRow value = dense.value(row.b, kv, j);
    for (std::size_t d = 0; d < sums.size(); ++d) {
      const double x = std::abs(value[d]);
      sums[d] += x, largest[d] = std::max(largest[d], x);
    }
  }
  const auto entries = static_cast<double>(dense.key_pattern->entries_of_query(row.b));
  for (std::size_t d = 0; d < sums.size(); ++d)
    sums[d] = dense.largest_kappa * std::min(sums[d], entries * largest[d]);
  return sums;
}

/// Computes the floors (the largest numbers that count as zero) of all output channels, per key
/// head. All query rows of a group have the same floor.
class Floors {
 public:
  Floors(const Dense& dense, double phi) : dense_(dense), phi_(phi) {
    made_.resize(at(dense.problem.batch * dense.problem.heads_kv));
  }
  const double* of(const spec::RowPosition& row) {
    const std::scoped_lock lock(mutex_);
    const Op::Problem& p = dense_.problem;
    std::vector<double>& floor = made_[at(row.b * p.heads_kv + row.n / p.group())];
    if (floor.empty()) {
      floor = residues_of(dense_, row);
      for (double& one : floor) one *= phi_;
    }
    return floor.data();
  }

 private:
  using Op = attention::Op;
  const Dense& dense_;
  double phi_;
  std::mutex mutex_;
  std::vector<std::vector<double>> made_;
};

spec::Extents output_extents(const Dense& dense) {
  spec::Extents extents = dense.queries;
  extents.dim = dense.problem.head_dim_v;
  return extents;
}

/// Returns the rounding errors of one output row. A kernel may round many almost equal weights in
/// the same direction. Therefore the factor of the probable error (lambda, equation E18) grows with
/// the square root of the number of such weights.
engine::Output output_of_row(const Dense& dense, engine::Output output, const ForwardRow& row,
                             std::int64_t b) {
  output.lambda *= std::sqrt(row.alike);
  output.chain =
      engine::chain_of(static_cast<double>(dense.key_pattern->entries_of_query(b)), output);
  return output;
}

/// Returns whether many output rows may be nearly equal to the same row of value, so that the final
/// cast rounds them in the same direction. This happens in a sequence with one key and a sink.
bool has_rows_of_one_key(const Dense& dense) {
  if (dense.sinks.empty()) return false;
  for (std::int64_t b = 0; b < dense.keys.batch; ++b)
    if (dense.keys.length(b) == 1) return true;
  return false;
}

/// Returns whether the mean of the errors is a useful statistic. It is not if many rows have the
/// same error: if all scores are about equal, or if 1 / keep_prob is not a power of two. In the
/// second case the product of 1 / keep_prob and a row's largest weight, 1, has the same rounding
/// error in all rows.
bool is_biasable(const Dense& dense) {
  int exponent = 0;
  return attention::scores_vary(dense) && !has_rows_of_one_key(dense) &&
         std::frexp(dense.largest_kappa, &exponent) == 0.5;
}

engine::Output output_of_rows(const Arithmetic& n, std::int64_t elements) {
  engine::Output output = output_of(n, elements);
  output.roundings = 2;  // the division, and 1 / keep_prob
  output.operands = 2 * n.u_x;
  if (n.numerics.partials != spec::DType::fp32)
    output.parts = {.u = n.u_out, .lost = n.eta_out, .count = 1};
  return output;
}

double channels_of(const Dense& dense, std::int64_t b, std::int64_t kv) {
  const attention::HeadRows rows(dense.value_rows, {b, kv, 0}, 1);
  return attention::effective_channels(rows.rows(), 0, dense.problem.head_dim_v);
}

/// Returns the storage index of a row's first copy in a statistics tensor. `place`: the index of
/// the row.
std::int64_t element_of(const spec::Tensor& tensor, std::int64_t place) {
  std::int64_t element = tensor.offset;
  for (std::size_t k = tensor.shape.size() - 1; k-- > 0; place /= tensor.shape[k])
    element += place % tensor.shape[k] * tensor.strides[k];
  return element;
}

/// Checks that all copies of a statistics value have the same bits.
void check_copies(const std::string& name, const spec::Tensor& tensor, std::int64_t rows,
                  std::vector<Finding>& findings) {
  StructureFindings differing(name, FactKind::differs_from_copy, findings);
  const std::int64_t next_copy = tensor.strides.back();
  const auto bits = [&](std::int64_t element) {
    return tensor.bytes.data() + element * size_of(tensor.dtype);
  };
  for (std::int64_t place = 0; place < rows; ++place) {
    const std::int64_t first = element_of(tensor, place);
    for (std::int64_t copy = 1; copy < spec::statistics_replicas; ++copy)
      if (std::memcmp(bits(first), bits(first + copy * next_copy), 4) != 0) {
        differing.add_storage(first + copy * next_copy);
        break;
      }
  }
}

}  // namespace

ForwardBasis::ForwardBasis(Dense dense, std::vector<std::int64_t> judged,
                           const Arithmetic& arithmetic, std::uint64_t seed)
    : dense_(std::move(dense)), judged_(std::move(judged)), arithmetic_(arithmetic), seed_(seed) {}

const std::vector<ForwardRow>& ForwardBasis::rows() const {
  if (!rows_) rows_ = attention::forward_rows(dense_, arithmetic_, judged_);
  return *rows_;
}

const ForwardRow& ForwardBasis::row(std::int64_t number) const {
  return rows()[at(std::ranges::lower_bound(judged_, number) - judged_.begin())];
}

spec::Extents ForwardBasis::statistics_extents() const {
  spec::Extents extents = dense_.queries;
  extents.dim = 1;
  return extents;
}

/// The expectation of a statistic (maximum or sum) has no standard deviation of the errors. No cast
/// to a narrower type adds an error.
Expectation ForwardBasis::of_statistic(const std::string& name, const Value& value_of) const {
  Expectation e{.name = name, .extents = statistics_extents(), .rows = judged_};
  e.resize(e.row_count());
  e.biasable = false, e.is_fp32 = true;
  // Products that are multiplied by 0 are exact: their maximum needs no definition.
  const bool has_exact_zeros = dense_.scale == 0 && attention::score_variant_of(dense_) == nullptr;
  for (std::size_t k = 0; k < rows().size(); ++k) {
    const auto [value, limits] = value_of(rows()[k]);
    const bool is_exact = rows()[k].keys == 0 || (has_exact_zeros && value == 0);
    e.value[k] = value;
    e.tau[k] = limits.probable, e.tau_det[k] = limits.proven;
    e.core[k] = static_cast<float>(limits.probable);
    e.radius[k] = is_exact ? 0 : 0x1p-27 * limits.proven + 0x1p-51 * std::abs(value);
  }
  return e;
}

std::vector<Expectation> ForwardBasis::of_statistics() const {
  std::vector<Expectation> all;
  if (attention::saves_lse(numerics())) {
    all.push_back(of_statistic("softmax_max", [&](const ForwardRow& row) {
      if (row.keys == 0) return std::pair(attention::dead_statistics.max, attention::Limits());
      return std::pair(row.max + std::log(row.sum), attention::lse_error(row, arithmetic_));
    }));
    return all;
  }
  all.push_back(of_statistic("softmax_max", [](const ForwardRow& row) {
    return std::pair(row.keys == 0 ? attention::dead_statistics.max : row.max, row.max_error);
  }));
  all.push_back(of_statistic("softmax_sum", [](const ForwardRow& row) {
    if (row.keys == 0) return std::pair(attention::dead_statistics.sum, attention::Limits());
    // The limit of softmax_sum contains the error of the maximum, because relations (comparisons of
    // runs) and packs (stored test cases) compare sums that belong to the kernel's own maximum.
    const auto limit = [&](double of_sum, double of_max) {
      return row.sum * (of_sum + (1 + of_sum) * engine::growth(of_max));
    };
    return std::pair(row.sum,
                     attention::Limits{limit(row.sum_error.proven, row.max_error.proven),
                                       limit(row.sum_error.probable, row.max_error.probable)});
  }));
  return all;
}

std::unique_ptr<Definition> ForwardBasis::definition_from(
    std::unique_ptr<Definition> of_statistics) const {
  return attention::saves_lse(numerics()) ? attention::lse_definition(std::move(of_statistics))
                                          : std::move(of_statistics);
}

std::vector<Expectation> ForwardBasis::expectations() const {
  std::vector<Expectation> all = of_statistics();
  if (std::ssize(judged_) * dense_.problem.head_dim_v <= kept_elements) {
    all.push_back(of_output(judged_));
    return all;
  }
  all.push_back({.name = "attention_out", .extents = output_extents(dense_), .rows = judged_});
  all.back().biasable = is_biasable(dense_);
  all.back().part = [this](std::span<const std::int64_t> rows) { return of_output(rows); };
  return all;
}

/// E49.
Expectation ForwardBasis::of_output(std::span<const std::int64_t> rows) const {
  const attention::Op::Problem& p = dense_.problem;
  Expectation e{.name = "attention_out",
                .extents = output_extents(dense_),
                .rows = {rows.begin(), rows.end()}};
  e.resize(e.row_count());
  e.biasable = is_biasable(dense_);
  std::vector<ForwardRow> of_rows;
  for (const std::int64_t number : rows) of_rows.push_back(row(number));
  const engine::Output output = output_of_rows(arithmetic_, std::ssize(judged_) * p.head_dim_v);
  Floors floors(dense_, arithmetic_.phi);
  const bool is_alike = has_rows_of_one_key(dense_);
  const bool rounds = arithmetic_.numerics.stage != spec::DType::fp32 ||
                      arithmetic_.numerics.store_p != spec::DType::fp32;
  const auto take = [&](std::size_t k, const engine::ElementRow& elements,
                        const engine::RowSums& sums) {
    const spec::RowPosition place = dense_.queries.position(rows[k]);
    const engine::Output of_row = output_of_row(dense_, output, of_rows[k], place.b);
    engine::read_with(engine::Instructions::fastest, [&](auto compiled) {
      attention::finish_row(compiled, {&elements, 0, e.dim(), of_row, floors.of(place)},
                            entries_of(e, static_cast<std::int64_t>(k)));
    });
    e.exempt[k] = sums.overflow > 0 ? 1 : 0;
    const double sum = sums.spread[0];
    const bool deviates =
        sum > 0 && !is_alike && attention::scores_vary(dense_) && (of_rows[k].varies || !rounds);
    e.share[k] = deviates ? sums.spread_squares[0] / engine::square(sum) : 0;
  };
  attention::each_output_row(dense_, arithmetic_, rows, of_rows, take);
  add_channels(e);
  return e;
}

/// Equation E16. Adds 1 / D_eff to the variance share of every row with a share above 0. D_eff is
/// the effective number of independent channels of the row's head.
void ForwardBasis::add_channels(Expectation& e) const {
  std::int64_t head = -1;
  double channels = 1;
  for (std::size_t k = 0; k < e.rows.size(); ++k) {
    if (!(e.share[k] > 0)) continue;
    const attention::Op::Problem& p = dense_.problem;
    const spec::RowPosition place = dense_.queries.position(e.rows[k]);
    const std::int64_t own = place.b * p.heads_kv + place.n / p.group();
    if (own != head) channels = channels_of(dense_, place.b, place.n / p.group());
    head = own;
    e.share[k] += 1 / channels;
  }
}

std::vector<TileSums> ForwardBasis::tile_sums(bool averages) const {
  if (std::ssize(judged_) == dense_.queries.rows()) return {};
  const attention::Op::Problem& p = dense_.problem;
  TileSums sums{
      .name = "attention_out", .extents = output_extents(dense_), .signs = RowSigns(seed_)};
  // The largest number of multiplications for tile sums. If all tiles cost more, only every k-th
  // tile is summed.
  constexpr double affordable = 1e12;
  double cost = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    cost += static_cast<double>(p.heads_q * p.length_q(b)) *
            static_cast<double>(p.length_kv(b) * (dense_.width() + p.head_dim_v));
  const auto every = static_cast<std::size_t>(std::ceil(std::max(1.0, cost / affordable)));
  std::vector<std::int64_t> rows;
  std::vector<std::size_t> tile_of;
  std::size_t number = seed_ % every;
  for (const Tile& tile : tiles_of(sums.extents)) {
    if (number++ % every != 0) continue;
    for (std::int64_t r = 0; r < tile.count; ++r) {
      rows.push_back(sums.extents.row(tile.b, tile.n, tile.first + r));
      tile_of.push_back(sums.tiles.size());
    }
    sums.tiles.push_back(tile);
  }
  sums.resize(sums.tiles.size());
  sums.lambda = averages ? azuma_factor(std::ssize(sums.tiles) * p.head_dim_v) : 0;
  sums.written_share = 2 * arithmetic_.u;
  if (arithmetic_.numerics.partials != spec::DType::fp32)
    sums.written_share += 2 * unit_roundoff(arithmetic_.io);
  add_tiles(rows, tile_of, averages, sums);
  return {std::move(sums)};
}

/// Adds values and errors of the rows to the sums of their tiles (blocks of rows). Errors of
/// different rows are independent, except those that rows have in common. The error of the final
/// cast is added later, when the kernel's rows are known.
void ForwardBasis::add_tiles(const std::vector<std::int64_t>& rows,
                             const std::vector<std::size_t>& tile_of, bool averages,
                             TileSums& sums) const {
  const auto dim = at(sums.extents.dim);
  const std::vector<ForwardRow> of_rows = attention::forward_rows(dense_, arithmetic_, rows);
  std::vector<engine::Element> all(sums.tiles.size() * dim);
  std::vector<std::mutex> locks(sums.tiles.size());
  attention::each_output_row(
      dense_, arithmetic_, rows, of_rows,
      [&](std::size_t k, const engine::ElementRow& elements, const engine::RowSums& of_row) {
        const std::scoped_lock lock(locks[tile_of[k]]);
        const double sign = sums.signs(rows[k]);
        sums.exempt[tile_of[k]] |= of_row.overflow > 0 ? 1 : 0;
        for (std::size_t d = 0; d < dim; ++d) {
          const engine::Element x = elements[d];
          engine::Element& to = all[tile_of[k] * dim + d];
          to.value += sign * x.value, to.magnitude += x.magnitude;
          to.rigorous += x.rigorous, to.shared += x.shared;
          to.squares += of_rows[k].alike * x.squares;
        }
      });
  engine::Output output = output_of_rows(arithmetic_, 1);
  output.lambda = sums.lambda, output.averages = averages && arithmetic_.mean_free;
  output.store = {}, output.roundings = 0, output.parts = {};
  Floors floors(dense_, arithmetic_.phi);
  for (std::size_t k = 0; k < sums.tiles.size(); ++k) {
    const Tile& tile = sums.tiles[k];
    const double* floor = floors.of({tile.b, tile.n, tile.first});
    output.chain =
        engine::chain_of(static_cast<double>(dense_.key_pattern->entries_of_query(tile.b)), output);
    for (std::size_t d = 0; d < dim; ++d) {
      const engine::Element& x = all[k * dim + d];
      const auto bound = engine::bound_of(x, output, static_cast<double>(tile.count) * floor[d]);
      sums.value[k * dim + d] = x.value;
      sums.tolerance[k * dim + d] = bound.probable;
      sums.tolerance_det[k * dim + d] = bound.proven;
      sums.radius[k * dim + d] = bound.radius + 0x1p-46 * x.magnitude;
    }
  }
}

std::vector<Finding> ForwardBasis::check_structure(const ForwardTensors& outputs) const {
  std::vector<Finding> findings;
  const auto check = [&](const std::string& name, const spec::Tensor& tensor) {
    check_storage(name, tensor, findings);
    check_copies(name, tensor, dense_.queries.rows(), findings);
  };
  check("softmax_max", outputs.softmax_max);
  check("softmax_sum", outputs.softmax_sum);
  check_storage("attention_out", outputs.attention_out, findings);
  check_rows(outputs.attention_out, findings);
  return findings;
}

/// Checks that a row without an unmasked key is zero, apart from the small numbers that masked
/// pairs may leave. Checks that other rows are finite if nothing can overflow.
void ForwardBasis::check_rows(const spec::Tensor& output, std::vector<Finding>& findings) const {
  const spec::Extents extents = output_extents(dense_);
  const spec::HeadView view(output, dense_.problem.input_layout, extents);
  StructureFindings nonzero("attention_out", FactKind::nonzero_without_key, findings, 0);
  StructureFindings infinite("attention_out", FactKind::infinite, findings);
  Floors residues(dense_, 1);
  std::vector<double> row(at(extents.dim));
  std::vector<std::uint8_t> times;
  std::int64_t dead = 0;
  for (std::int64_t number = 0; number < extents.rows(); ++number) {
    const spec::RowPosition place = extents.position(number);
    const bool zero = !attends(place, times);
    dead += zero ? 1 : 0;
    view.read_row(place.b, place.n, place.s, row);
    const double* residue = residues.of(place);
    for (std::int64_t d = 0; d < extents.dim; ++d) {
      const double x = row[at(d)];
      if (zero ? x == 0 : std::isfinite(x)) continue;
      const Finding finding{.b = place.b, .n = place.n, .s = place.s, .d = d, .actual = x};
      if (zero && !(std::abs(x) <= arithmetic_.phi * residue[d])) nonzero.add(finding);
      if (!zero && 2 * residue[d] < overflow_threshold(arithmetic_.io)) infinite.add(finding);
    }
  }
  findings.push_back(counted("queries_without_key", dead));
}

bool ForwardBasis::attends(const spec::RowPosition& query, std::vector<std::uint8_t>& times) const {
  if (dense_.keys.length(query.b) == 0) return false;
  const std::vector<std::int64_t> keys = dense_.key_pattern->keys(query);
  times.resize(keys.size());
  return dense_.key_pattern->count(query, keys, times);
}

std::vector<double> ForwardBasis::statistics(const spec::Tensor& tensor,
                                             std::span<const std::int64_t> rows) const {
  const spec::AttentionProblem& p = dense_.problem;
  const bool by_token =
      is_packed(p.input_layout) && p.statistics_order == spec::StatisticsOrder::tokens_first;
  std::vector<double> values;
  for (const std::int64_t row : rows) {
    const auto [b, n, s] = dense_.queries.position(row);
    const std::int64_t token = dense_.queries.start(b) + s;
    values.push_back(
        tensor.load(element_of(tensor, by_token ? token * dense_.queries.heads + n : row)));
  }
  return values;
}

double ForwardBasis::transported(std::int64_t number, double max, double sum) const {
  const ForwardRow& of = row(number);
  return of.keys == 0 ? sum : sum * std::exp(max - of.max);
}

std::vector<double> ForwardBasis::values(const RowsOf& rows, const ForwardTensors& outputs) const {
  if (rows.tensor == "attention_out") {
    const spec::HeadView view(outputs.attention_out, dense_.problem.input_layout, rows.extents);
    std::vector<double> values(at(std::ssize(rows.rows) * rows.extents.dim));
    double* to = values.data();
    for (const std::int64_t number : rows.rows) {
      const auto [b, n, s] = rows.extents.position(number);
      view.read_row(b, n, s, {to, at(rows.extents.dim)});
      to += rows.extents.dim;
    }
    return values;
  }
  std::vector<double> max = statistics(outputs.softmax_max, rows.rows);
  std::vector<double> sum = statistics(outputs.softmax_sum, rows.rows);
  const bool is_max = rows.tensor == "softmax_max";
  if (attention::saves_lse(numerics())) {
    for (std::size_t k = 0; k < max.size(); ++k) max[k] = attention::log_sum_exp(max[k], sum[k]);
    return max;
  }
  for (std::size_t k = 0; k < max.size(); ++k) {
    const std::int64_t number = rows.rows[k], b = dense_.queries.position(number).b;
    // The documents do not define the statistics of a sequence without keys. With a sink, the judge
    // accepts two results: softmax_max = sink and softmax_sum = 1, or both 0, which the vendor's
    // code writes.
    if (dense_.keys.length(b) == 0 && !dense_.sinks.empty() && max[k] == 0 && sum[k] == 0)
      max[k] = row(number).max, sum[k] = row(number).sum;
    else if (dense_.keys.length(b) == 0 && dense_.sinks.empty() &&
             attention::is_of_no_key(max[k], sum[k]))
      max[k] = attention::dead_statistics.max, sum[k] = attention::dead_statistics.sum;
    else if (!is_max)
      sum[k] = transported(number, max[k], sum[k]);
  }
  return is_max ? max : sum;
}

}  // namespace assay::conformance
