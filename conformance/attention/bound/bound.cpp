#include "attention/bound/bound.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "assay/conformance/judge/vector_loops.hpp"
#include "assay/engine/blocks/sweep.hpp"
#include "assay/parallel/loop.hpp"
#include "attention/bound/cancellation.hpp"
#include "attention/bound/finish.hpp"
#include "attention/bound/head_pairs.hpp"
#include "attention/bound/sums.hpp"

namespace assay::conformance::flash {
namespace {

/// Whether every dP carries the same relative error, which is no smaller than the others: 1 /
/// keep_prob is no fp32 number.
bool shares_kappa_error(const Dense& dense, const Arithmetic& arithmetic) {
  return arithmetic.io == spec::DType::fp32 &&
         static_cast<double>(static_cast<float>(dense.largest_kappa)) != dense.largest_kappa;
}

/// One output tensor while it is made.
struct Tensor {
  Tensor(const Dense& dense, Part tensor_part, spec::Extents extents,
         const std::vector<std::int64_t>& judged, bool biasable)
      : part(std::move(tensor_part)),
        lambda(azuma_factor(extents.rows() * part.dim)),
        channels(at(dense.problem.batch * dense.problem.heads_kv)) {
    extents.dim = part.dim;
    e.name = part.name;
    e.extents = std::move(extents);
    e.rows = judged;
    e.make_room(e.row_count());
    e.biasable = biasable;
  }

  /// E16. Of the judged row k, whose keys are those of a kv head.
  void set_share(std::int64_t k, std::int64_t head, double concentration) {
    if (concentration > 0) e.share[at(k)] = 1 / channels[at(head)] + concentration;
  }

  Part part;
  Expectation e;
  double lambda;                 ///< all elements share the probability of a false alarm
  std::vector<double> channels;  ///< (b, kv): effective channels of the rows that are summed
};

/// All that the passes share.
struct Pass {
  const Dense& dense;
  const Arithmetic& arithmetic;
  const AllRowTerms& rows;
  const Floor& floor;
};

/// Effective channels, per kv head with a judged row, of the rows that `part` of a gradient sums.
template <class RowsOfHead>
void fill_channels(const Dense& dense, Tensor& tensor, RowsOfHead&& rows_of_head) {
  const std::int64_t rows_per_head = tensor.e.extents.heads / dense.problem.heads_kv;
  std::vector<std::uint8_t> judged(tensor.channels.size(), 0);
  for (const std::int64_t row : tensor.e.rows) {
    const spec::RowPosition place = tensor.e.extents.position(row);
    judged[at(place.b * dense.problem.heads_kv + place.n / rows_per_head)] = 1;
  }
  parallel::for_each(std::ssize(judged), [&](std::int64_t head) {
    if (judged[at(head)] == 0) return;
    std::vector<const double*> rows =
        rows_of_head(head / dense.problem.heads_kv, head % dense.problem.heads_kv);
    for (const double*& row : rows) row += tensor.part.first;
    tensor.channels[at(head)] = effective_channels(rows, tensor.part.dim);
  });
}

std::vector<const double*> keys_of(const Dense& dense, std::int64_t b, std::int64_t kv) {
  std::vector<const double*> rows;
  for (std::int64_t j = 0; j < dense.keys.length(b); ++j) rows.push_back(dense.key(b, kv, j));
  return rows;
}

/// Rows of Q, or of dO, of the query heads of a group.
template <class Row>
std::vector<const double*> group_rows(const Dense& dense, std::int64_t b, std::int64_t kv,
                                      Row&& row) {
  const std::int64_t group = dense.problem.group();
  std::vector<const double*> rows;
  for (std::int64_t n = kv * group; n < (kv + 1) * group; ++n)
    for (std::int64_t i = 0; i < dense.queries.length(b); ++i) rows.push_back(row(b, n, i));
  return rows;
}

/// Entries [first, first + rows.size()) of the judged rows of a tensor: those of one key head, by
/// their places among the head's rows.
struct Slice {
  std::int64_t first = 0;
  std::vector<std::int64_t> rows;
};

/// Of rows [begin, begin + count) in the order of Extents::row.
Slice slice_of(const std::vector<std::int64_t>& judged, std::int64_t begin, std::int64_t count) {
  const auto from = std::ranges::lower_bound(judged, begin);
  const auto to = std::lower_bound(from, judged.end(), begin + count);
  Slice slice = {from - judged.begin(), {from, to}};
  for (std::int64_t& row : slice.rows) row -= begin;
  return slice;
}

/// The entries of judged row k.
RowEntries entries_of(Expectation& e, std::int64_t k) {
  const std::int64_t first = k * e.dim();
  return {.value = e.value.data() + first,
          .radius = e.radius.data() + first,
          .tau = e.tau.data() + first,
          .tau_det = e.tau_det.data() + first,
          .sigma = e.sigma.data() + first,
          .floor = e.floor.data() + first,
          .drift = e.drift.data() + first,
          .core = e.core.data() + first,
          .accumulation = e.accumulation.data() + first,
          .extra = e.extra.data() + first};
}

/// Finishes the rows of one key head as the engine hands them out.
class HeadSink : public engine::Sink {
 public:
  HeadSink(const Pass& pass, const spec::RowPosition& key_head, const Slice& queries,
           const Slice& keys, std::vector<Tensor>& of_queries, std::vector<Tensor>& of_keys)
      : pass_(pass),
        head_(key_head.b * pass.dense.problem.heads_kv + key_head.n),
        queries_(queries),
        keys_(keys),
        of_queries_(of_queries),
        of_keys_(of_keys) {}

  void take(std::size_t sum, std::int64_t row, std::span<const engine::Element> elements,
            const engine::RowSums& beside) override {
    using Formula = attention::HeadFormula;
    if (sum == Formula::dq)
      for (std::size_t kind = 0; kind < of_queries_.size(); ++kind)
        finish_query(queries_.first + row, elements, beside, kind);
    else if (sum == Formula::dk)
      for (std::size_t kind = 0; kind + 1 < of_keys_.size(); ++kind)
        finish_key(keys_.first + row, elements, beside, kind, of_keys_[kind]);
    else
      finish_key(keys_.first + row, elements, beside, 0, of_keys_.back());
  }

 private:
  /// E16. sum q^2 / (sum q)^2: 1 / number of pairs that matter.
  static double concentration(const engine::RowSums& beside, std::size_t kind) {
    const double sum = beside.spread[kind];
    return sum > 0 ? beside.spread_squares[kind] / square(sum) : 0;
  }

  void finish_query(std::int64_t k, std::span<const engine::Element> elements,
                    const engine::RowSums& beside, std::size_t kind) {
    const Arithmetic& n = pass_.arithmetic;
    Tensor& tensor = of_queries_[kind];
    const std::int64_t first = tensor.part.first, dim = tensor.part.dim;
    const spec::RowPosition place = pass_.dense.queries.position(tensor.e.rows[at(k)]);
    std::vector<double> floor(at(dim));
    for (std::int64_t d = 0; d < dim; ++d)
      floor[at(d)] = n.phi * pass_.floor.dq(pass_.dense, place, first + d);
    finish(k, tensor,
           {.elements = elements.data() + first,
            .count = dim,
            .factor = pass_.dense.scale,
            .terms = static_cast<double>(pass_.dense.key_pattern->entries_of_query(place.b)),
            .operand = n.u_k,
            .lost = n.eta_k * beside.size,
            .floor = floor.data()});
    end_row(k, beside, kind, tensor);
  }

  void finish_key(std::int64_t k, std::span<const engine::Element> elements,
                  const engine::RowSums& beside, std::size_t kind, Tensor& tensor) {
    const bool is_dv = &tensor == &of_keys_.back();
    const Dense& dense = pass_.dense;
    const std::int64_t first = tensor.part.first, dim = tensor.part.dim;
    const double* floor = is_dv ? pass_.floor.dv.data() + head_ * dim
                                : pass_.floor.dk.data() + head_ * dense.width() + first;
    const std::int64_t entries =
        dense.key_pattern->entries_of_key(tensor.e.extents.position(tensor.e.rows[at(k)]));
    // A key that no query can attend to has no residues.
    const double residue = entries == 0 ? 0 : pass_.arithmetic.phi;
    std::vector<double> residues(floor, floor + dim);
    for (double& one : residues) one *= residue;
    finish(k, tensor,
           {.elements = elements.data() + first,
            .count = dim,
            .factor = is_dv ? 1 : dense.scale,
            .terms = static_cast<double>(entries),
            .heads = static_cast<double>(dense.problem.group()),
            .floor = residues.data()});
    end_row(k, beside, kind, tensor);
  }

  void finish(std::int64_t k, Tensor& tensor, const SummedRow& row) {
    engine::read_with(engine::Instructions::fastest, [&](auto compiled) {
      finish_row(compiled, pass_.arithmetic, tensor.lambda, row, entries_of(tensor.e, k));
    });
  }

  void end_row(std::int64_t k, const engine::RowSums& beside, std::size_t kind, Tensor& tensor) {
    tensor.e.exempt[at(k)] = beside.overflow > 0 ? 1 : 0;
    tensor.set_share(k, head_, concentration(beside, kind));
  }

  const Pass& pass_;
  std::int64_t head_;
  const Slice &queries_, &keys_;
  std::vector<Tensor>&of_queries_, &of_keys_;
};

/// Pairs of a head beyond which its blocks are shared by threads, and heads come one after the
/// other.
constexpr std::int64_t pairs_of_large_head = std::int64_t{1} << 22;

/// Makes the judged rows of all heads.
class HeadSweeps {
 public:
  HeadSweeps(const Pass& pass, const JudgedRows& judged, std::vector<Tensor>& of_queries,
             std::vector<Tensor>& of_keys)
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
    if (of_queries.rows == all_queries && of_keys.rows == all_keys)
      return sweep(key_head, all_queries, all_keys, within | over, sink);
    if (!of_queries.rows.empty()) sweep(key_head, of_queries.rows, all_keys, within, sink);
    if (!of_keys.rows.empty()) sweep(key_head, all_queries, of_keys.rows, over, sink);
  }

  void sweep(const spec::RowPosition& key_head, const std::vector<std::int64_t>& queries,
             const std::vector<std::int64_t>& keys, std::uint32_t wanted, HeadSink& sink) const {
    using Streams = engine::ToleranceStreams<attention::symbols>;
    const Dense& dense = pass_.dense;
    const HeadPairs pairs(dense, pass_.arithmetic, pass_.rows, key_head, queries, keys);
    const attention::HeadFormula formula(pairs.head());
    const bool in_parts =
        pass_.arithmetic.numerics.partials != spec::DType::fp32 && dense.problem.group() > 1;
    const engine::Sweep shape = {.threads = threads_,
                                 .wanted = wanted,
                                 .rows_of_part = in_parts ? dense.queries.length(key_head.b) : 0};
    engine::BlockSweep<Streams, attention::HeadFormula>(formula, pairs, shape, sink).run();
  }

  const Pass& pass_;
  const JudgedRows& judged_;
  std::vector<Tensor>&of_queries_, &of_keys_;
  std::int64_t threads_ = 1;
};

std::vector<Tensor> query_tensors(const Pass& pass, const JudgedRows& judged, bool biasable) {
  const Dense& dense = pass.dense;
  std::vector<Tensor> tensors;
  for (const Part& part : parts_of(dense.problem, "dq")) {
    tensors.emplace_back(dense, part, dense.queries, judged.query, biasable);
    fill_channels(dense, tensors.back(), [&](auto b, auto kv) { return keys_of(dense, b, kv); });
  }
  return tensors;
}

/// The parts of dk, then dv.
std::vector<Tensor> key_tensors(const Pass& pass, const JudgedRows& judged, bool biasable) {
  const Dense& dense = pass.dense;
  std::vector<Tensor> tensors;
  for (const Part& part : parts_of(dense.problem, "dk")) {
    tensors.emplace_back(dense, part, dense.keys, judged.key, biasable);
    fill_channels(dense, tensors.back(), [&](auto b, auto kv) {
      return group_rows(dense, b, kv, [&](auto... row) { return dense.query(row...); });
    });
  }
  tensors.emplace_back(dense, Part{"dv", 0, dense.problem.head_dim_v}, dense.keys, judged.key,
                       biasable);
  fill_channels(dense, tensors.back(), [&](auto b, auto kv) {
    return group_rows(dense, b, kv, [&](auto... row) { return dense.dy(row...); });
  });
  return tensors;
}

/// The references of rows that cancel are exact.
void set_zeros(const std::vector<std::uint8_t>& cancelling, Expectation& e) {
  for (std::int64_t k = 0; k < e.row_count(); ++k)
    if (cancelling[at(e.rows[at(k)])] != 0)
      for (Entries<double>* field : {&e.value, &e.radius})
        std::fill_n(field->begin() + k * e.dim(), e.dim(), 0.0);
}

}  // namespace

/// E29.
bool scores_vary(const Dense& dense) {
  constexpr double least = 0x1p-6;
  // Slopes repeat along diagonals, and what pseType 1 adds is scaled like the rest.
  if (dense.position_bias.present() && dense.problem.pse_type == 0) return true;
  double query = 0, key = 0;
  const auto largest = [&](const spec::Extents& e, auto row, double& norm) {
    for (std::int64_t b = 0; b < e.batch; ++b)
      for (std::int64_t n = 0; n < e.heads; ++n)
        for (std::int64_t s = 0; s < e.length(b); ++s)
          norm = std::max(norm, norm_squared(row(b, n, s), e.dim));
  };
  largest(
      dense.queries, [&](auto b, auto n, auto i) { return dense.query(b, n, i); }, query);
  largest(
      dense.keys, [&](auto b, auto n, auto j) { return dense.key(b, n, j); }, key);
  return std::abs(dense.scale) * std::sqrt(query * key) > least;
}

std::vector<Part> parts_of(const Op::Problem& p, const std::string& name) {
  std::vector<Part> parts = {{name, 0, p.head_dim}};
  if (p.head_dim_rope > 0) parts.push_back({name + "_rope", p.head_dim, p.head_dim_rope});
  return parts;
}

std::vector<Expectation> expectations(const Dense& dense, const Arithmetic& arithmetic,
                                      const AllRowTerms& rows, const JudgedRows& judged) {
  const Floor floor = floor_of(dense);
  const Pass pass{dense, arithmetic, rows, floor};
  const bool vary = scores_vary(dense);
  const bool biasable = vary && !shares_kappa_error(dense, arithmetic);
  std::vector<Tensor> of_queries = query_tensors(pass, judged, biasable);
  std::vector<Tensor> of_keys = key_tensors(pass, judged, biasable);
  HeadSweeps(pass, judged, of_queries, of_keys).run();
  const CancellingRows cancelling = cancelling_rows(dense, arithmetic, rows);
  for (Tensor& tensor : of_queries) set_zeros(cancelling.query, tensor.e);
  for (std::size_t part = 0; part + 1 < of_keys.size(); ++part)
    set_zeros(cancelling.key, of_keys[part].e);
  std::vector<Expectation> all;
  all.push_back(std::move(of_queries[0].e));
  all.push_back(std::move(of_keys.front().e));
  all.push_back(std::move(of_keys.back().e));
  if (of_queries.size() > 1) {
    all.push_back(std::move(of_queries[1].e));
    all.push_back(std::move(of_keys[1].e));
  }
  // Where all P are alike, so is the rounding of a stored one: nothing is left to count for R.
  if (!vary && arithmetic.numerics.store_p != spec::DType::fp32)
    for (Expectation& e : all) std::ranges::fill(e.share, 0.0);
  return all;
}

}  // namespace assay::conformance::flash
