#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/definition.hpp"

namespace assay::conformance {

/// The number type for rows that are computed quickly from the definition of an operator.
/// Double-double (a sum of two doubles) has no functions such as exp for a user's formulas.
enum class QuickRows : std::uint8_t { in_double_double, in_many_digits };

/// Computes rows of an attention operator in high precision, directly from its definition. A case
/// is split into parts. For each part, an object of the class Oracle computes the rows in one of
/// two precisions. It is created at its first use, because most parts of a large case are never
/// requested. The derived class `Own` must have two functions: `make<Real>(part)` creates the
/// Oracle object; `rows(tensor, number, oracle)` computes rows, and calls `oracle(part)` to get
/// this object.
template <class Own, template <class> class Oracle>
class DefinitionByOracles : public Definition {
 public:
  DefinedRows row(const std::string& tensor, std::int64_t number) final {
    return rows_of(many_, tensor, number);
  }
  DefinedRows quick_row(const std::string& tensor, std::int64_t number) final {
    return quick_ == QuickRows::in_double_double ? rows_of(twice_, tensor, number)
                                                 : rows_of(many_, tensor, number);
  }

 protected:
  explicit DefinitionByOracles(std::int64_t parts = 1,
                               QuickRows quick = QuickRows::in_double_double)
      : quick_(quick), twice_(static_cast<std::size_t>(parts)), many_(twice_.size()) {}

 private:
  template <class Real>
  struct Made {
    std::once_flag flag;
    std::unique_ptr<const Oracle<Real>> oracle;
  };

  template <class Real>
  DefinedRows rows_of(std::vector<Made<Real>>& all, const std::string& tensor,
                      std::int64_t number) {
    const Own& own = static_cast<const Own&>(*this);
    return own.rows(tensor, number, [&](std::int64_t part) -> const Oracle<Real>& {
      Made<Real>& made = all[static_cast<std::size_t>(part)];
      std::call_once(made.flag,
                     [&] { made.oracle.reset(new Oracle<Real>(own.template make<Real>(part))); });
      return *made.oracle;
    });
  }

  QuickRows quick_;
  std::vector<Made<reference::DoubleDouble>> twice_;
  std::vector<Made<reference::SeventyFive>> many_;
};

/// Returns whether the gradient tensor has one row per query. Other gradients have one row per key.
inline bool is_of_query(const std::string& tensor) { return tensor.starts_with("dq"); }

/// Appends the row to `rows` if the number type Real is precise enough for it.
template <class Real>
void add_row(DefinedRows& rows, const char* tensor, const std::vector<Real>& row) {
  if (std::optional<DefinedRow> defined = defined_row(row))
    rows.emplace_back(tensor, std::move(*defined));
}

}  // namespace assay::conformance
