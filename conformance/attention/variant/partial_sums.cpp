#include "attention/variant/partial_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "assay/spec/at.hpp"
#include "assay/spec/dtype.hpp"

namespace assay::conformance::attention {
namespace {

using spec::at;

/// Returns whether a number of this type has the value.
bool is_number_of(double value, spec::DType type) {
  const double unit = 2 * unit_roundoff(type), least = 2 * underflow_of(type);
  const double step = std::max(unit * RoundingError::leading_power(std::abs(value)), least);
  return std::isfinite(value) && std::abs(value) <= largest_finite(type) &&
         value == std::round(value / step) * step;
}

/// Returns the number of pairs in the sum of a row.
std::int64_t pairs_of_row(const Dense& dense, const spec::RowPosition& row, bool is_query) {
  std::int64_t pairs = 0;
  if (is_query) {
    for (std::int64_t j = 0; j < dense.keys.length(row.b); ++j)
      pairs += dense.key_pattern->times(row.b, row.n, row.s, j);
    return pairs;
  }
  const std::int64_t group = dense.problem.group();
  for (std::int64_t n = row.n * group; n < (row.n + 1) * group; ++n)
    for (std::int64_t i = 0; i < dense.queries.length(row.b); ++i)
      pairs += dense.key_pattern->times(row.b, n, i, row.s);
  return pairs;
}

/// Returns the number of rows that show that the sums are rounded to this type; 0 if a row shows
/// that they are not.
std::int64_t rounded_rows(const Dense& dense, const ReturnedGradient& gradient, spec::DType type) {
  constexpr std::int64_t fewest_pairs = 8;
  const Expectation& e = *gradient.expected;
  std::int64_t rows = 0;
  for (std::int64_t r = 0; r < e.row_count(); ++r) {
    bool is_exact = true, is_rounded = true;
    for (std::int64_t k = r * e.dim(); k < (r + 1) * e.dim(); ++k) {
      const double actual = gradient.actual[at(k)];
      if (actual == 0) continue;
      is_exact &= is_number_of(static_cast<double>(static_cast<float>(e.value[at(k)])), type);
      is_rounded &= is_number_of(actual, type);
    }
    if (is_exact || pairs_of_row(dense, e.extents.position(e.rows[at(r)]),
                                 e.name.starts_with("dq")) < fewest_pairs)
      continue;
    if (!is_rounded) return 0;
    ++rows;
  }
  return rows;
}

/// A fault: the positions from which a kernel reads, and the sums over the part that it uses
/// instead of those over all keys.
struct Fault {
  FactKind kind;
  bool own_statistics = false, own_row_term = false;
  std::int64_t mask = 0, dropout = 0, bias = 0;  ///< subtracted from the position of a pair
  std::optional<GradientPart> part = {};         ///< instead of that of the case
};

/// The gradients of all rows, (rows, dim) row-major: dq and dk with their rope channels.
struct Gradients {
  std::vector<double> dq, dk, dv;
};

/// Computes the gradients that a kernel with a fault returns.
class FaultyGradients {
 public:
  FaultyGradients(const Dense& dense, const Fault& fault)
      : dense_(dense), fault_(fault), whole_(whole_pattern_of(dense)) {
    part_ = fault.part ? *fault.part : *judged_part(dense);
    const auto size = [](const spec::Extents& e, std::int64_t dim) { return at(e.rows() * dim); };
    all_.dq.resize(size(dense.queries, dense.width()));
    all_.dk.resize(size(dense.keys, dense.width()));
    all_.dv.resize(size(dense.keys, dense.problem.head_dim_v));
    for (std::int64_t b = 0; b < dense.problem.batch; ++b)
      for (std::int64_t n = 0; n < dense.problem.heads_q; ++n)
        for (std::int64_t i = 0; i < dense.problem.seq_q; ++i)
          if (part_.has_query(i)) add_query(b, n, i);
  }
  /// Returns the gradients. Those of another part have the places of the part of the case.
  const Gradients& all() const { return all_; }

 private:
  struct Pair {
    std::int64_t j;
    double score, kappa, dprob;
  };

  template <class Row>
  static double dot(const attention::FloatRow& x, const Row& y, std::int64_t dim) {
    double sum = 0;
    for (std::int64_t d = 0; d < dim; ++d) sum += x[d] * y[at(d)];
    return sum;
  }
  /// Returns the position from which the kernel reads.
  spec::RowPosition moved(std::int64_t i, std::int64_t j, std::int64_t by) const {
    const bool of_keys = part_.axis == PartAxis::kv;
    return {0, of_keys ? i : i - by, of_keys ? j - by : j};  // n is the query, s the key
  }

  void add_query(std::int64_t b, std::int64_t n, std::int64_t i) {
    const std::int64_t kv = n / dense_.problem.group(), dim_v = dense_.problem.head_dim_v;
    const attention::FloatRow query = dense_.query(b, n, i), dy = dense_.dy(b, n, i);
    attention::FloatRow key_row(dense_.width()), value_row(dim_v);
    std::vector<Pair> pairs;
    for (std::int64_t j = 0; j < dense_.problem.seq_kv; ++j) {
      const auto mask = moved(i, j, fault_.mask), drop = moved(i, j, fault_.dropout),
                 bias = moved(i, j, fault_.bias);
      if (!part_.has_key(j) || whole_->times(b, n, mask.n, mask.s) == 0) continue;
      const double kappa = dense_.kappa(b, n, drop.n, drop.s);
      dense_.key_rows.read({b, kv, j}, key_row.data());
      dense_.value_rows.read({b, kv, j}, value_row.data());
      pairs.push_back(
          {j,
           dense_.scale * dot(query, key_row, dense_.width()) + dense_.bias(b, n, bias.n, bias.s),
           kappa, kappa * dot(dy, value_row, dim_v)});
    }
    const std::int64_t row = dense_.queries.row(b, n, i);
    double max = dense_.softmax_max(row), sum = dense_.softmax_sum(row);
    if (fault_.own_statistics) {
      max = -std::numeric_limits<double>::infinity(), sum = 0;
      for (const Pair& pair : pairs) max = std::max(max, pair.score);
      for (const Pair& pair : pairs) sum += std::exp(pair.score - max);
    }
    double row_term = dot(dy, dense_.attention_in(b, n, i), dim_v);
    if (fault_.own_row_term) {
      row_term = 0;
      for (const Pair& pair : pairs) row_term += std::exp(pair.score - max) / sum * pair.dprob;
    }
    for (const Pair& pair : pairs) {
      const double prob = std::exp(pair.score - max) / sum;
      const double dscore = dense_.scale * prob * (pair.dprob - row_term);
      const std::int64_t key = dense_.keys.row(b, kv, place(pair.j, PartAxis::kv));
      const std::int64_t to = dense_.queries.row(b, n, place(i, PartAxis::q));
      dense_.key_rows.read({b, kv, pair.j}, key_row.data());
      add(dscore, key_row, dense_.width(), to, all_.dq);
      add(dscore, query, dense_.width(), key, all_.dk);
      add(prob * pair.kappa, dy, dim_v, key, all_.dv);
    }
  }
  /// Returns the place of a position of another part in the part of the case.
  std::int64_t place(std::int64_t position, PartAxis axis) const {
    if (!fault_.part || part_.axis != axis) return position;
    return position - part_.first + judged_part(dense_)->first;
  }
  static void add(double factor, const attention::FloatRow& row, std::int64_t dim,
                  std::int64_t number, std::vector<double>& to) {
    for (std::int64_t d = 0; d < dim; ++d) to[at(number * dim + d)] += factor * row[d];
  }

  const Dense& dense_;
  const Fault& fault_;
  std::shared_ptr<const KeyPattern> whole_;
  GradientPart part_;
  Gradients all_;
};

/// Returns the sum of the squared differences between a gradient and `of(row, channel)`.
template <class Of>
double distance(const ReturnedGradient& gradient, const Of& of) {
  const Expectation& e = *gradient.expected;
  double sum = 0;
  for (std::int64_t r = 0; r < e.row_count(); ++r)
    for (std::int64_t d = 0; d < e.dim(); ++d) {
      const double off = gradient.actual[at(r * e.dim() + d)] - of(r, d);
      sum += off * off;
    }
  return sum;
}

bool fails(const ReturnedGradient& gradient) {
  const Expectation& e = *gradient.expected;
  for (std::size_t k = 0; k < gradient.actual.size(); ++k)
    if (!(std::abs(gradient.actual[k] - e.value[k]) <= e.tau[k] + e.radius[k])) return true;
  return false;
}

std::vector<Fault> faults_of(const Dense& dense) {
  constexpr std::int64_t most_parts = 16;
  const GradientPart part = *judged_part(dense);
  const std::int64_t first = part.first, size = part.size();
  std::vector<Fault> all;
  if (part.axis == PartAxis::kv)
    all = {{.kind = FactKind::statistics_of_part, .own_statistics = true},
           {.kind = FactKind::statistics_of_part, .own_statistics = true, .own_row_term = true},
           {.kind = FactKind::row_term_of_part, .own_row_term = true}};
  if (first > 0) {
    all.push_back({.kind = FactKind::mask_from_start, .mask = first});
    if (dense.problem.has_dropout())
      all.push_back({.kind = FactKind::dropout_from_start, .dropout = first});
    if (dense.position_bias.present())
      all.push_back({.kind = FactKind::bias_from_start, .bias = first});
  }
  const std::int64_t length =
      part.axis == PartAxis::kv ? dense.problem.seq_kv : dense.problem.seq_q;
  for (std::int64_t k = 0; k < most_parts && (k + 1) * size <= length; ++k)
    if (k * size != first)
      all.push_back({.kind = FactKind::other_part,
                     .part = GradientPart{part.axis, k * size, (k + 1) * size - 1}});
  return all;
}

Fact fact_of(const Fault& fault, const GradientPart& part, const std::string& gradients) {
  if (fault.kind == FactKind::other_part)
    return {fault.kind, gradients, text_of(*fault.part), text_of(part)};
  if (fault.kind == FactKind::statistics_of_part || fault.kind == FactKind::row_term_of_part)
    return {fault.kind, gradients};
  return {fault.kind, gradients, part.size() - 1, text_of(part)};
}

/// Returns whether the gradients of the fault explain 95 % of the error.
bool explains(const Gradients& faulty, const Dense& dense, const ReturnedGradient& gradient) {
  const Expectation& e = *gradient.expected;
  const bool is_dv = e.name == "dv";
  const std::vector<double>& of = is_dv ? faulty.dv : e.name == "dq" ? faulty.dq : faulty.dk;
  const std::int64_t dim = is_dv ? dense.problem.head_dim_v : dense.width();
  const double from_expected =
      distance(gradient, [&](auto r, auto d) { return e.value[at(r * e.dim() + d)]; });
  const double from_faulty =
      distance(gradient, [&](auto r, auto d) { return of[at(e.rows[at(r)] * dim + d)]; });
  constexpr double left = 0.05 * 0.05;
  return from_faulty <= left * from_expected;  // false for NaN
}

}  // namespace

std::vector<Finding> rounded_partial_sums(const Dense& dense,
                                          const std::vector<ReturnedGradient>& gradients) {
  constexpr std::int64_t fewest_rows = 32;
  std::vector<Finding> findings;
  for (const ReturnedGradient& gradient : gradients) {
    const std::string& name = gradient.expected->name;
    if (!is_partial_sum(dense, name)) continue;
    for (const spec::DType type : {spec::DType::bf16, spec::DType::fp16}) {
      const std::int64_t rows = rounded_rows(dense, gradient, type);
      if (rows < fewest_rows) continue;
      findings.push_back(
          {.rule = FindingRule::structure,
           .tensor = name,
           .fact = {FactKind::rounded_partial_sum, name, rows * gradient.expected->dim(), type}});
      break;
    }
  }
  return findings;
}

std::vector<Finding> likely_faults_of_part(const Dense& dense,
                                           const std::vector<ReturnedGradient>& gradients) {
  constexpr double most_products = 0x1p30;
  std::vector<const ReturnedGradient*> failing;
  for (const ReturnedGradient& gradient : gradients)
    if (!gradient.expected->name.ends_with("_rope") && fails(gradient))
      failing.push_back(&gradient);
  const std::vector<Fault> faults = faults_of(dense);
  const Op::Problem& p = dense.problem;
  const double products = static_cast<double>(p.batch * p.heads_q * p.seq_q) *
                          static_cast<double>(p.seq_kv * (2 * dense.width() + p.head_dim_v)) *
                          static_cast<double>(faults.size());
  // The faults are computed without the score and the dlse of a formula.
  const Variant* const variant = variant_of(dense);
  const bool is_masked_only = variant == nullptr || variant->only_masks();
  if (failing.empty() || products > most_products || !is_masked_only) return {};
  std::vector<Finding> findings;
  std::size_t named = 0;
  for (const Fault& fault : faults) {
    const FaultyGradients faulty(dense, fault);
    std::string names;
    for (const ReturnedGradient* gradient : failing)
      if (explains(faulty.all(), dense, *gradient))
        names += (names.empty() ? "" : ", ") + gradient->expected->name;
    if (names.empty()) continue;
    Finding note{.rule = FindingRule::note,
                 .tensor = names.substr(0, names.find(',')),
                 .fact = fact_of(fault, *judged_part(dense), names)};
    // A softmax over the part has a row term of the part or of all keys: keep what explains more.
    if (!findings.empty() && findings.back().fact.kind == fault.kind &&
        fault.kind == FactKind::statistics_of_part)
      findings.back() = names.size() > named ? std::move(note) : findings.back();
    else
      findings.push_back(std::move(note));
    named = names.size();
  }
  return findings;
}

}  // namespace assay::conformance::attention
