#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/report/report.hpp"
#include "judge/tile_sums.hpp"

namespace assay::conformance {

/// Rows that were computed from the definition in 113 bits.
struct Certificate {
  struct Row {
    std::int64_t number;  ///< in Extents::row
    std::vector<double> value;
  };
  std::map<std::string, std::vector<Row>> rows;  ///< by tensor

  /// Replaces value and radius of the certified rows.
  void apply(std::vector<Expectation>& expectations) const;
};

/// Errors: std::logic_error naming the first element of a certified row from which the expectation
/// is further away than its proven radius.
void require_agreement(const Expectation& expectation, const std::vector<Certificate::Row>& rows);

/// Some rows of an output tensor.
struct RowsOf {
  const std::string& tensor;
  const spec::Extents& extents;
  std::span<const std::int64_t> rows;
};

/// What every judgement of one case by kernels of one arithmetic rests on. Every operator has a
/// specialisation, with these members:
///
///   /// Keeps references.
///   Grounds(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic);
///   /// Of every element, judged or not: storage beside the view untouched, written, finite where
///   /// nothing can overflow, zero (up to the floor) where zero is due.
///   std::vector<Finding> check_structure(const Op::Outputs& outputs) const;
///   /// Track bound: reference, radius and tolerances of the judged rows of every output, in
///   /// parts where they are too many.
///   std::vector<Expectation> expectations();
///   /// Behind `expectations`: whether the profile may be judged on these data.
///   bool consistent() const;
///   /// Some rows in 113 bits. Errors: std::logic_error where the double engine is off by more
///   /// than its radius.
///   Certificate certify() const;
///   /// Whether certified rows hold for kernels of this arithmetic.
///   bool is_certifiable() const;
///   /// Behind `expectations`: sums over the tiles of the tensors of which rows are left out, in
///   /// their order. Nothing where all rows are judged. `averages`: whether roundings are taken
///   /// for independent.
///   std::vector<TileSums> tile_sums(bool averages);
///   /// Rows of an output, by their number: (rows, dim) row-major.
///   std::vector<double> values(const RowsOf& rows, const Op::Outputs& outputs) const;
template <class Op>
class Grounds;

}  // namespace assay::conformance
