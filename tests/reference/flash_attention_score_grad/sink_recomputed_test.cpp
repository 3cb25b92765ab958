#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../cases.hpp"
#include "assay/reference/flash_attention_score.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"

/// Recomputes attention with a sink and its gradients in float64, with plain loops over the pairs
/// of query and key. The loops share no code with the reference.
namespace assay::reference {
namespace {

using spec::MaskShape;
using spec::PseShape;
using Vector = std::vector<double>;

struct Results {
  Vector softmax_max, softmax_sum, out, dq, dk, dv, dq_rope, dk_rope, dsink;
};

class Recomputed {
 public:
  Recomputed(const Problem& p, const Operands<double>& x, const OwnedSides& sides)
      : p_(p), x_(x), sides_(sides), scale_(static_cast<float>(p.scale_value)) {
    std::int64_t queries = 0, keys = 0, scores = 0;
    for (std::int64_t b = 0; b < p.batch; ++b) {
      first_query_.push_back(queries), first_key_.push_back(keys), first_score_.push_back(scores);
      queries += p.heads_q * p.length_q(b), keys += p.heads_kv * p.length_kv(b);
      scores += p.heads_q * p.length_q(b) * p.length_kv(b);
    }
    const auto zeros = [](std::int64_t rows, std::int64_t dim) {
      return Vector(static_cast<std::size_t>(rows * dim), 0.0);
    };
    r_ = {.softmax_max = zeros(queries, 1),
          .softmax_sum = zeros(queries, 1),
          .out = zeros(queries, p.head_dim_v),
          .dq = zeros(queries, p.head_dim),
          .dk = zeros(keys, p.head_dim),
          .dv = zeros(keys, p.head_dim_v),
          .dq_rope = zeros(queries, p.head_dim_rope),
          .dk_rope = zeros(keys, p.head_dim_rope),
          .dsink = zeros(p.heads_q, 1)};
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t n = 0; n < p.heads_q; ++n)
        for (std::int64_t i = 0; i < p.length_q(b); ++i) add_query(b, n, i);
  }
  const Results& results() const { return r_; }

 private:
  static std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

  bool keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    if (!sides_.atten_mask) return true;
    const std::int64_t sq = p_.length_q(b), skv = p_.length_kv(b), corner = skv - sq;
    if (p_.sparse_mode == 2) return j <= i;
    if (p_.sparse_mode == 3) return j <= i + corner;
    if (p_.sparse_mode == 4)
      return j >= i + corner - p_.pre_tokens && j <= i + corner + p_.next_tokens;
    if (p_.sparse_mode == 6) return j <= i + corner || j < p_.prefix[at(b)];
    const std::int64_t matrix = p_.atten_mask == MaskShape::bnss ? b * p_.heads_q + n : 0;
    return sides_.atten_mask->load((matrix * p_.seq_q + i) * p_.seq_kv + j) == 0;
  }

  double score(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j,
               double product) const {
    if (!sides_.pse_shift) return scale_ * product;
    if (p_.pse_type >= 2) {
      const auto distance = static_cast<double>(std::abs(j - i));
      return scale_ * product -
             sides_.pse_shift->load(n) * (p_.pse_type == 2 ? distance : std::sqrt(distance));
    }
    const double bias =
        sides_.pse_shift->load(((b * p_.heads_q + n) * p_.seq_q + i) * p_.seq_kv + j);
    return p_.pse_type == 1 ? scale_ * (product + bias) : scale_ * product + bias;
  }

  double dropout(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    if (p_.keep_prob == 1) return 1;
    const std::int64_t bit = first_score_[at(b)] + (n * p_.length_q(b) + i) * p_.length_kv(b) + j;
    const int byte = static_cast<int>(sides_.drop_mask->load(bit / 8));
    return (byte >> (bit % 8)) & 1 ? 1 / static_cast<double>(static_cast<float>(p_.keep_prob)) : 0;
  }

  static double dot(const Vector& a, std::int64_t row, const Vector& b, std::int64_t other,
                    std::int64_t dim) {
    double sum = 0;
    for (std::int64_t d = 0; d < dim; ++d) sum += a[at(row * dim + d)] * b[at(other * dim + d)];
    return sum;
  }
  static void add(Vector& to, std::int64_t row, double factor, const Vector& from,
                  std::int64_t other, std::int64_t dim) {
    for (std::int64_t d = 0; d < dim; ++d)
      to[at(row * dim + d)] += factor * from[at(other * dim + d)];
  }

  void add_query(std::int64_t b, std::int64_t n, std::int64_t i) {
    const std::int64_t dim = p_.head_dim, dim_v = p_.head_dim_v, rope = p_.head_dim_rope;
    const std::int64_t q = first_query_[at(b)] + n * p_.length_q(b) + i;
    const std::int64_t kv = n / (p_.heads_q / p_.heads_kv);
    const double sink = x_.sink[at(n)];
    std::vector<std::pair<std::int64_t, double>> scores;  // of the unmasked keys
    double max = sink;
    for (std::int64_t j = 0; j < p_.length_kv(b); ++j) {
      if (!keeps(b, n, i, j)) continue;
      const std::int64_t k = first_key_[at(b)] + kv * p_.length_kv(b) + j;
      const double product = dot(x_.query, q, x_.key, k, dim) +
                             (rope > 0 ? dot(x_.query_rope, q, x_.key_rope, k, rope) : 0);
      scores.emplace_back(j, score(b, n, i, j, product));
      max = std::max(max, scores.back().second);
    }
    double sum = std::exp(sink - max);
    for (const auto& [j, s] : scores) sum += std::exp(s - max);
    r_.softmax_max[at(q)] = max, r_.softmax_sum[at(q)] = sum;
    double row_term = 0;
    for (const auto& [j, s] : scores) {
      const std::int64_t k = first_key_[at(b)] + kv * p_.length_kv(b) + j;
      const double kept = std::exp(s - max) / sum * dropout(b, n, i, j);
      add(r_.out, q, kept, x_.value, k, dim_v);
      add(r_.dv, k, kept, x_.dy, q, dim_v);
      row_term += kept * dot(x_.dy, q, x_.value, k, dim_v);
    }
    r_.dsink[at(n)] -= std::exp(sink - max) / sum * row_term;
    for (const auto& [j, s] : scores) {
      const std::int64_t k = first_key_[at(b)] + kv * p_.length_kv(b) + j;
      const double dp = dot(x_.dy, q, x_.value, k, dim_v) * dropout(b, n, i, j);
      const double ds = scale_ * (std::exp(s - max) / sum) * (dp - row_term);
      add(r_.dq, q, ds, x_.key, k, dim), add(r_.dk, k, ds, x_.query, q, dim);
      if (rope == 0) continue;
      add(r_.dq_rope, q, ds, x_.key_rope, k, rope), add(r_.dk_rope, k, ds, x_.query_rope, q, rope);
    }
  }

  const Problem& p_;
  const Operands<double>& x_;
  const OwnedSides& sides_;
  double scale_;
  std::vector<std::int64_t> first_query_, first_key_, first_score_;
  Results r_;
};

struct Tricky {
  std::string name;
  Problem problem;
  Vector sinks;  ///< repeated for all heads
};

std::vector<Tricky> tricky_problems() {
  std::vector<Tricky> all;
  const auto add = [&](std::string name, Vector sinks, const auto& change) {
    Problem p = {.batch = 2,
                 .heads_q = 4,
                 .heads_kv = 2,
                 .seq_q = 5,
                 .seq_kv = 6,
                 .head_dim = 4,
                 .head_dim_v = 3,
                 .scale_value = 0.75,
                 .sink = spec::SinkShape::per_head};
    change(p);
    all.push_back({std::move(name), p, std::move(sinks)});
  };
  const auto pack = [](Problem& p, std::vector<std::int64_t> q, std::vector<std::int64_t> kv) {
    p.input_layout = spec::Layout::tnd;
    p.batch = static_cast<std::int64_t>(q.size());
    p.seq_q = std::ranges::max(q), p.seq_kv = std::ranges::max(kv);
    p.lengths_q = std::move(q), p.lengths_kv = std::move(kv);
  };
  const auto drop = [](Problem& p, double keep) {
    p.keep_prob = keep, p.drop_mask = spec::DropMask::exact;
  };
  const auto mode = [](Problem& p, std::int64_t sparse_mode) {
    p.sparse_mode = sparse_mode;
    p.atten_mask = sparse_mode < 2 ? MaskShape::ss : MaskShape::compressed;
  };
  const Vector mixed = {-1, 0.5, 2, 30};
  add("near the scores", mixed, [](Problem&) {});
  add("above all scores", {40, 700, 12, 90}, [](Problem&) {});
  add("far below", {-1000, -300, -40, -104}, [](Problem&) {});
  add("all sinks zero", {0}, [](Problem&) {});
  add("one query, one key", {0.25}, [](Problem& p) { p.seq_q = p.seq_kv = 1; });
  add("more queries than keys", mixed, [](Problem& p) { p.seq_q = 9, p.seq_kv = 2; });
  add("negative scale", mixed, [](Problem& p) { p.scale_value = -0.5; });
  add("zero scale", {0, 1, -1, 3}, [](Problem& p) { p.scale_value = 0; });
  add("one key head", mixed, [](Problem& p) { p.heads_kv = 1; });
  add("as many key heads", mixed, [](Problem& p) { p.heads_kv = 4; });
  add("fully masked row", mixed, [&](Problem& p) { mode(p, 1); });
  add("fully masked row, sink above", {60}, [&](Problem& p) { mode(p, 1); });
  add("mask of every head", mixed, [&](Problem& p) { mode(p, 1), p.atten_mask = MaskShape::bnss; });
  add("mask of mode 0, sink below", {-12, -3}, [&](Problem& p) { mode(p, 0); });
  add("causal from the left", mixed, [&](Problem& p) { mode(p, 2); });
  add("causal, rows without keys", {5, -5}, [&](Problem& p) { mode(p, 3), p.seq_q = 8; });
  add("band", mixed, [&](Problem& p) { mode(p, 4), p.pre_tokens = 2, p.next_tokens = 1; });
  add("prefix", mixed, [&](Problem& p) { mode(p, 6), p.prefix = {3, 6}; });
  add("dropout", mixed, [&](Problem& p) { drop(p, 0.5); });
  add("dropout of a third, sink above", {9, 25}, [&](Problem& p) { drop(p, 0.7); });
  add("dropout and fully masked row", mixed, [&](Problem& p) { drop(p, 0.9), mode(p, 1); });
  add("bias before the scale", mixed, [](Problem& p) { p.pse_shift = PseShape::bnss; });
  add("bias after the scale", mixed,
      [](Problem& p) { p.pse_shift = PseShape::bnss, p.pse_type = 0, p.scale_value = 3; });
  add("slopes", mixed,
      [](Problem& p) { p.seq_q = 6, p.pse_type = 2, p.pse_shift = PseShape::slopes_n; });
  add("slopes of the root", {2, -70},
      [](Problem& p) { p.seq_q = 6, p.pse_type = 3, p.pse_shift = PseShape::slopes_n; });
  add("unequal lengths", mixed, [&](Problem& p) { pack(p, {5, 1, 9}, {3, 7, 4}); });
  add("empty sequences", {3, -3}, [&](Problem& p) { pack(p, {4, 0, 6, 2}, {5, 3, 0, 1}); });
  add("empty sequences, sink above", {80}, [&](Problem& p) { pack(p, {0, 3, 5}, {4, 0, 2}); });
  add("unequal lengths and dropout", mixed, [&](Problem& p) {
    pack(p, {5, 2, 7}, {3, 9, 4}), drop(p, 0.5);
  });
  add("unequal lengths, causal", mixed, [&](Problem& p) {
    pack(p, {5, 2, 7}, {3, 9, 4}), mode(p, 3);
  });
  add("ropes", mixed, [&](Problem& p) { pack(p, {5, 2}, {3, 9}), p.head_dim_rope = 2; });
  add("ropes and mask, sink below", {-20, -2}, [&](Problem& p) {
    pack(p, {5, 5}, {6, 6}), p.head_dim_rope = 4, mode(p, 2);
  });
  return all;
}

/// Converts the operands to another type, which represents every element of the inputs exactly.
template <class To>
std::vector<To> as(const Vector& from) {
  return {from.begin(), from.end()};
}

void expect_near(const char* what, const Vector& own, const std::vector<Quad>& reference) {
  ASSERT_EQ(own.size(), reference.size()) << what;
  const double size = std::max(1.0, static_cast<double>(largest_magnitude(reference)));
  for (std::size_t k = 0; k < own.size(); ++k)
    EXPECT_LE(std::abs(own[k] - static_cast<double>(reference[k])), 1e-12 * size)
        << what << '[' << k << ']';
}

TEST(SinkRecomputed, ThirtyTrickyProblemsAgreeWithPlainLoopsInFloat64) {
  const std::vector<Tricky> all = tricky_problems();
  EXPECT_GE(all.size(), 30u);
  for (const Tricky& tricky : all) {
    SCOPED_TRACE(tricky.name);
    const Problem& p = tricky.problem;
    const OwnedSides sides = make_sides(p);
    Problem without = p;
    without.sink = spec::SinkShape::absent;
    Operands<double> own = consistent_operands<double>(without, sides.refer());
    for (std::size_t n = 0; n < static_cast<std::size_t>(p.heads_q); ++n)
      own.sink.push_back(tricky.sinks[n % tricky.sinks.size()]);
    Operands<Quad> exact = {.query = as<Quad>(own.query),
                            .key = as<Quad>(own.key),
                            .value = as<Quad>(own.value),
                            .dy = as<Quad>(own.dy),
                            .query_rope = as<Quad>(own.query_rope),
                            .key_rope = as<Quad>(own.key_rope),
                            .sink = as<Quad>(own.sink)};
    const Forward<Quad> results = forward(p, exact, sides.refer());
    exact.softmax_max = results.softmax_max;
    exact.softmax_sum = results.softmax_sum;
    exact.attention_in = results.attention_out;
    const FlashAttentionScoreGrad<Quad> reference(p, exact, sides.refer());
    const Gradients<Quad> gradients = all_rows(p, reference);
    std::vector<Quad> dsink;
    for (std::int64_t n = 0; n < p.heads_q; ++n) dsink.push_back(reference.dsink(n));

    const Results found = Recomputed(p, own, sides).results();
    expect_near("softmax_max", found.softmax_max, results.softmax_max);
    expect_near("softmax_sum", found.softmax_sum, results.softmax_sum);
    expect_near("attention_out", found.out, results.attention_out);
    expect_near("dq", found.dq, gradients.dq);
    expect_near("dk", found.dk, gradients.dk);
    expect_near("dv", found.dv, gradients.dv);
    expect_near("dq_rope", found.dq_rope, gradients.dq_rope);
    expect_near("dk_rope", found.dk_rope, gradients.dk_rope);
    expect_near("dsink", found.dsink, dsink);
  }
}

}  // namespace
}  // namespace assay::reference
