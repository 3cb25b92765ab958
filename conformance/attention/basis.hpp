#pragma once

#include <optional>
#include <vector>

#include "attention/bound/bound.hpp"
#include "attention/dense.hpp"
#include "judge/basis.hpp"
#include "judge/decide.hpp"

namespace assay::conformance {

/// Base class with the data and functions that judge an attention case. The class works for any
/// rule that decides which query attends to which key. judge/basis.hpp describes the members. Each
/// attention operator derives its own Basis from this class and adds the other members.
class AttentionBasis {
 public:
  /// The object keeps a reference to `arithmetic`.
  AttentionBasis(attention::Dense dense, attention::JudgedRows judged, const Arithmetic& arithmetic,
                 std::uint64_t seed);

  std::vector<Expectation> expectations();
  /// Returns names, shapes and judged rows of the expectations (expected values and tolerances).
  /// each_part() computes the numbers per element later, for one block of rows at a time.
  std::vector<Expectation> frames();
  void each_part(const TakePart& take);
  std::vector<TileSums> tile_sums(bool averages);
  bool consistent() const { return !row_terms_ || row_terms_->consistent; }
  bool is_certifiable() const { return arithmetic_.numerics.delta == spec::RowTerm::given; }

 protected:
  const attention::Dense& dense() const { return dense_; }
  const attention::JudgedRows& judged() const { return judged_; }
  const Arithmetic& arithmetic() const { return arithmetic_; }
  const attention::AllRowTerms& row_terms();

 private:
  attention::Dense dense_;
  attention::JudgedRows judged_;
  const Arithmetic& arithmetic_;
  std::uint64_t seed_;
  std::optional<attention::AllRowTerms> row_terms_;
};

/// Selects the rows of a case that the judge compares, for queries and for keys.
template <class CaseType>
attention::JudgedRows judged_rows_of(const CaseType& c) {
  return {judged_of(query_extents(c.problem), c.rows, c.seed),
          judged_of(key_extents(c.problem), c.rows, c.seed + 1)};
}

}  // namespace assay::conformance
