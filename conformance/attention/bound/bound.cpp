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
/// channels of the rows `summed` that the kernel sums into this gradient tensor: those of the kv
/// head, or those of the `group` query heads that share it.
void fill_channels(const Dense& dense, Tensor& tensor, const InputRows& summed,
                   std::int64_t group) {
  const std::vector<std::uint8_t> judged = judged_heads(dense, tensor);
  parallel::for_each(std::ssize(judged), [&](std::int64_t head) {
    if (judged[at(head)] == 0) return;
    const std::int64_t b = head / dense.problem.heads_kv, kv = head % dense.problem.heads_kv;
    const HeadRows rows(summed, {b, kv * group, 0}, group);
    tensor.channels[at(head)] = effective_channels(rows.rows(), tensor.part.first, tensor.part.dim);
  });
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

/// elements_over: if a pass over the queries has sums of more elements of dk and dv in memory than
/// this, the judge computes dk and dv in several passes, separately from dq, because the sums take
/// about 60 bytes per element. key_rows: the number of keys in a block.
constexpr std::int64_t elements_over = std::int64_t{5} << 18, key_rows = engine::BlockShape().keys;

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
    parallel::for_each(
        p.batch * p.heads_kv,
        [&](std::int64_t head) {
          sweep({head / p.heads_kv, head % p.heads_kv, 0});
        },
        large ? 1 : 0);
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
    const std::int64_t of_key = dense.width() + dense.problem.head_dim_v;
    const auto fits = [&](std::int64_t count) { return count * of_key <= elements_over; };
    if (of_queries.rows == all_queries && of_keys.rows == all_keys &&
        (fits(keys) || fits(keys_at_once(dense, key_head))))
      return sweep(key_head, all_queries, all_keys, within | over, sink);
    if (!of_queries.rows.empty()) sweep(key_head, of_queries.rows, all_keys, within, sink);
    // The number of keys in one pass. For each of these keys, the sums over all queries must fit in
    // memory.
    const std::int64_t most = std::max(key_rows, elements_over / of_key / key_rows * key_rows);
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
  for (Tensor& tensor : of_queries) fill_channels(dense, tensor, dense.key_rows, 1);
  for (Tensor& tensor : of_keys)
    fill_channels(dense, tensor, &tensor == &of_keys.back() ? *dense.dy_rows : dense.query_rows,
                  dense.problem.group());
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

std::int64_t keys_at_once(const Dense& dense, const spec::RowPosition& key_head) {
  const auto [b, kv, none] = key_head;
  const std::int64_t length = dense.queries.length(b), keys = dense.keys.length(b);
  // Every query head of a group reaches the first keys again.
  if (dense.problem.group() > 1) return keys;
  const auto range_of = [&](std::int64_t i) { return dense.key_pattern->range({b, kv, i}); };
  std::vector<std::int64_t> first(at(length));  // that this query or a later one reaches
  for (std::int64_t i = length - 1, least = keys; i >= 0; --i) {
    const reference::KeyRange range = range_of(i);
    if (range.size() > 0) least = std::min(least, range.first);
    first[at(i)] = least;
  }
  std::int64_t last = 0, most = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    const reference::KeyRange range = range_of(i);
    if (range.size() > 0) last = std::max(last, range.last);
    most = std::max(most, last - first[at(i)]);
  }
  return most;
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
