#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "assay/reference/real.hpp"
#include "assay/reference/selection.hpp"

namespace assay::reference {

/// Softmax statistics and attention output of query rows, in the order of `spec::Extents::row`.
template <class Real>
struct SelectedForward {
  std::vector<Real> softmax_max, softmax_sum, attention_out;
};

/// Block-selected attention (the forward operator), computed from its definition. The softmax of a
/// query runs over the unmasked keys in the query's list of selected keys. A fully masked row has
/// softmax_max -FLT_MAX, softmax_sum FLT_MAX and output 0. Rows are independent: any thread may
/// compute them.
/// Errors: std::invalid_argument as in the constructor of Selection.
template <class Real, class Stored = Real>
class NsaSelectedAttention {
 public:
  using Problem = spec::SelectionProblem;

  /// Uses only query, key, value and the lists of selected blocks from `operands`.
  NsaSelectedAttention(const Problem& problem, SelectedOperands<Stored> operands)
      : given_(problem, std::move(operands)) {}

  /// Computes query row (b, n, i) and appends its statistics and output to `rows`.
  void append_row(std::int64_t b, std::int64_t n, std::int64_t i,
                  SelectedForward<Real>& rows) const;

 private:
  /// Returns the unmasked keys in the query's list, with repetitions as in the list.
  std::vector<std::int64_t> seen_keys(std::int64_t b, std::int64_t kv, std::int64_t i) const;

  SelectedGiven<Real, Stored> given_;
};

/// Computes the forward results of all query rows.
template <class Real>
SelectedForward<Real> forward(const spec::SelectionProblem& problem,
                              const SelectedOperands<Real>& operands);

}  // namespace assay::reference
