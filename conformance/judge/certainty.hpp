#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"
#include "judge/definition.hpp"
#include "judge/elements/row_loops.hpp"

namespace assay::conformance {

/// The numbers at which the result of a cast changes. For casts to nearest they are half way
/// between neighbouring numbers, for truncating casts they are the numbers themselves.
class CastSteps {
 public:
  CastSteps(spec::DType type, spec::Rounding rounding);

  /// Returns the distance between neighbouring numbers of the type near `value`.
  double step(double value) const;
  /// Returns `value` minus the nearest point where the result of the cast changes. The difference
  /// is exact in double.
  double offset(double value) const;
  /// Returns whether all numbers within `radius` of `value` have the same result of the cast.
  bool decides(double value, double radius) const;
  /// Returns the steps if the cast rounds to nearest; otherwise returns nothing.
  std::optional<NearestSteps> nearest() const;

 private:
  double relative_step_, least_normal_, least_step_;
  bool is_nearest_, is_function_;
};

/// Equation E30 (docs/formula_sheet.md): ensures that the references of a case are accurate enough.
/// The *definition* is the operator's reference in higher precision. A value in double is accepted
/// if its proven radius is below 2^-20 tau and if all numbers within the radius have the same cast,
/// or are near one tie. For rows with other elements the definition is called: first in
/// double-double; if this is not accurate enough, in 75 digits. The rows can be used for any number
/// of declared numerics.
class Certifier {
 public:
  explicit Certifier(std::unique_ptr<Definition> definition);

  /// Sets the budget: from now on the definition may use this many multiplications.
  void allow(std::int64_t products) { left_ = products; }

  /// Returns whether the budget allows one more row of the tensor.
  bool affords_row(const std::string& tensor) const;

  /// Calls the definition where it is needed, replaces value and radius there, and counts the
  /// elements by certainty. If the expected values are made part by part, does so after each part;
  /// otherwise immediately. If `certifier` is null, the definition is not called, for example
  /// because the numerics have another reference.
  static void certify(const std::shared_ptr<Certifier>& certifier, const Arithmetic& arithmetic,
                      Expectation& expectation);
  /// Calls the definition also for rows in which an element, computed in double, is so near a tie
  /// that the result of its cast is uncertain. Goldens need this result. `part` contains some or
  /// all rows of the expected values.
  void settle_casts(const Arithmetic& arithmetic, Expectation& part);

  /// Checks one row of every group of tensors against the definition, if this takes at most this
  /// many multiplications.
  /// Errors: std::logic_error with the first element whose distance from the definition is larger
  /// than its proven radius.
  void require_agreement(const std::vector<Expectation>& expectations, std::int64_t most_products);

 private:
  using Key = std::pair<std::string, std::int64_t>;
  using Rows = std::map<Key, DefinedRow>;
  struct Doubts;
  /// The precision with which the definition computes a row.
  enum class Digits : std::uint8_t { double_double, seventy_five };

  static Doubts doubts_of(const Expectation& expectation, const Arithmetic& arithmetic);
  static void settle(const Certifier* certifier, const Arithmetic& arithmetic, const Doubts& doubts,
                     Expectation& expectation);
  void ask(const Expectation& part, const Arithmetic& arithmetic, const Doubts& doubts);
  /// Computes the rows that contain these elements: first in double-double; in 75 digits if
  /// double-double is not accurate enough.
  void ask_of(const Expectation& part, const CastSteps& steps,
              const std::vector<std::size_t>& elements, std::int64_t kept);
  /// Computes the rows that contain these elements, and stops when less than `kept` of the budget
  /// remains.
  void make(Digits digits, const Expectation& part, const std::vector<std::size_t>& elements,
            std::int64_t kept);
  DefinedRows made(Digits digits, const std::string& tensor, std::int64_t row);
  const DefinedRow* find(Digits digits, const std::string& tensor, std::int64_t row) const;
  /// Returns the row in double-double if it is accurate enough for this element, otherwise null.
  const DefinedRow* find_settling(const Expectation& part, const CastSteps& steps,
                                  std::size_t k) const;
  /// Returns the most accurate row that was computed for the element; null if there is none.
  const DefinedRow* known(const Expectation& part, const CastSteps& steps, std::size_t k) const;
  const DefinedRow& agreeing_row(const std::string& tensor, std::int64_t row);

  std::unique_ptr<Definition> definition_;
  std::int64_t left_ = 0;
  Rows quick_rows_, rows_;
};

/// Errors: std::logic_error with the first element of row `number` whose distance from the
/// definition is larger than its proven radius.
void require_agreement(const Expectation& expectation, std::int64_t number, const DefinedRow& row);

}  // namespace assay::conformance
