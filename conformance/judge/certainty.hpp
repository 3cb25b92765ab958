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

/// The numbers at which the result of a cast changes. For a cast to nearest, these are halfway
/// between neighbouring numbers of the type. For a truncating cast, they are the numbers of the
/// type.
class CastSteps {
 public:
  CastSteps(spec::DType type, spec::Rounding rounding);

  /// Returns the distance between neighbouring numbers of the type near `value`.
  double step(double value) const;
  /// Returns `value` minus the nearest number at which the result of the cast changes. The
  /// difference is exact in double.
  double offset(double value) const;
  /// Returns whether the cast gives the same result for all numbers within `radius` of `value`.
  bool decides(double value, double radius) const;
  /// Returns the numbers at which the cast changes its result, if the cast rounds to nearest;
  /// otherwise nothing.
  std::optional<NearestSteps> nearest() const;

 private:
  double relative_step_, least_normal_, least_step_;
  bool is_nearest_, is_function_;
};

/// Equation E30 (docs/formula_sheet.md): ensures that the expected values of a case are accurate
/// enough. A value in double is accepted if its radius (proven error limit) is below 2^-20 times
/// the tolerance tau, and if all numbers within the radius have the same cast or are near one tie.
/// Other rows are computed by the *definition*, the operator's reference in higher precision: first
/// in double-double and, if this is not accurate enough, in 75 digits. The computed rows can be
/// used for any declared numerics.
class Certifier {
 public:
  explicit Certifier(std::unique_ptr<Definition> definition);

  /// Sets the budget: the number of multiplications that the definition (the reference in high
  /// precision) may use from now on.
  void allow(std::int64_t products) { left_ = products; }

  /// Returns whether the budget (number of multiplications) allows one more row of the tensor.
  bool affords_row(const std::string& tensor) const;

  /// Computes uncertain elements with the definition (the reference in high precision), replaces
  /// their value and radius (error limit), and counts all elements by certainty. If the expected
  /// values are computed part by part, this happens after each part; otherwise immediately. If
  /// `certifier` is null, the definition is not used, for example because the numerics (declared
  /// arithmetic) require another reference.
  static void certify(const std::shared_ptr<Certifier>& certifier, const Arithmetic& arithmetic,
                      Expectation& expectation);
  /// Also computes a row with the definition (the reference in high precision) if an element is so
  /// close to a tie that the result of its cast is unknown. Goldens (stored expected values) need
  /// this result. `part` contains some or all rows of the expected values.
  void settle_casts(const Arithmetic& arithmetic, Expectation& part);

  /// Compares one row of every group of tensors with the definition (the reference in high
  /// precision), if this takes at most `most_products` multiplications. Errors: std::logic_error
  /// with the first element that differs from the definition by more than its proven radius.
  void require_agreement(const std::vector<Expectation>& expectations, std::int64_t most_products);

 private:
  using Key = std::pair<std::string, std::int64_t>;
  using Rows = std::map<Key, DefinedRow>;
  struct Doubts;
  /// The precision in which the definition (the high-precision reference) computes a row.
  enum class Digits : std::uint8_t { double_double, seventy_five };

  static Doubts doubts_of(const Expectation& expectation, const Arithmetic& arithmetic);
  static void settle(const Certifier* certifier, const Arithmetic& arithmetic, const Doubts& doubts,
                     Expectation& expectation);
  void ask(const Expectation& part, const Arithmetic& arithmetic, const Doubts& doubts);
  /// Computes the rows that contain these elements in double-double. If this is not accurate
  /// enough, computes them in 75 digits.
  void ask_of(const Expectation& part, const CastSteps& steps,
              const std::vector<std::size_t>& elements, std::int64_t kept);
  /// Computes the rows that contain these elements. Stops when less than `kept` multiplications
  /// remain in the budget.
  void make(Digits digits, const Expectation& part, const std::vector<std::size_t>& elements,
            std::int64_t kept);
  DefinedRows made(Digits digits, const std::string& tensor, std::int64_t row);
  const DefinedRow* find(Digits digits, const std::string& tensor, std::int64_t row) const;
  /// Returns the row in double-double if it is accurate enough for element k; otherwise null.
  const DefinedRow* find_settling(const Expectation& part, const CastSteps& steps,
                                  std::size_t k) const;
  /// Returns the most accurate row that was computed for element k; null if no row was computed.
  const DefinedRow* known(const Expectation& part, const CastSteps& steps, std::size_t k) const;
  const DefinedRow& agreeing_row(const std::string& tensor, std::int64_t row);

  std::unique_ptr<Definition> definition_;
  std::int64_t left_ = 0;
  Rows quick_rows_, rows_;
};

/// Compares a row with the definition (the reference in high precision). Errors: std::logic_error
/// with the first element of row `number` that differs by more than its proven radius.
void require_agreement(const Expectation& expectation, std::int64_t number, const DefinedRow& row);

}  // namespace assay::conformance
