#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bilinear/operands.hpp"
#include "judge/definition.hpp"

namespace assay::conformance::bilinear {

/// Returns the definition (the high-precision reference) of the operator. It keeps a reference to
/// the operands. Every operator of this kind specialises it.
template <class Op>
std::unique_ptr<Definition> definition_of(const typename Op::Problem& problem,
                                          const Operands& operands);

/// Computes exact products and sums with an Oracle for each head, which is created only if the head
/// is requested.
template <class Oracle>
class DefinitionByHeads : public Definition {
 public:
  using Make = std::function<Oracle(std::int64_t n)>;
  /// Returns a row of output `sum`; the oracle has only one head, with index 0.
  using Row = std::vector<reference::Wide> (*)(const Oracle& oracle, std::size_t sum,
                                               const spec::RowPosition& row);

  DefinitionByHeads(const Form& form, Make make, Row defined)
      : form_(form),
        make_(std::move(make)),
        defined_(defined),
        made_(static_cast<std::size_t>(form.sums.front().extents.heads)),
        oracles_(made_.size()) {}

  DefinedRows row(const std::string& tensor, std::int64_t number) override {
    const std::size_t sum = sum_named(tensor);
    const spec::RowPosition at = form_.sums[sum].extents.position(number);
    return {{tensor, defined_row(defined_(oracle(at.n), sum, {at.b, 0, at.s}))}};
  }
  std::int64_t products(const std::string& tensor) const override {
    constexpr std::int64_t price = 4;  // of an exact multiplication, if one with 50 digits costs 1
    const Sum& sum = form_.sums[sum_named(tensor)];
    return price * sum.products * sum.extents.dim;
  }

 private:
  std::size_t sum_named(const std::string& tensor) const {
    std::size_t k = 0;
    while (form_.sums[k].name != tensor) ++k;
    return k;
  }
  const Oracle& oracle(std::int64_t n) {
    const auto k = static_cast<std::size_t>(n);
    std::call_once(made_[k], [&] { oracles_[k].emplace(make_(n)); });
    return *oracles_[k];
  }

  const Form& form_;
  Make make_;
  Row defined_;
  std::vector<std::once_flag> made_;
  std::vector<std::optional<Oracle>> oracles_;
};

}  // namespace assay::conformance::bilinear
