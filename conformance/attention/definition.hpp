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

/// The precision of quick rows. Double-double has no functions for formulas of a user.
enum class QuickRows : std::uint8_t { in_double_double, in_many_digits };

/// The high-precision definition of an attention operator. Its oracles compute rows in two
/// precisions; each oracle covers a part of the case, and is created at its first use: in a large
/// case most parts are never requested. `Own`, the derived class, has two functions:
/// `make<Real>(part)` returns an oracle, and `rows(tensor, number, oracle)` returns rows, where
/// `oracle(part)` returns the oracle of a part.
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

/// Returns whether the gradient belongs to queries; otherwise it belongs to keys.
inline bool is_of_query(const std::string& tensor) { return tensor.starts_with("dq"); }

/// Adds the row if Real is precise enough for it.
template <class Real>
void add_row(DefinedRows& rows, const char* tensor, const std::vector<Real>& row) {
  if (std::optional<DefinedRow> defined = defined_row(row))
    rows.emplace_back(tensor, std::move(*defined));
}

}  // namespace assay::conformance
