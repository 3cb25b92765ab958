#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "attention/bound/pairs.hpp"

namespace assay::conformance::flash {

inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Sums over pairs that make one row of one tensor, a stream of `dim` channels each.
class RowSums {
 public:
  enum Stream : std::int64_t {
    signed_sum,
    magnitude,
    rigorous,
    azuma,
    linear,
    squares,
    core,
    drift,
    by_score,
    by_max,
    prob,
    prob_error,
    partial_abs,
    streams
  };

  RowSums(std::int64_t rows, std::int64_t dim)
      : dim_(dim),
        sums_(at(rows * streams * dim), 0.0),
        spread_(at(rows), 0.0),
        spread_squares_(at(rows), 0.0),
        size_(at(rows), 0.0),
        exempt_(at(rows), 0) {}

  double* stream(std::int64_t row, Stream which) {
    return sums_.data() + (row * streams + which) * dim_;
  }
  double value(std::int64_t row, Stream which, std::int64_t d) const {
    return sums_[at((row * streams + which) * dim_ + d)];
  }
  void add_spread(std::int64_t row, double q) {
    spread_[at(row)] += q;
    spread_squares_[at(row)] += q * q;
  }
  /// E16. sum q^2 / (sum q)^2: 1 / number of pairs that matter.
  double concentration(std::int64_t row) const {
    const double sum = spread_[at(row)];
    return sum > 0 ? spread_squares_[at(row)] / square(sum) : 0;
  }
  /// Sum of the summands' coefficients, by magnitude.
  void add_size(std::int64_t row, double coefficient) { size_[at(row)] += coefficient; }
  double size(std::int64_t row) const { return size_[at(row)]; }
  void exempt(std::int64_t row) { exempt_[at(row)] = 1; }
  bool is_exempt(std::int64_t row) const { return exempt_[at(row)] != 0; }
  std::int64_t dim() const { return dim_; }

 private:
  std::int64_t dim_;
  std::vector<double> sums_, spread_, spread_squares_, size_;
  std::vector<std::uint8_t> exempt_;
};

/// |x|^2 of `dim` channels.
double norm_squared(const double* x, std::int64_t dim);

/// One summand of a row: coefficients that multiply a row x of K, Q or dO.
struct Summand {
  double signed_sum, magnitude, rigorous, azuma, linear, core, spread, drift;
  double by_score, by_max;  ///< what the constants of the fused form add, at most
  bool overflow;
};

void add(RowSums& sums, std::int64_t row, const Summand& c, const double* x, double x_norm_squared);

/// E15. The same summand `times` times. They share their roundings.
Summand repeated(Summand summand, double times);

/// What a pair adds to dq, dk and dv.
Summand query_summand(const PairTerms& terms);
Summand key_summand(const PairTerms& terms);
Summand value_summand(const PairTerms& terms);

/// E16. Effective number of independent channels: (tr C)^2 / tr(C^2) of C = X^T X, from at most 512
/// evenly spaced rows.
double effective_channels(std::span<const double* const> rows, std::int64_t dim);

/// The numbers of one element of which E19 to E26 make tolerance and deviation.
struct ElementSums {
  double ref, magnitude, rig, azuma, linear, squares, core, drift;
  double terms;               ///< n, length of the last sum
  double omega_coherent = 0;  ///< dq: contribution of the row's common errors to tau
  double sigma_coherent = 0;  ///< the same, squared, of sigma
  double constants = 0;       ///< what roundings that all pairs share add, at most
  double scaled_operand = 0;  ///< 2 u_k |scale| sum s|K| + 2 eta_k sum s, dq only
  double partials = 0;        ///< sum over heads |partial| with 16-bit partials
  double heads = 0;           ///< their number
  double floor = 0;           ///< Phi
};

/// E22. Returns what rounding the parts of a sum to 16 bits adds.
double partial_error(const Arithmetic& arithmetic, const ElementSums& sums, double core);

/// E26. Returns sigma^2, of which `part` is what partial_error says.
double element_variance(const Arithmetic& arithmetic, const ElementSums& sums, double part);

/// Makes the tolerances and moments of an element from its sums.
class Finisher {
 public:
  /// `elements` of the whole tensor share the probability of a false alarm.
  Finisher(const Arithmetic& arithmetic, std::int64_t elements);

  double lambda() const { return lambda_; }
  void finish(const ElementSums& s, Expectation& e, std::size_t k) const;

 private:
  const Arithmetic& n_;
  double lambda_;
};

}  // namespace assay::conformance::flash
