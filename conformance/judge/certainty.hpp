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

/// Where a cast changes its result: half way between neighbours, or at them where it cuts.
class CastSteps {
 public:
  CastSteps(spec::DType type, spec::Rounding rounding);

  /// What neighbours around `value` differ by.
  double step(double value) const;
  /// `value` less the nearest number where the cast changes, in double without error.
  double offset(double value) const;
  /// Whether all numbers within `radius` of `value` are cast alike.
  bool decides(double value, double radius) const;
  /// Of a cast to nearest; nothing of others.
  std::optional<NearestSteps> nearest() const;

 private:
  double relative_step_, least_normal_, least_step_;
  bool is_nearest_, is_function_;
};

/// E30. Makes the references of a case certain: double is believed where its proven radius is below
/// 2^-20 tau and holds one number of the output's type or a tie, rows with other elements are asked
/// of the definition: in double-double, and where that does not tell either, in 75 digits. For any
/// number of numerics, which share the rows.
class Certifier {
 public:
  explicit Certifier(std::unique_ptr<Definition> definition);

  /// Rows are asked for until they have taken so many multiplications more.
  void allow(std::int64_t products) { left_ = products; }

  /// Whether one more row of the tensor can be asked for.
  bool affords_row(const std::string& tensor) const;

  /// Replaces value and radius where the definition is asked, and counts, now or, where the
  /// expectation comes in parts, whenever one is made. `certifier` may be null: then nothing is
  /// asked, as where the numerics has another reference than the definition.
  static void certify(const std::shared_ptr<Certifier>& certifier, const Arithmetic& arithmetic,
                      Expectation& expectation);
  /// Asks as well for rows with elements that double has on a tie, for who needs the cast; of a
  /// part, or of what is kept.
  void settle_casts(const Arithmetic& arithmetic, Expectation& part);

  /// Asks the definition for one row of every group of tensors, if it takes so many multiplications
  /// at most.
  /// Errors: std::logic_error naming the first element that is further away from the expectation
  /// than its proven radius.
  void require_agreement(const std::vector<Expectation>& expectations, std::int64_t most_products);

 private:
  using Key = std::pair<std::string, std::int64_t>;
  using Rows = std::map<Key, DefinedRow>;
  struct Doubts;
  /// How well the definition computes a row.
  enum class Digits : std::uint8_t { double_double, seventy_five };

  static Doubts doubts_of(const Expectation& expectation, const Arithmetic& arithmetic);
  static void settle(const Certifier* certifier, const Arithmetic& arithmetic, const Doubts& doubts,
                     Expectation& expectation);
  void ask(const Expectation& part, const Arithmetic& arithmetic, const Doubts& doubts);
  /// Rows of elements, first in double-double, then, where that does not settle them, in 75 digits.
  void ask_of(const Expectation& part, const CastSteps& steps,
              const std::vector<std::size_t>& elements, std::int64_t kept);
  /// The rows of the elements, those that can be afforded, so that as much as `kept` is left.
  void make(Digits digits, const Expectation& part, const std::vector<std::size_t>& elements,
            std::int64_t kept);
  DefinedRows made(Digits digits, const std::string& tensor, std::int64_t row);
  const DefinedRow* find(Digits digits, const std::string& tensor, std::int64_t row) const;
  /// The row in double-double, if it settles the element.
  const DefinedRow* find_settling(const Expectation& part, const CastSteps& steps,
                                  std::size_t k) const;
  /// What is known best of the row of the element; null where nobody was asked.
  const DefinedRow* known(const Expectation& part, const CastSteps& steps, std::size_t k) const;
  const DefinedRow& agreeing_row(const std::string& tensor, std::int64_t row);

  std::unique_ptr<Definition> definition_;
  std::int64_t left_ = 0;
  Rows quick_rows_, rows_;
};

/// Errors: std::logic_error naming the first element of row `number` of the expectation that is
/// further away from the definition than its proven radius.
void require_agreement(const Expectation& expectation, std::int64_t number, const DefinedRow& row);

}  // namespace assay::conformance
