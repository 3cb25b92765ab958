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

/// An allocator that does not initialize new elements without a value: filling a large tensor with
/// zeros would take as long as computing it.
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

/// The expected values of one output tensor, made before the judge sees the output. For every
/// judged element: the reference, its proven radius, the tolerances, and the standard deviation of
/// a correct kernel's error. If these lists would need too much memory, they stay empty, and `part`
/// computes the values of some rows each time they are needed.
struct Expectation {
  std::string name;
  spec::Extents extents;
  std::vector<std::int64_t> rows;  ///< judged rows: numbers of Extents::row, ascending

  // One element per judged element, (rows, dim) row-major.
  Entries<double> value, radius, tau, tau_det, sigma, floor;
  Entries<double> drift;  ///< known error of the declared staging: R and b judge the rest
  Entries<float> core, accumulation, extra;  ///< the terms of tau before the final cast
  std::vector<std::uint8_t> exempt;          ///< per row: a staged value may overflow

  std::vector<double> share;  ///< per row: 1 / effective degrees of freedom of its errors; 0: the
                              ///< errors have no standard deviation
  bool biasable =
      true;  ///< false if all pairs share their roundings, so that a mean proves nothing

  bool is_fp32 = false;  ///< the tensor has type fp32, whatever the type of the problem

  Certainty certainty;  ///< of `value`, if it was certified

  /// Computes the expectation of consecutive judged rows. Not set if the values are stored.
  std::function<Expectation(std::span<const std::int64_t> rows)> part;

  std::int64_t dim() const { return extents.dim; }
  std::int64_t elements() const { return static_cast<std::int64_t>(value.size()); }
  std::int64_t row_count() const { return static_cast<std::int64_t>(rows.size()); }
  /// Sets the number of rows. All their elements are 0.
  void resize(std::int64_t row_count);
  /// Sets the number of rows. Their elements are uninitialized.
  void make_room(std::int64_t row_count);
  /// Removes all rows except the first `row_count`.
  void truncate(std::int64_t row_count);
};

/// Receives the expectation of consecutive judged rows of a tensor. It may change the values, but
/// must not keep a reference. Several threads call it; every row is passed once.
using TakePart = std::function<void(Expectation& part)>;
/// Number of elements in such a part. It is small enough for the cache while they are computed and
/// judged.
inline constexpr std::int64_t elements_of_piece = 1 << 12;

/// If all outputs of a case together have at most this number of elements, their expectations are
/// stored. Otherwise they are computed in parts, each time outputs are judged.
inline constexpr std::int64_t kept_elements = std::int64_t{1} << 20;

/// Creates expectations with the names, extents and rows of `frames`. `each_part` computes the
/// values in parts.
std::vector<Expectation> collected(std::vector<Expectation> frames,
                                   const std::function<void(const TakePart&)>& each_part);

/// The expectation of some rows, with stored values.
Expectation slice_of(const Expectation& expectation, std::int64_t first_row,
                     std::int64_t row_count);

/// Number of elements in a part: enough work for all cores, but little memory compared with the
/// tensors of a case.
inline constexpr std::int64_t elements_of_part = 1 << 16;

/// Calls visit with the stored expectation, or with its parts in the order of the rows.
void each_part(const Expectation& expectation,
               const std::function<void(const Expectation&)>& visit);

/// Returns the values of some rows of an output, (rows, dim) row-major.
using RowReader = std::function<std::vector<double>(std::span<const std::int64_t> rows)>;

/// Compares the judged elements with the expectation. Checks infinities, |error| <= tau, and R and
/// bias (the statistics of the errors). Adds its findings to `findings`; the worst finding decides.
/// If the expectation comes in parts, only one number per element is stored.
Decision compare(const Expectation& expectation, const RowReader& actual,
                 const Arithmetic& arithmetic, TensorReport& report,
                 std::vector<Finding>& findings);
/// Does the same for values that are all in memory.
Decision compare(const Expectation& expectation, const std::vector<double>& actual,
                 const Arithmetic& arithmetic, TensorReport& report,
                 std::vector<Finding>& findings);

/// The result of the negative controls for one tensor: are corrupted outputs detected?
struct ControlResult {
  bool blind = false;       ///< Z or N passed although a value exceeds its tolerance
  bool weak = false;        ///< another applicable control passed, or Z or N passed in some head
  bool applicable = false;  ///< some value exceeds its tolerance
  std::string letters;      ///< in the form of TensorReport::controls
  std::int64_t rows_nonzero = 0, rows_blind = 0;  ///< as in TensorReport
  Fact blind_heads;                               ///< the heads in which Z passed; empty if none
};

/// Judges corrupted copies of the reference. For each head: Z sets all elements to zero; N
/// negates them; L sets the last nonzero row to zero; W sets a row of median visibility to
/// zero. For the whole tensor: S multiplies by 1.02. A head has no controls if all its
/// expected values are at most the floor. A tensor has no controls if none of its heads has
/// any.
ControlResult judge_controls(const Expectation& expectation, const Arithmetic& arithmetic);

/// A finding with the indices (b, n, s, d) of a judged element.
Finding locate(const Expectation& expectation, std::int64_t element);

}  // namespace assay::conformance
