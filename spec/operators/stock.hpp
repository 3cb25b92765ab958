#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/spec/operators/defaults.hpp"
#include "operators/nsa_table.hpp"
#include "operators/standing.hpp"

/// Requirements that are on the documentation pages of most operators. Each function takes the
/// tensors of an operator and the wording of the requirement. It adds the condition to check and,
/// for each tensor, a change of a call that violates it. These changes come before the changes that
/// the requirement already has.
namespace assay::spec::nsa {

/// A list of an operator's tensors.
template <class Op, Member<Op>... members>
struct Tensors {};

namespace stock {
template <class Op>
constexpr std::size_t count_tensors() {
  std::size_t count = 0;
  visit_table<Op>([&](const auto& row) {
    count += requires { row.shape; };
  });
  return count;
}
template <class Op, std::size_t... k>
constexpr auto all_tensors(std::index_sequence<k...>) {
  return Tensors<Op, std::get<k>(table_of<Op>).parameter...>();
}
template <class Op, Member<Op>... members>
void add_violations(Requirement<Op>& row, Tensors<Op, members...>,
                    std::vector<void (*)(Call<Op>&)> changes) {
  std::vector<Violation<Op>> violations;
  for (const Member<Op> member : {members...})
    visit_table<Op>([&](const auto& tensor) {
      if constexpr (requires { tensor.shape; })
        if (tensor.parameter == member)
          violations.push_back({tensor.name, changes[violations.size()]});
    });
  row.violations.insert(row.violations.begin(), violations.begin(), violations.end());
}
}  // namespace stock

/// All tensors of the operator, in the order of `table_of`.
template <class Op>
inline constexpr auto all_tensors =
    stock::all_tensors<Op>(std::make_index_sequence<stock::count_tensors<Op>()>());

template <class Op>
using Predicate = std::type_identity_t<bool (*)(const Call<Op>&)>;

/// Adds the condition `holds`, and the changes of a call that violate it. `reaches` has the same
/// meaning as in Requirement.
template <class Op>
Requirement<Op> tested(Requirement<Op> row, Predicate<Op> holds,
                       std::vector<Violation<Op>> violations, Predicate<Op> reaches = nullptr) {
  row.holds = holds;
  row.reaches = reaches;
  row.violations = std::move(violations);
  return row;
}
/// Builds a requirement that only allows calls, so that no call can break it.
template <class Op>
Requirement<Op> allowed(Requirement<Op> row, Predicate<Op> applies) {
  row.sides = {Side::accept};
  row.applies = applies;
  return row;
}
/// Builds a requirement about a limit on which the documentation pages or the vendor's code
/// disagree. Therefore test cases only contain calls that break the limit.
template <class Op>
Requirement<Op> contested(Standing standing, Requirement<Op> row) {
  row.sides = {Side::reject};
  return of_standing(standing, std::move(row));
}

/// The requirements about the products (device families) A2 and A3: the documentation page says
/// that A2 supports the operator and that A3 does not.
template <class Op>
Requirement<Op> offered_on_a2(Requirement<Op> row) {
  return allowed(std::move(row), is_on<Op, Product::a2>);
}
/// No call can break this requirement, because a call does not contain the product on which it
/// runs.
template <class Op>
Requirement<Op> not_offered_on_a3(Requirement<Op> row) {
  row.sides = {Side::none};
  row.applies = is_on<Op, Product::a3>;
  row.reason = refused_product_reason;
  return row;
}

template <class Op, Member<Op>... members>
Requirement<Op> not_null(Tensors<Op, members...> tensors, Requirement<Op> row) {
  row.holds = [](const Call<Op>& c) { return all_present<Op>(c, {members...}); };
  stock::add_violations(row, tensors, {remove<Op, members>...});
  return row;
}

template <class Op>
Requirement<Op> pointers_not_null(Requirement<Op> row) {
  row.statement = "workspaceSize and executor are not null.";
  row.holds = [](const Call<Op>& c) {
    return c.parameters.workspace_size && c.parameters.executor;
  };
  row.violations = {{"workspace_size", [](Call<Op>& c) { c.parameters.workspace_size = false; }},
                    {"executor", [](Call<Op>& c) { c.parameters.executor = false; }}};
  return row;
}

/// Requires that the types of these tensors are fp16 or bf16. `wrong` contains one wrong type for
/// each tensor. A test call with this type violates the requirement.
template <DType... wrong, class Op, Member<Op>... members>
Requirement<Op> of_16_bits(Tensors<Op, members...> tensors, Requirement<Op> row) {
  row.holds = [](const Call<Op>& c) { return all_have_type<Op>(c, {members...}, is_16_bit); };
  stock::add_violations(row, tensors, {retype<Op, members, wrong>...});
  return row;
}

template <auto model, class Op, Member<Op>... members>
Requirement<Op> of_type_of(Tensors<Op, members...> tensors, Requirement<Op> row) {
  row.holds = [](const Call<Op>& c) { return all_like<Op>(c, model, {members...}); };
  stock::add_violations(row, tensors, {swap_type<Op, members>...});
  return row;
}

/// Returns whether every present tensor has the rank that `table_of` lists. If `required`, the
/// result is false for an absent tensor.
template <class Op, Member<Op>... members>
bool has_listed_ranks(const Call<Op>& call, Tensors<Op, members...>, bool required) {
  bool all = !required || all_present<Op>(call, {members...});
  visit_table<Op>([&](const auto& tensor) {
    if constexpr (requires { tensor.shape; })
      if (((tensor.parameter == members) || ...))
        all = all && all_have_rank<Op>(call, {tensor.parameter}, tensor.shape({}).size());
  });
  return all;
}

template <class Op, Member<Op>... members>
Requirement<Op> of_listed_rank(Tensors<Op, members...> tensors, Requirement<Op> row) {
  row.holds = [](const Call<Op>& c) {
    return has_listed_ranks(c, Tensors<Op, members...>(), false);
  };
  stock::add_violations(row, tensors, {add_axis<Op, members>...});
  return row;
}

/// Requires the shapes that `table_of` lists for the problem that `problem_of` reads from the call.
/// `tensors`: those whose shapes follow from other tensors and attributes. Says nothing about a
/// call with a wrong rank, or with an extent below 1, which other requirements forbid.
template <auto problem_of, class Op, Member<Op>... members>
Requirement<Op> of_listed_shape(Tensors<Op, members...> tensors, Requirement<Op> row) {
  row.holds = [](const Call<Op>& c) {
    if (!has_listed_ranks(c, all_tensors<Op>, true)) return true;
    const typename Op::Problem problem = problem_of(c);
    bool all = true, is_possible = true;
    visit_table<Op>([&](const auto& tensor) {
      if constexpr (requires { tensor.shape; }) {
        const Shape shape = tensor.shape(problem);
        all = all && (c.parameters.*tensor.parameter).shape == shape;
        is_possible = is_possible && std::ranges::min(shape) > 0;
      }
    });
    return all || !is_possible;
  };
  stock::add_violations(row, tensors, {grow_one<Op, members, 0>...});
  return row;
}

/// Requires that the storage formats are not private. `wrong` contains one wrong format for each
/// tensor. A test call with this format violates the requirement.
template <Format... wrong, class Op, Member<Op>... members>
Requirement<Op> of_plain_format(Tensors<Op, members...> tensors, Requirement<Op> row) {
  row.statement = "Tensors have storage format ND, never a private one.";
  row.holds = [](const Call<Op>& c) { return all_plain<Op>(c, {members...}); };
  stock::add_violations(row, tensors, {reformat<Op, members, wrong>...});
  return row;
}

template <class Op, Member<Op>... members>
Requirement<Op> maybe_strided(Tensors<Op, members...>, Requirement<Op> row) {
  row.statement =
      "An input or an output may be a strided view of a tensor, if its storage format is not "
      "private.";
  return allowed(std::move(row),
                 [](const Call<Op>& c) { return some_strided<Op>(c, {members...}); });
}

/// Requires that no tensor is empty. `row` already contains the changes of a call that violate the
/// requirement: each makes a tensor empty.
template <class Op, Member<Op>... members>
Requirement<Op> not_empty(Tensors<Op, members...>, Requirement<Op> row) {
  row.holds = [](const Call<Op>& c) {
    return ((std::ranges::count((c.parameters.*members).shape, 0) == 0) && ...);
  };
  return row;
}

/// Ids of the requirements that the pages of most operators state about all their tensors, and
/// about the products.
struct StockIds {
  std::string_view not_null, of_16_bits, of_one_type, of_listed_rank, of_plain_format,
      maybe_strided, offered_on_a2, not_offered_on_a3;
};

/// Returns these requirements, with the sections that the pages of most operators have. `stated`
/// makes a requirement with an id, a section and a statement.
template <class Op, Member<Op> first, Member<Op>... others>
std::vector<Requirement<Op>> stock_requirements(
    Tensors<Op, first, others...> tensors, const StockIds& ids,
    Requirement<Op> (*stated)(std::string_view id, std::string_view section,
                              std::string_view statement)) {
  constexpr std::string_view parameters = "parameters", products = "products";
  Requirement<Op> present = stated(ids.not_null, "return values", "No tensor is null.");
  present.status = exactly(Status::param_nullptr);
  return {not_null(tensors, present),
          of_16_bits<DType::fp32, ((void)others, DType::fp32)...>(
              tensors, stated(ids.of_16_bits, parameters, "Tensors are FLOAT16 or BFLOAT16.")),
          of_type_of<first>(Tensors<Op, others...>(),
                            stated(ids.of_one_type, parameters, "All tensors have one type.")),
          of_listed_rank(tensors, stated(ids.of_listed_rank, parameters,
                                         "Every tensor has its documented number of axes.")),
          of_plain_format<Format::nc1hwc0, ((void)others, Format::nc1hwc0)...>(
              tensors, stated(ids.of_plain_format, parameters, {})),
          maybe_strided(tensors, stated(ids.maybe_strided, parameters, {})),
          offered_on_a2<Op>(stated(ids.offered_on_a2, products, "Atlas A2 products offer it.")),
          not_offered_on_a3<Op>(
              stated(ids.not_offered_on_a3, products, "Atlas A3 products do not offer it."))};
}

template <class Op>
Requirement<Op> first_phase(std::string_view id, Source source, Standing standing) {
  return unexercised<Op>(id, "Phase 1 is called before phase 2.", source, standing,
                         first_phase_reason);
}
template <class Op>
Requirement<Op> one_second_phase(std::string_view id) {
  return unexercised<Op>(id, "The executor that phase 1 returns is valid for one call of phase 2.",
                         {upstream_interface, "phase 2"}, Standing::upstream, executor_reason);
}

}  // namespace assay::spec::nsa
