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

/// The forward operator, computed from its definition: the softmax of a query runs over those
/// entries of its list that it sees. A fully masked row has softmax_max -FLT_MAX, softmax_sum
/// FLT_MAX and output 0. Rows are independent: any thread may compute them.
/// Errors: std::invalid_argument as for Selection.
template <class Real, class Stored = Real>
class NsaSelectedAttention {
 public:
  using Problem = spec::SelectionProblem;

  /// Reads only query, key, value and the lists of `operands`.
  NsaSelectedAttention(const Problem& problem, SelectedOperands<Stored> operands)
      : given_(problem, std::move(operands)) {}

  /// Computes query (b, n, i) and appends its statistics and output.
  void append_row(std::int64_t b, std::int64_t n, std::int64_t i,
                  SelectedForward<Real>& rows) const;

 private:
  /// Returns the keys that the query sees, with repetitions as in its list.
  std::vector<std::int64_t> seen_keys(std::int64_t b, std::int64_t kv, std::int64_t i) const;

  SelectedGiven<Real, Stored> given_;
};

/// Computes all query rows.
template <class Real>
SelectedForward<Real> forward(const spec::SelectionProblem& problem,
                              const SelectedOperands<Real>& operands);

}  // namespace assay::reference
