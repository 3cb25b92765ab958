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

/// Returns the definition of the operator, which is its reference in high precision:
/// `Suite<Op>::definition`. The definition keeps a reference to the operands.
template <class Op>
std::unique_ptr<Definition> definition_of(const typename Op::Problem& problem,
                                          const Operands& operands);

/// Computes exact products and sums. Each head has one object of the class Oracle (the reference of
/// one head), which is created when the head is first requested.
template <class Oracle>
class DefinitionByHeads : public Definition {
 public:
  using Make = std::function<Oracle(std::int64_t n)>;
  /// A function that returns a row of output number `sum`. The Oracle object (the reference of one
  /// head) contains only this head, with index 0.
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

/// Returns a definition whose Oracle is made from the problem with one head, and from the rows of
/// this head of each input `k`: one argument for each, or the members of one struct.
template <class Oracle, class Problem, std::size_t... k>
std::unique_ptr<Definition> definition_by_heads(const Problem& problem, const Operands& operands,
                                                typename DefinitionByHeads<Oracle>::Row defined,
                                                std::index_sequence<k...>) {
  Problem one = problem;
  one.heads = 1;
  return std::make_unique<DefinitionByHeads<Oracle>>(
      operands.form(),
      [one, &operands](std::int64_t n) {
        if constexpr (requires { Oracle{one, operands.head(k, n)...}; })
          return Oracle{one, operands.head(k, n)...};
        else
          return Oracle(one, {operands.head(k, n)...});
      },
      defined);
}

}  // namespace assay::conformance::bilinear
