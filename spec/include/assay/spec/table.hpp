#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>

#include "assay/spec/call.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::spec {

/// One tensor in the tensor list of an operator (`table_of`). Fields is Op::Inputs or Op::Outputs;
/// Member is Tensor or an optional Tensor.
template <class Problem, class Parameters, class Fields, class Member>
struct TensorRow {
  const char* name;  ///< the documented name in snake_case
  Parameter Parameters::*parameter;
  Member Fields::*member;
  Shape (*shape)(const Problem& problem);
  DType (*dtype)(const Problem& problem) = [](const Problem& problem) { return problem.dtype; };
};
template <class Problem, class Parameters, class Fields, class Member>
TensorRow(const char*, Parameter Parameters::*, Member Fields::*, Shape (*)(const Problem&))
    -> TensorRow<Problem, Parameters, Fields, Member>;
template <class Problem, class Parameters, class Fields, class Member, class Type>
TensorRow(const char*, Parameter Parameters::*, Member Fields::*, Shape (*)(const Problem&), Type)
    -> TensorRow<Problem, Parameters, Fields, Member>;

/// An argument of phase 1 (the argument check) that is not a tensor: an array in host memory
/// (optional), or a pointer (bool; false: null).
template <class Parameters, class Member>
struct ArgumentRow {
  const char* name;
  Member Parameters::*parameter;
};
template <class Parameters, class Member>
ArgumentRow(const char*, Member Parameters::*) -> ArgumentRow<Parameters, Member>;

/// The table of an operator: the only list of its tensors (inputs, then outputs), of its arrays in
/// host memory, and of its pointers. The code derives from this table the function `visit_fields`,
/// the tensors of a call, and the names in requirements. The type of a table is a tuple of
/// TensorRow and ArgumentRow.
template <class Op>
inline constexpr std::tuple<> table_of;

template <class Op, class Visitor>
constexpr void visit_table(Visitor&& visit) {
  std::apply([&](const auto&... rows) { (visit(rows), ...); }, table_of<Op>);
}

/// A struct with the Inputs, Outputs or Parameters of an operator whose tensors are listed in a
/// table (`table_of`).
template <class Fields>
concept HasTable = requires {
  typename Fields::Operator;
};

/// Calls visit(name, member) for every input, output or parameter, by its documented name. An input
/// or output is a Tensor or an optional Tensor; a parameter is a Parameter, an optional array or a
/// bool.
template <HasTable Fields, class Visitor>
constexpr void visit_fields(Fields& fields, Visitor&& visit) {
  using Own = std::remove_const_t<Fields>;
  visit_table<typename Own::Operator>([&](const auto& row) {
    if constexpr (requires { fields.*row.parameter; })
      visit(row.name, fields.*row.parameter);
    else if constexpr (requires { fields.*row.member; })
      visit(row.name, fields.*row.member);
  });
}

}  // namespace assay::spec
