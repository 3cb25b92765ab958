#include "attention/bound/forward_output.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "assay/parallel/loop.hpp"
#include "attention/bound/head_index.hpp"
#include "attention/formula/variant.hpp"
#include "attention/variant/variant_pattern.hpp"

namespace assay::conformance::attention {
namespace {

/// Lists the queries of one key head for which the output is computed, and all keys of this head.
class ForwardHeadIndex final : public HeadIndex {
 public:
  ForwardHeadIndex(const Dense& dense, const Arithmetic& n, const spec::RowPosition& key_head,
                   std::vector<std::int64_t> queries, std::span<const ForwardRow> of_rows)
      : HeadIndex(dense, key_head, std::move(queries), ascending(0, dense.keys.length(key_head.b))),
        query_(dense.query_rows, first_query_head(), queries_),
        key_(dense.key_rows, key_head, 1),
        value_(dense.value_rows, key_head, 1) {
    head_.call = call_of(dense, n);
    // A kernel may round P before dropout.
    head_.call.stage_prob = head_.call.stage_prob.multiplied_later(dense.largest_kappa);
    head_.sides = this;
    head_.query = query_.rows();
    head_.key = key_.rows();
    head_.value = value_.rows();
    head_.value_norms = norms_of(head_.value, 0, dense.problem.head_dim_v);
    // When the running maximum grows, the kernel rescales the output and rounds it once more. The
    // error is relative to the sum of the magnitudes that were added before.
    const double unit = std::max(n.u, n.u_a);
    for (ForwardRow row : of_rows) {
      if (row.keys == 0) leave_out(std::ssize(head_.rows));
      row.rescaling.proven += row.changes * unit;
      row.rescaling.probable += row.likely_changes * unit;
      head_.rows.push_back(row);
    }
  }
  const ForwardHead& head() const { return head_; }

 private:
  HeadRows query_, key_, value_;
  ForwardHead head_;
};

class Rows final : public engine::RowSink {
 public:
  Rows(std::size_t first, const VisitOutput& visit) : first_(first), visit_(visit) {}
  void take(std::int64_t row, const engine::ElementRow& elements,
            const engine::RowSums& row_sums) override {
    visit_(first_ + static_cast<std::size_t>(row), elements, row_sums);
  }

 private:
  std::size_t first_;
  const VisitOutput& visit_;
};

class OutputSink final : public engine::Sink {
 public:
  OutputSink(std::size_t first, const VisitOutput& visit) : first_(first), visit_(visit) {}
  std::unique_ptr<engine::RowSink> open(std::size_t, engine::Range) override {
    return std::make_unique<Rows>(first_, visit_);
  }

 private:
  std::size_t first_;
  const VisitOutput& visit_;
};

}  // namespace

void each_output_row(const Dense& dense, const Arithmetic& arithmetic,
                     std::span<const std::int64_t> rows, std::span<const ForwardRow> of_rows,
                     const VisitOutput& visit) {
  const Op::Problem& p = dense.problem;
  const Variant* variant = score_variant_of(dense);
  const auto sweep = [&](std::int64_t head, std::int64_t threads) {
    const std::int64_t b = head / p.heads_kv, kv = head % p.heads_kv;
    const std::int64_t begin = dense.queries.row(b, kv * p.group(), 0);
    const auto from = std::ranges::lower_bound(rows, begin);
    const auto to = std::lower_bound(from, rows.end(), begin + p.group() * dense.queries.length(b));
    std::vector<std::int64_t> queries(from, to);
    if (queries.empty()) return;
    for (std::int64_t& query : queries) query -= begin;
    const auto first = static_cast<std::size_t>(from - rows.begin());
    const ForwardHeadIndex index(dense, arithmetic, {b, kv, 0}, queries,
                                 of_rows.subspan(first, static_cast<std::size_t>(to - from)));
    OutputSink sink(first, visit);
    const auto sweep_with = [&]<class Formula>(const Formula& formula) {
      engine::BlockSweep<engine::ToleranceStreams<symbols>, Formula>(formula, index,
                                                                     {.threads = threads}, sink)
          .run();
    };
    if (variant == nullptr) return sweep_with(ForwardFormula(index.head()));
    const std::vector<std::int64_t> keys = ascending(0, dense.keys.length(b));
    const HeadPlaces places(*variant, {b, kv, 0}, p.group(), dense.queries.length(b), queries,
                            keys);
    sweep_with(VariantForwardFormula(index.head(), places));
  };
  std::int64_t most = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    most = std::max(most, std::min(p.group() * p.length_q(b), std::ssize(rows)) * p.length_kv(b));
  const auto head_of = [&](std::int64_t row) {
    const spec::RowPosition place = dense.queries.position(row);
    return place.b * p.heads_kv + place.n / p.group();
  };
  const bool one_head = !rows.empty() && head_of(rows.front()) == head_of(rows.back());
  const bool large = one_head || most > pairs_of_large_head;
  parallel::for_each(
      p.batch * p.heads_kv, [&](std::int64_t k) { sweep(k, large ? 0 : 1); }, large ? 1 : 0);
}

}  // namespace assay::conformance::attention
