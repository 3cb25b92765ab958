#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "bilinear/basis.hpp"
#include "judge/relations/relation.hpp"

namespace assay::conformance::bilinear {

/// The data for the relations (comparisons of several runs) of an operator with two inputs. These
/// relations change only values and do not move rows. judge/relations/trial.hpp describes the
/// members.
template <class Op>
struct FixedRows : PlainRelationParts<Op> {
  using Problem = typename Op::Problem;
  struct Rows {
    std::vector<double> first, second;  ///< the rows of each input
    friend bool operator==(const Rows&, const Rows&) = default;
  };
  struct Origins {
    Origin all = same_row;
  };

  static std::span<const conformance::Operand<Op>> operands() {
    const auto tensor = [](const spec::Parameter& parameter, const Problem&,
                           const spec::Extents& extents, const std::vector<double>& values) {
      return tensor_of(parameter, extents, values);
    };
    static const auto names = names_of<typename Op::Inputs>();
    static const conformance::Operand<Op> all[] = {
        {names[0], &Rows::first, operand_extents<0>, &Origins::all, tensor},
        {names[1], &Rows::second, operand_extents<1>, &Origins::all, tensor}};
    return all;
  }
  static std::span<const ComparedOutput<Op>> outputs() {
    static const auto all = [] {
      std::vector<ComparedOutput<Op>> outputs;
      for (const std::string_view name : names_of<typename Op::Outputs>())
        outputs.push_back({name, sum_extents[outputs.size()], &Origins::all,
                           [](const Problem&, const spec::Tensor& tensor, const spec::Extents& e)
                               -> ElementIndex { return index_of(tensor, e); }});
      return outputs;
    }();
    return all;
  }
  static Rows rows_of(const Problem& problem, const typename Op::Inputs& inputs) {
    const Operands operands(form_of<Op>(problem), tensor_list(inputs));
    return {operands.values(0), operands.values(1)};
  }
  /// Returns the relations that the operator lists in its Traits. Defined in bilinear/suite.hpp.
  static std::vector<const Relation<Op>*> relations();
  /// Returns the unchanged trial (one run of the kernel). Only relations (comparisons of runs) that
  /// move rows need this function, and this operator has no such relations.
  static Trial<Op> rearranged(const Trial<Op>& base, const Problem&, const Origins&) {
    return base;
  }
  /// Returns 0, because computing the bounds (tolerances) costs less than a run of the kernel.
  static double cost_of_bounds(const Problem&) { return 0; }

 private:
  template <class Tensors>
  static std::vector<std::string_view> names_of() {
    std::vector<std::string_view> names;
    const Tensors none{};
    visit_fields(none, [&](std::string_view name, const auto&) { names.push_back(name); });
    return names;
  }
  template <std::size_t k>
  static spec::Extents operand_extents(const Problem& problem) {
    return form_of<Op>(problem).operands[k].extents;
  }
  template <std::size_t k>
  static spec::Extents output_extents(const Problem& problem) {
    return form_of<Op>(problem).sums[k].extents;
  }
  static constexpr std::array sum_extents = {output_extents<0>, output_extents<1>,
                                             output_extents<2>};
};

}  // namespace assay::conformance::bilinear
