#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "attention/dense.hpp"

namespace assay::conformance::flash {

/// What the errors of a whole row depend on.
struct RowTerms {
  bool live = false;
  double softmax_max = 0, softmax_sum = 1;
  double delta = 0;                                    ///< the row term that the reference uses
  double omega_rig = 0, omega_ind = 0, omega_com = 0;  ///< error of the kernel's row term
  double zeta_rig = 0, zeta_ind = 0, zeta_com = 0;     ///< relative error of recomputed statistics
};

/// One element of `Products`.
struct PairSums {
  double score, score_abs, score_sq, dprob, dprob_abs, dprob_sq, bias, kappa;
};
inline PairSums sums_of(const Products& products, std::size_t c) {
  return {products.score[c],     products.score_abs[c], products.score_sq[c], products.dprob[c],
          products.dprob_abs[c], products.dprob_sq[c],  products.bias[c],     products.kappa[c]};
}

inline double square(double x) { return x * x; }

/// E3. Returns the error of a dot product of `dim` terms whose magnitudes add up to `magnitude`.
inline double dot_error(double magnitude, double dim, double u) {
  return magnitude * (dim + 4) * u;
}
/// E3. Of the mean-free sum.
inline double free_dot_error(double magnitude, double dim, double u) {
  return magnitude * (std::sqrt(dim) + 2) * u;
}

/// E4. Error of the exponent of one pair.
struct ExponentError {
  double score;            ///< of the exponent: scaled, with its position bias
  double coherent, total;  ///< xi_c; xi without the error of the statistics
  double v2, v2_moment;    ///< squares of the mean-free part: a priori, second moment
  double h_s;              ///< rounding of stored scores
};
ExponentError exponent_error(const Dense& dense, const Arithmetic& arithmetic, const RowTerms& row,
                             const PairSums& sums);

/// E8. Error of dP of one pair: total, and the rounding of a stored dP.
struct GradientError {
  double total, h_dp;
};
GradientError gradient_error(const Dense& dense, const Arithmetic& arithmetic,
                             const PairSums& sums);

/// E5. P before dropout, of the exponent's `score`.
double probability(const RowTerms& row, double score);

/// E6. expm1 for a small non-negative argument, never too small.
double growth(double x);

/// E6. Returns rho, the relative error of P, whose statistics are off by zeta.
inline double relative_error(const Arithmetic& n, const ExponentError& x, double zeta) {
  return growth(x.total + n.eps_x + 4 * n.u + zeta);
}
/// E6. Returns what of it all pairs of a row share.
inline double shared_error(const Arithmetic& n, const ExponentError& x, double rho) {
  return x.coherent + n.eps_x + 4 * n.u + rho * rho;
}

/// What the terms of dS and of P share.
struct Staged {
  ExponentError exponent;
  GradientError dp;
  double prob, rho;   ///< P and its relative error
  double h_p, error;  ///< rounding of a stored P; e_P
  double coherent;    ///< relative error of P that a row shares
};

/// E7. P with its errors.
Staged staged_probability(const Dense& dense, const Arithmetic& arithmetic, const RowTerms& row,
                          const PairSums& sums);

}  // namespace assay::conformance::flash
