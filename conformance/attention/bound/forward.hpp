#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "attention/bound/row_terms.hpp"
#include "attention/dense.hpp"
#include "attention/formula/forward.hpp"
#include "attention/variant/variant_pattern.hpp"

/// Computes error bounds of a forward pass, for its statistics and its output, with any mask, list,
/// bias and dropout. Derivation: docs/forward.md.
namespace assay::conformance::attention {

/// A factor slightly above 1. It covers the products of two errors, and the rounding errors of the
/// judge's own arithmetic.
inline constexpr double forward_slack = 1 + 0x1p-10;

/// Computes the scores of query rows, with the formula of the kernel, and the errors of the scores.
/// Keeps references to the arguments.
class ForwardScores {
 public:
  ForwardScores(const Dense& dense, const Arithmetic& arithmetic)
      : dense_(dense),
        n_(arithmetic),
        call_(call_of(dense, arithmetic)),
        of_statistics_(call_),
        on_(call_.units, {}),
        variant_(score_variant_of(dense)) {
    of_statistics_.log_error = 0;
  }
  ForwardScores(const ForwardScores&) = delete;

  /// Equations E40, E41, E48. Returns the statistics of a row and the bounds of their errors.
  /// `entries`: the number of keys that a kernel may process, including masked and repeated keys.
  /// `lambda`: the factor of the probable error; it follows from the accepted probability of a
  /// false positive (equation E18).
  ForwardRow row(const RowProducts& products, double entries, double lambda) const;

  /// Calls visit(score, c, times) for every unmasked key c of a row; `times` is how often the query
  /// attends to the key. `row` contains the statistics of the row.
  template <class Visitor>
  void visit(const Row<double>& row, const RowProducts& products, const Visitor& visit_key) const {
    visit_keys(call_, row, products, visit_key);
  }

  /// Returns the error of a weight exp(x) as an error of its argument x. It is the sum of three
  /// errors: of x, of exp, and of rescaling.
  double weight_error(const ForwardRow& row, const PairNumber& score) const {
    return score.rigorous + n_.eps_x + row.rescaling.proven;
  }
  const Call& call() const { return call_; }

 private:
  class RowArrays;

  template <class Visitor>
  void visit_keys(const Call& call, const Row<double>& row, const RowProducts& products,
                  const Visitor& visit_key) const {
    for (std::size_t c = 0; c < products.times.size(); ++c)
      if (products.times[c] != 0)
        visit_key(stored_score_of(on_, call, row, products, c, variant_), c,
                  static_cast<double>(products.times[c]));
  }
  /// Returns the logit of the row's sink, which is exact before the kernel stores it. Returns
  /// nothing if the row has no sink.
  std::optional<PairNumber> sink_of(const RowProducts& products, const Row<double>& row) const;
  /// Computes the scores of a row, as its statistics use them.
  void read(const RowProducts& products, const Row<double>& row, const RowArrays& to) const;
  static double growths(const RowArrays& row, double sink);
  void fill_max(const RowProducts& products, double lambda, const RowArrays& arrays,
                ForwardRow& row) const;
  void fill_sum(const RowProducts& products, double entries, double lambda, const RowArrays& arrays,
                ForwardRow& row) const;
  void fill_alike(std::vector<double>& scores, ForwardRow& row) const;

  const Dense& dense_;
  const Arithmetic& n_;
  Call call_;
  Call of_statistics_;  ///< without the error of ln z: the statistics are computed before it
  PairReading on_;
  const Variant* variant_;
};

/// Computes the softmax statistics of the given query rows, in their order. `rows` contains row
/// numbers as Extents::row defines them. A row without an unmasked key and without a sink has keys
/// = 0. Cost: about 3 multiplications per channel and pair, in double, on all cores.
std::vector<ForwardRow> forward_rows(const Dense& dense, const Arithmetic& arithmetic,
                                     const std::vector<std::int64_t>& rows);

}  // namespace assay::conformance::attention
