#include "attention/bound/bound.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "assay/engine/blocks/sweep.hpp"
#include "assay/parallel/loop.hpp"
#include "attention/bound/cancellation.hpp"
#include "attention/bound/head_pairs.hpp"
#include "attention/bound/parts.hpp"
#include "attention/bound/sums.hpp"
#include "attention/formula/variant.hpp"
#include "attention/variant/variant_pattern.hpp"

namespace assay::conformance::attention {
namespace {

/// Returns whether all dP get the same relative error from the rounding of kappa = 1 / keep_prob
/// (the dropout scale). The answer is true for fp32 tensors if fp32 cannot represent kappa; the
/// other errors of dP are then not larger than this one.
bool shares_kappa_error(const Dense& dense, const Arithmetic& arithmetic) {
  return (arithmetic.io == spec::DType::fp32 || judged_part(dense)) &&
         static_cast<double>(static_cast<float>(dense.largest_kappa)) != dense.largest_kappa;
}

/// Returns whether the rows of dv have a common rounding error that the bound does not contain as
/// drift (a rounding error with a known value). If softmax is near one-hot, many rows store the
/// same product kappa * 1 (kappa = 1 / keep_prob) with the same rounding error. The bound does not
/// contain this error if there is a bias. It also does not contain it if large scores have rounding
/// errors that can move kappa P to a tie between two numbers.
bool shares_kappa_rounding(const Dense& dense, const Arithmetic& arithmetic) {
  const attention::Call call = call_of(dense, arithmetic);
  if (call.kappa == 1 || !call.stage_prob.rounds()) return false;
  const double score = std::abs(dense.scale) * std::sqrt(dense.largest_query * dense.largest_key);
  constexpr double deviations = 8, others = 6;  // others: roundings outside the sum
  const double noise = deviations * (others + std::sqrt(call.dim)) * arithmetic.u * score;
  const bool is_known = !call.biased && call.stage_prob.drift(call.kappa, noise * call.kappa) != 0;
  return call.stage_prob.drift(call.kappa, 0.0) != 0 && !is_known;
}

/// Returns whether the row terms (sums of dy times attention_in) of many rows have the same
/// rounding error. This happens if the kernel computes the row term from its own output, and its
/// type for P cannot represent kappa (1 / keep_prob). In each row the kernel then rounds the same
/// product: kappa times the largest weight, 1.
bool shares_output_rounding(const Dense& dense, const Arithmetic& arithmetic) {
  const attention::Call call = call_of(dense, arithmetic);
  return arithmetic.numerics.delta == spec::RowTerm::own_output && call.stage_prob.rounds() &&
         call.stage_prob.drift(call.kappa, 0.0) != 0;
}

/// Returns whether the errors in a row vary independently. If they do not, R and b (the root mean
/// square and the mean of the errors, equation E29) have no meaning.
bool deviates(const Dense& dense, const Arithmetic& arithmetic, const Part& part) {
  // If all probabilities P are equal, every stored P has the same rounding error.
  if (!scores_vary(dense) && arithmetic.numerics.store_p != spec::DType::fp32) return false;
  return part.name == "dv" ? !shares_kappa_rounding(dense, arithmetic)
                           : !shares_output_rounding(dense, arithmetic);
}

/// Returns one flag per kv head: 1 if at least one of its rows is judged.
std::vector<std::uint8_t> judged_heads(const Dense& dense, const Tensor& tensor) {
  const spec::Extents& extents = tensor.frame.extents;
  const std::int64_t rows_per_head = extents.heads / dense.problem.heads_kv;
  std::vector<std::uint8_t> judged(tensor.channels.size(), 0);
  for (const std::int64_t row : tensor.judged) {
    const spec::RowPosition place = extents.position(row);
    judged[at(place.b * dense.problem.heads_kv + place.n / rows_per_head)] = 1;
  }
  return judged;
}

/// Equation E16. For every kv head that has a judged row, sets the effective number of independent
/// channels of the rows that the kernel sums into this gradient tensor.
template <class RowsOfHead>
void fill_channels(const Dense& dense, Tensor& tensor, RowsOfHead&& rows_of_head) {
  const std::vector<std::uint8_t> judged = judged_heads(dense, tensor);
  dense.each_chunk([&](std::int64_t first, std::int64_t last) {
    parallel::for_each(last - first, [&](std::int64_t k) {
      const std::int64_t head = first + k;
      if (judged[at(head)] == 0) return;
      std::vector<FloatRow> rows =
          rows_of_head(head / dense.problem.heads_kv, head % dense.problem.heads_kv);
      for (FloatRow& row : rows) row = row.from(tensor.part.first);
      tensor.channels[at(head)] = effective_channels(rows, tensor.part.dim);
    });
  });
}

std::vector<FloatRow> keys_of(const Dense& dense, std::int64_t b, std::int64_t kv) {
  std::vector<FloatRow> rows;
  for (std::int64_t j = 0; j < dense.keys.length(b); ++j) rows.push_back(dense.key(b, kv, j));
  return rows;
}

/// Returns pointers to the rows of Q (or of dO) of all query heads that share one kv head.
template <class Row>
std::vector<FloatRow> group_rows(const Dense& dense, std::int64_t b, std::int64_t kv, Row&& row) {
  const std::int64_t group = dense.problem.group();
  std::vector<FloatRow> rows;
  for (std::int64_t n = kv * group; n < (kv + 1) * group; ++n)
    for (std::int64_t i = 0; i < dense.queries.length(b); ++i) rows.push_back(row(b, n, i));
  return rows;
}

/// Returns the judged rows with numbers in [begin, begin + count), relative to `begin`.
/// Extents::row defines the numbers.
Slice slice_of(const std::vector<std::int64_t>& judged, std::int64_t begin, std::int64_t count) {
  const auto from = std::ranges::lower_bound(judged, begin);
  const auto to = std::lower_bound(from, judged.end(), begin + count);
  Slice slice = {from - judged.begin(), {from, to}};
  for (std::int64_t& row : slice.rows) row -= begin;
  return slice;
}

/// elements_over: if dk and dv of one head have more elements than this, the judge computes them in
/// several passes, separately from dq, because their sums take about 60 bytes per element.
/// key_rows: the number of keys in a block.
constexpr std::int64_t elements_over = std::int64_t{1} << 20, key_rows = engine::BlockShape().keys;

/// Computes expected values and tolerances of the judged rows, for all heads.
class HeadSweeps {
 public:
  HeadSweeps(const Pass& pass, const JudgedRows& judged, Tensors& of_queries, Tensors& of_keys)
      : pass_(pass), judged_(judged), of_queries_(of_queries), of_keys_(of_keys) {}

  void run() {
    const Op::Problem& p = pass_.dense.problem;
    std::int64_t most = 0;
    for (std::int64_t b = 0; b < p.batch; ++b)
      most = std::max(most, p.group() * p.length_q(b) * p.length_kv(b));
    const bool large = most > pairs_of_large_head;
    threads_ = large ? 0 : 1;
    pass_.dense.each_chunk([&](std::int64_t first, std::int64_t last) {
      parallel::for_each(
          last - first,
          [&](std::int64_t k) {
            const std::int64_t head = first + k;
            sweep({head / p.heads_kv, head % p.heads_kv, 0});
          },
          large ? 1 : 0);
    });
  }

 private:
  static constexpr std::uint32_t bit(std::size_t sum) { return std::uint32_t{1} << sum; }

  void sweep(const spec::RowPosition& key_head) {
    using Formula = attention::HeadFormula;
    const Dense& dense = pass_.dense;
    const auto [b, kv, none] = key_head;
    const std::int64_t group = dense.problem.group(), queries = group * dense.queries.length(b),
                       keys = dense.keys.length(b);
    const Slice of_queries = slice_of(judged_.query, dense.queries.row(b, kv * group, 0), queries);
    const Slice of_keys = slice_of(judged_.key, dense.keys.row(b, kv, 0), keys);
    HeadSink sink(pass_, key_head, of_queries, of_keys, of_queries_, of_keys_);
    const auto all_queries = ascending(0, queries), all_keys = ascending(0, keys);
    const std::uint32_t within = bit(Formula::dq), over = bit(Formula::dk) | bit(Formula::dv);
    const bool is_long = keys * (dense.width() + dense.problem.head_dim_v) > elements_over;
    if (of_queries.rows == all_queries && of_keys.rows == all_keys && !is_long)
      return sweep(key_head, all_queries, all_keys, within | over, sink);
    if (!of_queries.rows.empty()) sweep(key_head, of_queries.rows, all_keys, within, sink);
    // The number of keys in one pass. For each of these keys, the sums over all queries must fit in
    // memory.
    const std::int64_t most = std::max(
        key_rows, elements_over / (dense.width() + dense.problem.head_dim_v) / key_rows * key_rows);
    for (std::int64_t first = 0; first < std::ssize(of_keys.rows); first += most) {
      Slice some = {of_keys.first + first, {}};
      const auto begin = of_keys.rows.begin() + first;
      some.rows.assign(begin, begin + std::min(most, std::ssize(of_keys.rows) - first));
      HeadSink to(pass_, key_head, of_queries, some, of_queries_, of_keys_);
      sweep(key_head, all_queries, some.rows, over, to);
    }
  }

  void sweep(const spec::RowPosition& key_head, const std::vector<std::int64_t>& queries,
             const std::vector<std::int64_t>& keys, std::uint32_t wanted, HeadSink& sink) const {
    using Streams = engine::ToleranceStreams<attention::symbols>;
    const Dense& dense = pass_.dense;
    const HeadPairs pairs(dense, pass_.arithmetic, pass_.rows, key_head, queries, keys);
    const bool in_parts =
        pass_.arithmetic.numerics.partials != spec::DType::fp32 && dense.problem.group() > 1;
    const engine::BlockShape shape = {
        .threads = threads_,
        .wanted = wanted,
        .rows_of_part = in_parts ? dense.queries.length(key_head.b) : 0};
    const auto sweep_with = [&]<class Formula>(const Formula& formula) {
      engine::BlockSweep<Streams, Formula>(formula, pairs, shape, sink).run();
    };
    if (variant_ == nullptr) return sweep_with(attention::HeadFormula(pairs.head()));
    const HeadPlaces places(*variant_, key_head, dense.problem.group(),
                            dense.queries.length(key_head.b), queries, keys);
    sweep_with(VariantFormula(pairs.head(), places, largest_slope_));
  }

  const Pass& pass_;
  const JudgedRows& judged_;
  Tensors &of_queries_, &of_keys_;
  const Variant* variant_ = score_variant_of(pass_.dense);
  double largest_slope_ = largest_slope_of(pass_.dense);
  std::int64_t threads_ = 1;
};

/// Returns whether the mean of the errors is a useful statistic: the scores must vary, and the
/// errors must not have one common cause.
bool is_biasable(const Dense& dense, const Arithmetic& arithmetic) {
  return scores_vary(dense) && !shares_kappa_error(dense, arithmetic);
}

/// The gradient tensors in two groups: dq and its rope part belong to queries; dk, its rope part
/// and dv belong to keys.
struct AllTensors {
  AllTensors(const Dense& dense, const Arithmetic& arithmetic, const JudgedRows& judged) {
    const bool biasable = is_biasable(dense, arithmetic);
    for (const Part& part : parts_of(dense.problem, "dq"))
      of_queries.emplace_back(dense, arithmetic, part, dense.queries, judged.query, biasable);
    std::vector<Part> parts = parts_of(dense.problem, "dk");
    parts.push_back({"dv", 0, dense.problem.head_dim_v});
    for (const Part& part : parts)
      of_keys.emplace_back(dense, arithmetic, part, dense.keys, judged.key, biasable);
  }
  Tensors of_queries, of_keys;
};

void fill_channels(const Dense& dense, Tensors& of_queries, Tensors& of_keys) {
  for (Tensor& tensor : of_queries)
    fill_channels(dense, tensor, [&](auto b, auto kv) { return keys_of(dense, b, kv); });
  for (Tensor& tensor : of_keys)
    fill_channels(dense, tensor, [&](auto b, auto kv) {
      return &tensor == &of_keys.back()
                 ? group_rows(dense, b, kv, [&](auto... row) { return dense.dy(row...); })
                 : group_rows(dense, b, kv, [&](auto... row) { return dense.query(row...); });
    });
}

}  // namespace

/// E29.
bool scores_vary(const Dense& dense) {
  constexpr double least = 0x1p-6;
  // A user's score formula may make all scores equal.
  if (score_variant_of(dense) != nullptr) return false;
  // A bias of pse_type 0 always makes scores differ enough. The other types may not: slopes
  // (pse_type 2 and 3) repeat along diagonals, and the bias of pse_type 1 is multiplied by
  // scale_value, which may be near 0.
  if (dense.position_bias.present() && dense.problem.pse_type == 0) return true;
  return std::abs(dense.scale) * std::sqrt(dense.largest_query * dense.largest_key) > least;
}

std::vector<Part> parts_of(const Op::Problem& p, const std::string& name) {
  std::vector<Part> parts = {{name, 0, p.head_dim}};
  if (p.head_dim_rope > 0) parts.push_back({name + "_rope", p.head_dim, p.head_dim_rope});
  return parts;
}

std::vector<Expectation> frames(const Dense& dense, const Arithmetic& arithmetic,
                                const JudgedRows& judged) {
  auto [of_queries, of_keys] = AllTensors(dense, arithmetic, judged);
  std::vector<Expectation> all;
  const auto add = [&](Tensor& tensor) {
    tensor.frame.rows = tensor.judged;
    all.push_back(std::move(tensor.frame));
  };
  add(of_queries.front()), add(of_keys.front()), add(of_keys.back());
  if (of_queries.size() > 1) add(of_queries[1]), add(of_keys[1]);
  return all;
}

void each_part(const Dense& dense, const Arithmetic& arithmetic, const AllRowTerms& rows,
               const JudgedRows& judged, const TakePart& take) {
  const Floor floor = floor_of(dense);
  const CancellingRows cancelling = cancelling_rows(dense, arithmetic, rows);
  const Pass pass{dense, arithmetic, rows, floor, cancelling, take};
  auto [of_queries, of_keys] = AllTensors(dense, arithmetic, judged);
  for (Tensors* tensors : {&of_queries, &of_keys})
    for (Tensor& tensor : *tensors) tensor.deviates = deviates(dense, arithmetic, tensor.part);
  fill_channels(dense, of_queries, of_keys);
  HeadSweeps(pass, judged, of_queries, of_keys).run();
}

std::vector<Expectation> expectations(const Dense& dense, const Arithmetic& arithmetic,
                                      const AllRowTerms& rows, const JudgedRows& judged) {
  return collected(frames(dense, arithmetic, judged),
                   [&](const TakePart& take) { each_part(dense, arithmetic, rows, judged, take); });
}

}  // namespace assay::conformance::attention
