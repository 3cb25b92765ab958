#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/bilinear.hpp"
#include "assay/conformance/inputs/inputs.hpp"
#include "bilinear/bound.hpp"
#include "bilinear/definition.hpp"
#include "bilinear/exact_case.hpp"
#include "bilinear/structure.hpp"
#include "judge/basis.hpp"
#include "judge/decide.hpp"
#include "judge/run_kernel.hpp"

namespace assay::conformance {
namespace bilinear {

template <class Op>
Form form_of(const typename Op::Problem& problem) {
  return Suite<Op>::form(problem);
}
template <class Op>
std::unique_ptr<Definition> definition_of(const typename Op::Problem& problem,
                                          const Operands& operands) {
  return Suite<Op>::definition(problem, operands);
}

template <class Tensors>
std::vector<const spec::Tensor*> tensor_list(const Tensors& tensors) {
  std::vector<const spec::Tensor*> list;
  visit_tensors(tensors, [&](const char*, const spec::Tensor& tensor) { list.push_back(&tensor); });
  return list;
}

/// Returns the input tensors of a case. make(k, parameter) creates input k with the shape and type
/// of `parameter`.
template <class Op, class Make>
typename Op::Inputs made_inputs(const Case<Op>& c, const Make& make) {
  typename Op::Inputs inputs;
  const auto call = call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  std::size_t k = 0;
  visit_fields(inputs, [&](std::string_view name, spec::Tensor& input) {
    visit_fields(call.parameters, [&]<class Member>(std::string_view own, const Member& parameter) {
      if constexpr (std::same_as<Member, spec::Parameter>)
        if (own == name) input = make(k, parameter);
    });
    ++k;
  });
  return inputs;
}

/// Returns the input tensors of a case, filled by an input profile (a named distribution of
/// values).
template <class Op>
typename Op::Inputs drawn_inputs(const Case<Op>& c, ProfileValue value) {
  const Form form = form_of<Op>(c.problem);
  return made_inputs(c, [&](std::size_t k, const spec::Parameter& parameter) {
    const auto& [extents, stream] = form.operands[k];
    return filled_rows(parameter, extents, {.seed = c.seed, .which = stream, .value = value});
  });
}

/// Returns which rows of each output are judged.
template <class Op>
std::vector<std::vector<std::int64_t>> judged_rows_of(const Form& form, const Case<Op>& c) {
  std::vector<std::vector<std::int64_t>> judged;
  for (const Sum& sum : form.sums)
    judged.push_back(judged_of(sum.extents, c.rows, c.seed + judged.size()));
  return judged;
}

/// The data that the judge needs for one case: references, tolerances and structure checks.
/// judge/basis.hpp describes the members.
template <class Op>
class Basis {
 public:
  using Outputs = typename Op::Outputs;

  Basis(const Case<Op>& c, const typename Op::Inputs& inputs, const Arithmetic& arithmetic)
      : case_(c),
        arithmetic_(arithmetic),
        operands_(form_of<Op>(c.problem), tensor_list(inputs)),
        judged_(judged_rows_of(operands_.form(), c)) {}

  std::vector<Finding> check_structure(const Outputs& outputs) const {
    return bilinear::check_structure(operands_, arithmetic_, tensor_list(outputs));
  }
  std::vector<Expectation> expectations() const {
    return bilinear::expectations(operands_, arithmetic_, judged_);
  }
  std::vector<TileSums> tile_sums(bool /*averages*/) const {
    return bilinear::tile_sums(operands_, arithmetic_, judged_, case_.seed);
  }
  bool consistent() const { return true; }  ///< no input is the result of another one
  std::unique_ptr<Definition> definition() const {
    return definition_of<Op>(case_.problem, operands_);
  }
  std::vector<double> values(const RowsOf& rows, const Outputs& outputs) const {
    const std::vector<Sum>& sums = operands_.form().sums;
    const auto sum = std::ranges::find(sums, rows.tensor, &Sum::name);
    return rows_of(*tensor_list(outputs)[static_cast<std::size_t>(sum - sums.begin())],
                   rows.extents, rows.rows);
  }

 private:
  const Case<Op>& case_;
  const Arithmetic& arithmetic_;
  Operands operands_;
  std::vector<std::vector<std::int64_t>> judged_;
};

}  // namespace bilinear

template <class Op>
bilinear::ExactCase<Op> BilinearSuite<Op>::exact(const Case<Op>& c, const spec::Numerics& numerics,
                                                 ExactPart part) {
  const bilinear::Form form = bilinear::form_of<Op>(c.problem);
  bilinear::ExactAnswer answer =
      bilinear::exact_answer({.form = form,
                              .io = c.problem.dtype,
                              .track = c.track,
                              .seed = c.seed,
                              .judged = bilinear::judged_rows_of(form, c)},
                             numerics, part);
  return {.inputs = bilinear::made_inputs(c,
                                          [&](std::size_t k, const spec::Parameter& parameter) {
                                            return bilinear::tensor_of(
                                                parameter, form.operands[k].extents,
                                                bilinear::values_of(answer.operands[k]));
                                          }),
          .outputs = std::move(answer.outputs)};
}

template <class Op>
std::vector<ExactTensor> BilinearSuite<Op>::exact_tensors(const Exact& exact_case,
                                                          const typename Op::Problem&) {
  std::vector<ExactTensor> tensors;
  for (const bilinear::ExactSums& output : exact_case.outputs)
    tensors.push_back({output.name.data(), output.values, output.rows, output.dim});
  return tensors;
}

}  // namespace assay::conformance
