#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "assay/spec/call.hpp"
#include "assay/spec/operators/described.hpp"
#include "assay/spec/requirement.hpp"
#include "assay/spec/striding.hpp"
#include "assay/spec/table.hpp"
#include "assay/spec/text_enum.hpp"

/// The defaults of an operator with one entry point and one list of fields (`Op::fields`). The
/// header of such an operator includes only this file.
namespace assay::spec {

/// One field of a problem, in the field list of an operator. `meaning` is a phrase. `attribute` is
/// the member of Op::Attributes that has this value in a call; null if no attribute has it.
template <class Problem, class Member, class Attribute>
struct FieldRow {
  const char* name;
  Member Problem::*member;
  const char* meaning;
  Attribute attribute = {};

  static constexpr bool is_attribute = !std::is_null_pointer_v<Attribute>;
};
template <class Problem, class Member>
FieldRow(const char*, Member Problem::*, const char*) -> FieldRow<Problem, Member, std::nullptr_t>;
template <class Problem, class Member, class Attribute>
FieldRow(const char*, Member Problem::*, const char*, Attribute)
    -> FieldRow<Problem, Member, Attribute>;

/// Returns whether a call is made on this product. The requirement that says whether a product
/// offers the operator has this function as `applies`.
template <class Op, Product product>
bool is_on(const Call<Op>& call) {
  return call.product == product;
}
/// Returns the requirement that says whether the product offers the operator. Errors:
/// std::logic_error if the operator has no such requirement.
template <class Op>
const Requirement<Op>& requirement_on(Product product) {
  const auto on = product == Product::a2 ? is_on<Op, Product::a2> : is_on<Op, Product::a3>;
  for (const Requirement<Op>& requirement : Op::requirements())
    if (requirement.applies == on) return requirement;
  throw std::logic_error("no requirement of " + std::string(Op::name) + " is about product " +
                         std::string(to_string(product)));
}

/// The defaults of an operator, which derives from this class. The operator adds: `name`; the
/// structs Problem, Inputs, Outputs, Parameters and Attributes, each with the type `Operator`;
/// `fields()`, the list of the problem's fields; `table()`, the list of tensors; `requirements()`.
template <class Op>
struct OperatorDefaults {
  /// The only entry point. Its spelling is the name of the operator.
  enum class EntryPoint : std::uint8_t { only };
  /// True if kernels compute a softmax. Then a kernel's declaration of its arithmetic has fields
  /// for P and dS.
  static constexpr bool has_softmax = false;

  friend constexpr auto spellings(EntryPoint) {
    return Spellings<EntryPoint, 1>{{{{EntryPoint::only, Op::name}}}};
  }
  /// The first function returns whether the documentation says that the product supports the
  /// operator. The second returns the id of the requirement that says so.
  friend bool supports(EntryPoint, Product product) {
    return requirement_on<Op>(product).has(Side::accept);
  }
  friend std::string_view product_requirement(EntryPoint, Product product) {
    return requirement_on<Op>(product).id;
  }
};

template <class Enum>
requires requires(Enum value) { spellings(value); }
inline constexpr auto spellings_of<Enum> = spellings(Enum{});

template <class Op>
requires std::derived_from<Op, OperatorDefaults<Op>>
inline constexpr auto table_of<Op> = Op::table();

/// A problem, or the attributes, of an operator that lists its fields.
template <class Fields>
concept ListedProblem = HasTable<Fields> && std::same_as < std::remove_const_t<Fields>,
typename Fields::Operator::Problem > ;
template <class Fields>
concept ListedAttributes = HasTable<Fields> && std::same_as < std::remove_const_t<Fields>,
typename Fields::Operator::Attributes > ;

/// Calls visit(row) for every field of the operator's problem.
template <class Op, class Visitor>
constexpr void visit_rows_of_fields(Visitor&& visit) {
  std::apply([&](const auto&... rows) { (visit(rows), ...); }, Op::fields());
}

/// Calls visit(name, member, meaning) for every field of a problem.
template <ListedProblem Problem, class Visitor>
constexpr void visit_fields(Problem& problem, Visitor&& visit) {
  visit_rows_of_fields<typename Problem::Operator>(
      [&](const auto& row) { visit(row.name, problem.*row.member, row.meaning); });
}
/// Calls visit(name, member) for every attribute.
template <ListedAttributes Attributes, class Visitor>
constexpr void visit_fields(Attributes& attributes, Visitor&& visit) {
  visit_rows_of_fields<typename Attributes::Operator>([&](const auto& row) {
    if constexpr (std::remove_cvref_t<decltype(row)>::is_attribute)
      visit(row.name, attributes.*row.attribute);
  });
}

/// Makes the call for `problem`, with the given strides of inputs and outputs.
template <ListedProblem Problem, class Op = typename Problem::Operator>
Call<Op> call_of(const Problem& problem, typename Op::EntryPoint entry_point, Product product,
                 const Strides& inputs, const Strides& outputs) {
  Call<Op> call = detail::call_with_tensors<Op>(problem, entry_point, product, inputs, outputs);
  visit_rows_of_fields<Op>([&](const auto& row) {
    if constexpr (std::remove_cvref_t<decltype(row)>::is_attribute)
      call.attributes.*row.attribute = problem.*row.member;
  });
  return call;
}

}  // namespace assay::spec
