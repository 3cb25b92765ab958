#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/layout.hpp"

namespace assay::conformance {

/// An allocator that leaves new elements uninitialized. Filling a large tensor with zeros would
/// take as long as computing it.
template <class T>
struct Unset : std::allocator<T> {
  /// Constructs a U from the arguments. Without arguments, the element stays uninitialized.
  template <class U, class... Given>
  void construct(U* place, Given&&... given) {
    if constexpr (sizeof...(Given) == 0)
      ::new (static_cast<void*>(place)) U;
    else
      std::construct_at(place, std::forward<Given>(given)...);
  }
};
template <class T>
using Entries = std::vector<T, Unset<T>>;

/// The expected values of one output tensor, computed before the judge sees the output. For every
/// judged element: the reference, the proven error of the reference (radius), the tolerances, and
/// the standard deviation of a correct kernel's error. If these lists would need too much memory,
/// they stay empty, and `part` computes the values of some rows each time they are needed.
struct Expectation {
  std::string name;
  spec::Extents extents;
  std::vector<std::int64_t> rows;  ///< judged rows: numbers of Extents::row, ascending

  // These lists have one element per judged element, (rows, dim) row-major.
  Entries<double> value, radius, tau, tau_det, sigma, floor;
  Entries<double> drift;  ///< known error of the declared staging: R and b judge the rest
  Entries<float> core, accumulation, extra;  ///< the terms of tau before the final cast
  std::vector<std::uint8_t> exempt;          ///< per row: a staged value may overflow

  /// Per row: 1 / effective degrees of freedom of its errors; 0: the errors have no standard
  /// deviation.
  std::vector<double> share;
  /// False if all pairs share their roundings. The mean of the errors then says nothing about the
  /// kernel.
  bool biasable = true;

  bool is_fp32 = false;  ///< the tensor has type fp32, whatever the type of the problem

  Certainty certainty;  ///< of `value`, if it was certified

  /// Computes the expectation of a block of consecutive judged rows. Empty if all values are in
  /// memory.
  std::function<Expectation(std::span<const std::int64_t> rows)> part;

  std::int64_t dim() const { return extents.dim; }
  std::int64_t elements() const { return static_cast<std::int64_t>(value.size()); }
  std::int64_t row_count() const { return static_cast<std::int64_t>(rows.size()); }
  /// Sets the number of rows, and all their elements to 0.
  void resize(std::int64_t row_count);
  /// Sets the number of rows, and leaves their elements uninitialized.
  void make_room(std::int64_t row_count);
  /// Removes all rows except the first `row_count`.
  void truncate(std::int64_t row_count);
};

/// A callback that receives the expectation of a block of consecutive judged rows. It may change
/// the values, but must not keep a reference. Several threads call it; each row is passed once.
using TakePart = std::function<void(Expectation& part)>;
/// The number of elements in a block of rows that TakePart receives. It is so small that the block
/// stays in the cache while it is computed and judged.
inline constexpr std::int64_t elements_of_piece = 1 << 12;

/// If the outputs of a case together have at most this number of elements, their expectations stay
/// in memory. Otherwise they are computed in blocks of rows, each time outputs are judged.
inline constexpr std::int64_t kept_elements = std::int64_t{1} << 20;

/// Computes complete expectations. `frames` contains names, shapes and rows; `each_part` computes
/// the values, one block of rows at a time.
std::vector<Expectation> collected(std::vector<Expectation> frames,
                                   const std::function<void(const TakePart&)>& each_part);

/// Returns the expectation of some rows, with values in memory.
Expectation slice_of(const Expectation& expectation, std::int64_t first_row,
                     std::int64_t row_count);

/// The number of elements in a block of rows: enough work for all cores, but little memory compared
/// with the tensors of a case.
inline constexpr std::int64_t elements_of_part = 1 << 16;

/// Calls visit with the expectation if its values are in memory. Otherwise computes one block of
/// rows after another and calls visit with each of them.
void each_part(const Expectation& expectation,
               const std::function<void(const Expectation&)>& visit);

/// A function that returns the values of some rows of an output, (rows, dim) row-major.
using RowReader = std::function<std::vector<double>(std::span<const std::int64_t> rows)>;

/// Compares the judged elements with the expectation. Checks infinities, |error| <= tau (the
/// tolerance), and the statistics of the errors: R (root mean square) and bias. Adds its findings
/// to `findings`; the worst finding decides. If the expectation is not in memory, only one number
/// per element is kept.
Decision compare(const Expectation& expectation, const RowReader& actual,
                 const Arithmetic& arithmetic, TensorReport& report,
                 std::vector<Finding>& findings);
/// Compares the judged elements with the expectation, for values that are all in memory.
Decision compare(const Expectation& expectation, const std::vector<double>& actual,
                 const Arithmetic& arithmetic, TensorReport& report,
                 std::vector<Finding>& findings);

/// The result of the negative controls for one tensor: does the judge detect outputs that are wrong
/// on purpose?
struct ControlResult {
  bool blind = false;       ///< Z or N passed although a value exceeds its tolerance
  bool weak = false;        ///< another applicable control passed, or Z or N passed in some head
  bool applicable = false;  ///< some value exceeds its tolerance
  std::string letters;      ///< in the form of TensorReport::controls
  std::int64_t rows_nonzero = 0, rows_blind = 0;  ///< as in TensorReport
  Fact blind_heads;                               ///< the heads in which Z passed; empty if none
};

/// Judges negative controls: copies of the reference that are wrong on purpose. For each head: Z
/// sets all elements to zero; N negates them; L sets the last nonzero row to zero; W sets one row
/// to zero, for each row. W counts as detected if the judge detects it in at least half of the rows
/// with a nonzero expected value. For the whole tensor: S multiplies by 1.02. A head has no
/// controls if all its expected values are at most the floor (the largest number that counts as
/// zero). A tensor has no controls if none of its heads has any.
ControlResult judge_controls(const Expectation& expectation, const Arithmetic& arithmetic);

/// Creates a finding with the indices (b, n, s, d) of a judged element.
Finding locate(const Expectation& expectation, std::int64_t element);

}  // namespace assay::conformance
