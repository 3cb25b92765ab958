#pragma once

#include <cstdint>
#include <functional>

#include "assay/conformance/judge/intermediates.hpp"
#include "assay/spec/layout.hpp"

namespace assay::conformance {

/// The intermediate values of an unmasked pair: score, probability, probability after dropout, and
/// the gradients of probability and score.
struct PairNumbers {
  double score, prob, dropped, dprob, dscore;
};

/// Gives access to the values of single pairs in the high-precision definition of attention.
struct PairSource {
  spec::Extents queries, keys;
  bool has_dropout = false;
  std::function<bool(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j)> keeps;
  std::function<PairNumbers(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j)> pair;
  /// Not set for a forward case, which has no gradients of probability and score.
  std::function<double(std::int64_t b, std::int64_t n, std::int64_t i)> row_term;
};

/// The largest number of pairs for which values are computed, because each pair takes long in high
/// precision.
inline constexpr std::int64_t most_pairs = std::int64_t{1} << 20;

/// Returns S, P, dP, dS and, with dropout, P_dropped, of shape (batch, heads_q, seq_q, seq_kv), and
/// row_term (batch, heads_q, seq_q). For masked pairs, P and dS are 0, and S and dP are NaN,
/// because kernels need not compute them. Positions after the end of a shorter sequence are NaN.
/// Returns no arrays for more than 2^20 pairs, because each pair is computed separately in high
/// precision.
Intermediates intermediates_of(const PairSource& source);

/// Returns S, P, dP, dS and row_term (for each row the sum of dy times attention_in), computed with
/// a high-precision definition. `keeps` says which pairs are unmasked.
template <class Problem, class Definition, class Keeps>
Intermediates intermediates_of(const Problem& problem, const Definition& definition,
                               bool has_dropout, Keeps&& keeps) {
  const auto pair_of = [&](auto... place) {
    const auto number = [](const auto& x) { return static_cast<double>(x); };
    const auto pair = definition.pair(place...);
    double dropped = number(pair.prob);
    if constexpr (requires { pair.dropped; }) dropped = number(pair.dropped);
    return PairNumbers{number(pair.score), number(pair.prob), dropped, number(pair.dprob),
                       number(pair.dscore)};
  };
  const auto row_term = [&](auto... row) {
    return static_cast<double>(definition.row_term(row...));
  };
  return intermediates_of({.queries = query_extents(problem),
                           .keys = key_extents(problem),
                           .has_dropout = has_dropout,
                           .keeps = keeps,
                           .pair = pair_of,
                           .row_term = row_term});
}

}  // namespace assay::conformance
