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

/// Elements that are made without a value where none is given: of a large tensor, filling them with
/// zeros takes as long as computing them.
template <class T>
struct Unset : std::allocator<T> {
  /// Makes a U of what is given, or without a value.
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

/// What the judge knows of one output tensor before it sees an output: for every judged element the
/// reference, the proven radius of the reference, the tolerances and the deviation of healthy
/// errors. Where that is too much to be kept, the entries are empty and `part` makes those of some
/// rows anew whenever they are looked at.
struct Expectation {
  std::string name;
  spec::Extents extents;
  std::vector<std::int64_t> rows;  ///< judged rows by their number in Extents::row, ascending

  // One entry per judged element, (rows, dim) row-major.
  Entries<double> value, radius, tau, tau_det, sigma, floor;
  Entries<double> drift;  ///< what the declared staging is known to add: R and b look at the rest
  Entries<float> core, accumulation, extra;  ///< the terms of tau before the final cast
  std::vector<std::uint8_t> exempt;          ///< per row: a staged value may overflow

  std::vector<double> share;  ///< per row: 1 / effective degrees of freedom of its errors; 0: they
                              ///< have no deviation
  bool biasable =
      true;  ///< false where all pairs share their roundings, so that a mean says nothing

  Certainty certainty;  ///< of `value`, where it was certified

  /// Of consecutive judged rows; empty where the entries are kept.
  std::function<Expectation(std::span<const std::int64_t> rows)> part;

  std::int64_t dim() const { return extents.dim; }
  std::int64_t elements() const { return static_cast<std::int64_t>(value.size()); }
  std::int64_t row_count() const { return static_cast<std::int64_t>(rows.size()); }
  /// So many rows of zeros.
  void resize(std::int64_t row_count);
  /// So many rows; the entries of their elements have no values yet.
  void make_room(std::int64_t row_count);
  /// Keeps the first rows.
  void truncate(std::int64_t row_count);
};

/// Takes some rows of a tensor that follow each other in the order of the judged ones, with their
/// entries, which it may change but not keep; from several threads, a row once.
using TakePart = std::function<void(Expectation& part)>;
/// Elements of such a part: they stay near the processor while they are made and judged.
inline constexpr std::int64_t elements_of_piece = 1 << 12;

/// Elements of all outputs of a case beyond which expectations are not kept but made in parts
/// whenever outputs are judged.
inline constexpr std::int64_t kept_elements = std::int64_t{1} << 20;

/// The expectations of which `frames` has names, extents and rows and `each_part` makes the entries
/// in parts.
std::vector<Expectation> collected(std::vector<Expectation> frames,
                                   const std::function<void(const TakePart&)>& each_part);

/// Some of its rows, whose entries are kept.
Expectation slice_of(const Expectation& expectation, std::int64_t first_row,
                     std::int64_t row_count);

/// Elements of a part: enough for all cores, few beside the tensors of a case.
inline constexpr std::int64_t elements_of_part = 1 << 16;

/// The expectation, or, where it is not kept, its parts in the order of the rows.
void each_part(const Expectation& expectation,
               const std::function<void(const Expectation&)>& visit);

/// Values of some rows of an output, (rows, dim) row-major.
using RowReader = std::function<std::vector<double>(std::span<const std::int64_t> rows)>;

/// Judges the values of the judged elements: infinities, |error| <= tau, R, bias. Findings are
/// added to `findings`; the worst of them decides. Of what comes in parts no more is kept than a
/// number an element.
Decision compare(const Expectation& expectation, const RowReader& actual,
                 const Arithmetic& arithmetic, TensorReport& report,
                 std::vector<Finding>& findings);
/// The same of all values at once.
Decision compare(const Expectation& expectation, const std::vector<double>& actual,
                 const Arithmetic& arithmetic, TensorReport& report,
                 std::vector<Finding>& findings);

/// What the negative controls of one tensor say.
struct ControlResult {
  bool blind = false;       ///< Z or N passed although the gradient exceeds its tolerance
  bool weak = false;        ///< another applicable control passed, or Z or N in some head
  bool applicable = false;  ///< the gradient exceeds its tolerance somewhere
  std::string letters;      ///< as TensorReport::controls
  std::int64_t rows_due = 0, rows_blind = 0;  ///< as of TensorReport
  std::string text;                           ///< in which heads Z passed; empty where in none
};

/// Judges corruptions of the reference, of every head by itself: Z zeros, N negated, L the last row
/// that is not zero set to zero, W one row set to zero, that of the head's rows which is the median
/// of how well it is seen; and of the tensor, S scaled by 1.02. A head in which nothing but zeros
/// up to the floor is due has no controls; a tensor without others none.
ControlResult judge_controls(const Expectation& expectation, const Arithmetic& arithmetic);

/// Index text of a judged element.
Finding locate(const Expectation& expectation, std::int64_t element);

}  // namespace assay::conformance
