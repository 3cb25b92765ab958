#include "attention/bound/bound.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "assay/conformance/judge/vector_loops.hpp"
#include "assay/parallel/loop.hpp"
#include "attention/bound/sums.hpp"

namespace assay::conformance::flash {
namespace {

constexpr std::int64_t rows_per_task = 32, keys_per_task = 128;

/// Whether every dP carries the same relative error, which is no smaller than the others: 1 /
/// keep_prob is no fp32 number.
bool shares_kappa_error(const Dense& dense, const Arithmetic& arithmetic) {
  return arithmetic.io == spec::DType::fp32 &&
         static_cast<double>(static_cast<float>(dense.largest_kappa)) != dense.largest_kappa;
}

/// Consecutive judged rows of one head: entries [first, first + count) of the list of judged rows.
struct Block {
  std::int64_t b, n;
  std::int64_t first, count;
};

std::vector<Block> blocks_of(const spec::Extents& extents, const std::vector<std::int64_t>& rows,
                             std::int64_t most) {
  std::vector<Block> blocks;
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(rows.size()); ++k) {
    const spec::RowPosition row = extents.position(rows[at(k)]);
    if (!blocks.empty() && blocks.back().b == row.b && blocks.back().n == row.n &&
        blocks.back().count < most)
      ++blocks.back().count;
    else
      blocks.push_back({row.b, row.n, k, 1});
  }
  return blocks;
}

/// One output tensor while it is made.
struct Tensor {
  Tensor(const Dense& dense, const Arithmetic& arithmetic, Part tensor_part, spec::Extents extents,
         const std::vector<std::int64_t>& judged, bool biasable)
      : part(std::move(tensor_part)),
        finisher(arithmetic, extents.rows() * part.dim),
        channels(at(dense.problem.batch * dense.problem.heads_kv)) {
    extents.dim = part.dim;
    e.name = part.name;
    e.extents = std::move(extents);
    e.rows = judged;
    e.resize(e.row_count());
    e.biasable = biasable;
  }

  /// E16. Of the judged row k, whose keys are those of a kv head.
  void set_share(std::int64_t k, std::int64_t head, double concentration) {
    if (concentration > 0) e.share[at(k)] = 1 / channels[at(head)] + concentration;
  }

  Part part;
  Expectation e;
  Finisher finisher;
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

/// Adds the pairs of one query row with `columns` to row `r` of the sums of every part.
void add_query_row(const Pass& pass, const Columns& columns, const spec::RowPosition& query,
                   const std::vector<Tensor>& tensors, std::int64_t r, Products& products,
                   std::vector<RowSums>& sums) {
  const Dense& dense = pass.dense;
  const RowTerms& terms = pass.rows.rows[at(dense.queries.row(query.b, query.n, query.s))];
  if (!terms.live) return;
  columns.multiply(query.n, query.s, products);
  if (!products.attends) return;
  for (std::size_t c = 0; c < products.times.size(); ++c) {
    if (products.times[c] == 0) continue;
    const PairTerms t = pair_terms(dense, pass.arithmetic, terms, sums_of(products, c));
    const double* row = dense.key(query.b, query.n / dense.problem.group(),
                                  columns.key(static_cast<std::int64_t>(c)));
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      const auto& [name, first, dim] = tensors[k].part;
      const double times = products.times[c];
      add(sums[k], r, repeated(query_summand(t), times), row + first,
          norm_squared(row + first, dim));
      add_scaled(times * t.prob, row + first, dim, sums[k].stream(r, RowSums::prob));
      add_scaled_abs(times * t.prob_error, row + first, dim,
                     sums[k].stream(r, RowSums::prob_error));
    }
  }
}

/// E17. What the errors of statistics and row term of a row add to an element of dq: to its
/// tolerance, and to its variance.
struct RowError {
  double tolerance, variance;
};

/// E17. `pk` and `epk`: |scale| |sum P k| and |scale| sum e_P |k|.
RowError row_error(const RowTerms& terms, double lambda, double pk, double epk, double ref) {
  return {.tolerance = std::min(terms.omega_rig, terms.omega_com + lambda * terms.omega_ind) * epk +
                       terms.omega_com * pk + terms.zeta_com * std::abs(ref) +
                       lambda * std::hypot(terms.omega_ind * pk, terms.zeta_ind * ref),
          .variance = square(terms.omega_ind * pk) / 3 + square(terms.omega_com * pk) / 9 +
                      square(terms.zeta_ind * ref) / 3 + square(terms.zeta_com * ref) / 9};
}

void finish_query_row(const Pass& pass, const RowSums& sums, std::int64_t row, std::int64_t k,
                      Tensor& tensor) {
  const Arithmetic& n = pass.arithmetic;
  Expectation& e = tensor.e;
  const spec::RowPosition place = pass.dense.queries.position(e.rows[at(k)]);
  const RowTerms& terms = pass.rows.rows[at(e.rows[at(k)])];
  const double scale = std::abs(pass.dense.scale), lambda = tensor.finisher.lambda();
  for (std::int64_t d = 0; d < e.dim(); ++d) {
    const auto sum = [&](RowSums::Stream which) { return sums.value(row, which, d); };
    const double ref = pass.dense.scale * sum(RowSums::signed_sum);
    const double pk = scale * std::abs(sum(RowSums::prob));
    const double epk = scale * sum(RowSums::prob_error);
    const RowError of_row = row_error(terms, lambda, pk, epk, ref);
    tensor.finisher.finish(
        {.ref = ref,
         .magnitude = scale * sum(RowSums::magnitude),
         .rig = scale * sum(RowSums::rigorous) + terms.omega_rig * (pk + epk),
         .azuma = square(scale) * sum(RowSums::azuma),
         .linear = scale * sum(RowSums::linear),
         .squares = square(scale) * sum(RowSums::squares),
         .core = square(scale) * sum(RowSums::core),
         .drift = pass.dense.scale * sum(RowSums::drift),
         .terms = static_cast<double>(pass.dense.key_pattern->entries_of_query(place.b)),
         .omega_coherent = of_row.tolerance,
         .sigma_coherent = of_row.variance,
         .constants = scale * (std::abs(sum(RowSums::by_score)) + std::abs(sum(RowSums::by_max))),
         .scaled_operand = 2 * (n.u_k * scale * sum(RowSums::magnitude) + n.eta_k * sums.size(row)),
         .floor = n.phi * pass.floor.dq(pass.dense, place, tensor.part.first + d)},
        e, at(k * e.dim() + d));
  }
  e.exempt[at(k)] = sums.is_exempt(row) ? 1 : 0;
}

void query_block(const Pass& pass, const Block& block, std::vector<Tensor>& tensors) {
  const Dense& dense = pass.dense;
  const std::vector<std::int64_t>& judged = tensors[0].e.rows;
  const std::int64_t kv = block.n / dense.problem.group();
  std::vector<RowSums> sums;
  for (const Tensor& tensor : tensors) sums.emplace_back(block.count, tensor.part.dim);
  Products products;
  std::int64_t r = 0;
  const auto rows = std::span(judged).subspan(at(block.first), at(block.count));
  for (const Window& window : windows_of(dense, rows)) {
    const Columns columns(dense, block.b, kv, window.keys);
    for (const std::int64_t end = r + static_cast<std::int64_t>(window.rows); r < end; ++r)
      add_query_row(pass, columns, dense.queries.position(judged[at(block.first + r)]), tensors, r,
                    products, sums);
  }
  for (std::size_t t = 0; t < tensors.size(); ++t)
    for (std::int64_t row = 0; row < block.count; ++row) {
      const std::int64_t k = block.first + row;
      finish_query_row(pass, sums[t], row, k, tensors[t]);
      tensors[t].set_share(k, block.b * dense.problem.heads_kv + kv, sums[t].concentration(row));
    }
}

/// Adds |what one query head contributed| to the stream partial_abs of every row.
class PartialTracker {
 public:
  explicit PartialTracker(RowSums& sums, std::int64_t rows)
      : sums_(&sums), before_(at(rows * sums.dim()), 0.0), rows_(rows) {}
  void head_done() {
    for (std::int64_t r = 0; r < rows_; ++r)
      for (std::int64_t d = 0; d < sums_->dim(); ++d) {
        double& before = before_[at(r * sums_->dim() + d)];
        const double now = sums_->value(r, RowSums::signed_sum, d);
        sums_->stream(r, RowSums::partial_abs)[d] += std::abs(now - before);
        before = now;
      }
  }

 private:
  RowSums* sums_;
  std::vector<double> before_;
  std::int64_t rows_;
};

/// Adds the pairs of query (b, n, i) with the block's keys. The last tensor is dv, the others are
/// parts of dk.
void add_key_columns(const Pass& pass, const Columns& columns, const spec::RowPosition& query,
                     const std::vector<Tensor>& tensors, Products& products,
                     std::vector<RowSums>& sums) {
  const Dense& dense = pass.dense;
  const auto [b, n, i] = query;
  const RowTerms& terms = pass.rows.rows[at(dense.queries.row(b, n, i))];
  if (!terms.live) return;
  columns.multiply(n, i, products);
  if (!products.attends) return;
  const std::size_t dv = tensors.size() - 1;
  std::vector<const double*> rows;
  std::vector<double> norms;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    rows.push_back(k == dv ? dense.dy(b, n, i) : dense.query(b, n, i) + tensors[k].part.first);
    norms.push_back(norm_squared(rows[k], tensors[k].part.dim));
  }
  for (std::size_t c = 0; c < products.times.size(); ++c) {
    if (products.times[c] == 0) continue;
    const PairTerms t = pair_terms(dense, pass.arithmetic, terms, sums_of(products, c));
    for (std::size_t k = 0; k < tensors.size(); ++k)
      add(sums[k], static_cast<std::int64_t>(c),
          repeated(k == dv ? value_summand(t) : key_summand(t), products.times[c]), rows[k],
          norms[k]);
  }
}

void finish_key_row(const Pass& pass, const RowSums& sums, std::int64_t row, std::int64_t k,
                    double scale, std::span<const double> floor, Tensor& tensor) {
  Expectation& e = tensor.e;
  const std::int64_t entries =
      pass.dense.key_pattern->entries_of_key(e.extents.position(e.rows[at(k)]));
  // A key that no query can attend to has no residues.
  const double residue = entries == 0 ? 0 : pass.arithmetic.phi;
  const double magnitude = std::abs(scale);
  for (std::int64_t d = 0; d < e.dim(); ++d) {
    const auto sum = [&](RowSums::Stream which) { return sums.value(row, which, d); };
    tensor.finisher.finish({.ref = scale * sum(RowSums::signed_sum),
                            .magnitude = magnitude * sum(RowSums::magnitude),
                            .rig = magnitude * sum(RowSums::rigorous),
                            .azuma = square(scale) * sum(RowSums::azuma),
                            .linear = magnitude * sum(RowSums::linear),
                            .squares = square(scale) * sum(RowSums::squares),
                            .core = square(scale) * sum(RowSums::core),
                            .drift = scale * sum(RowSums::drift),
                            .terms = static_cast<double>(entries),
                            .constants = magnitude * (std::abs(sum(RowSums::by_score)) +
                                                      std::abs(sum(RowSums::by_max))),
                            .partials = magnitude * sum(RowSums::partial_abs),
                            .heads = static_cast<double>(pass.dense.problem.group()),
                            .floor = residue * floor[at(d)]},
                           e, at(k * e.dim() + d));
  }
  e.exempt[at(k)] = sums.is_exempt(row) ? 1 : 0;
}

/// Sums of a block's keys over the queries of the group that may keep one of them.
std::vector<RowSums> sum_keys(const Pass& pass, const Block& block,
                              const std::vector<Tensor>& tensors) {
  const Dense& dense = pass.dense;
  const Op::Problem& p = dense.problem;
  std::vector<std::int64_t> keys;
  reference::QueryRange queries{.first = p.length_q(block.b), .last = 0};
  for (std::int64_t r = 0; r < block.count; ++r) {
    keys.push_back(dense.keys.position(tensors[0].e.rows[at(block.first + r)]).s);
    const reference::QueryRange own = dense.key_pattern->queries(block.b, keys.back());
    queries = {std::min(queries.first, own.first), std::max(queries.last, own.last)};
  }
  const Columns columns(dense, block.b, block.n, std::move(keys));
  std::vector<RowSums> sums;
  for (const Tensor& tensor : tensors) sums.emplace_back(block.count, tensor.part.dim);
  std::vector<PartialTracker> partials;
  for (RowSums& sum : sums) partials.emplace_back(sum, block.count);
  Products products;
  for (std::int64_t n = block.n * p.group(); n < (block.n + 1) * p.group(); ++n) {
    for (std::int64_t i = queries.first; i < queries.last; ++i)
      add_key_columns(pass, columns, {block.b, n, i}, tensors, products, sums);
    if (p.group() > 1)
      for (PartialTracker& partial : partials) partial.head_done();
  }
  return sums;
}

void key_block(const Pass& pass, const Block& block, std::vector<Tensor>& tensors) {
  const Dense& dense = pass.dense;
  const std::int64_t head = block.b * dense.problem.heads_kv + block.n;
  const std::vector<RowSums> sums = sum_keys(pass, block, tensors);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const bool is_dv = t + 1 == tensors.size();
    const auto& [name, first, dim] = tensors[t].part;
    const double* floor = is_dv ? pass.floor.dv.data() + head * dim
                                : pass.floor.dk.data() + head * dense.width() + first;
    for (std::int64_t r = 0; r < block.count; ++r) {
      const std::int64_t k = block.first + r;
      finish_key_row(pass, sums[t], r, k, is_dv ? 1.0 : dense.scale, {floor, at(dim)}, tensors[t]);
      tensors[t].set_share(k, head, sums[t].concentration(r));
    }
  }
}

std::vector<Tensor> query_tensors(const Pass& pass, const JudgedRows& judged, bool biasable) {
  const Dense& dense = pass.dense;
  std::vector<Tensor> tensors;
  for (const Part& part : parts_of(dense.problem, "dq")) {
    tensors.emplace_back(dense, pass.arithmetic, part, dense.queries, judged.query, biasable);
    fill_channels(dense, tensors.back(), [&](auto b, auto kv) { return keys_of(dense, b, kv); });
  }
  const std::vector<Block> blocks = blocks_of(dense.queries, judged.query, rows_per_task);
  parallel::for_each(static_cast<std::int64_t>(blocks.size()),
                     [&](std::int64_t k) { query_block(pass, blocks[at(k)], tensors); });
  return tensors;
}

/// The parts of dk, then dv.
std::vector<Tensor> key_tensors(const Pass& pass, const JudgedRows& judged, bool biasable) {
  const Dense& dense = pass.dense;
  std::vector<Tensor> tensors;
  for (const Part& part : parts_of(dense.problem, "dk")) {
    tensors.emplace_back(dense, pass.arithmetic, part, dense.keys, judged.key, biasable);
    fill_channels(dense, tensors.back(), [&](auto b, auto kv) {
      return group_rows(dense, b, kv, [&](auto... row) { return dense.query(row...); });
    });
  }
  tensors.emplace_back(dense, pass.arithmetic, Part{"dv", 0, dense.problem.head_dim_v}, dense.keys,
                       judged.key, biasable);
  fill_channels(dense, tensors.back(), [&](auto b, auto kv) {
    return group_rows(dense, b, kv, [&](auto... row) { return dense.dy(row...); });
  });
  // Small enough blocks for every core, large enough to run along keys.
  const std::int64_t heads = dense.problem.batch * dense.problem.heads_kv;
  const std::int64_t most = heads >= 4 ? keys_per_task : 48,
                     alike = dense.key_pattern->keys_alike();
  const std::vector<Block> blocks =
      blocks_of(dense.keys, judged.key, alike > 1 ? std::min(alike, most) : most);
  parallel::for_each(static_cast<std::int64_t>(blocks.size()),
                     [&](std::int64_t k) { key_block(pass, blocks[at(k)], tensors); });
  return tensors;
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
