#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "assay/spec/requirement.hpp"

/// Tests properties that the table of requirements of every operator must have.
namespace assay::spec {

using Ids = std::set<std::string_view>;

/// Returns a random integer from first to last, both included.
inline std::int64_t integer(std::int64_t first, std::int64_t last) {
  return *rc::gen::inRange<std::int64_t>(first, last + 1);
}

/// Prints the fields of a problem as name=value.
template <class Problem>
void show_fields(const Problem& problem, std::ostream& out) {
  visit_fields(problem, [&](std::string_view name, const auto& member, std::string_view) {
    out << ' ' << name << '=';
    if constexpr (Spelled<std::remove_cvref_t<decltype(member)>>) {
      out << to_string(member);
    } else if constexpr (requires { member.size(); }) {
      for (const auto value : member) out << value << ',';
    } else {
      out << member;
    }
  });
}

template <class Op>
Ids broken_by(const Call<Op>& call) {
  Ids ids;
  for (const auto* requirement : violations(Op::requirements(), call)) ids.insert(requirement->id);
  return ids;
}

template <class Op>
const Requirement<Op>& requirement_of(std::string_view id) {
  const auto requirements = Op::requirements();
  const auto found = std::ranges::find(requirements, id, &Requirement<Op>::id);
  if (found == requirements.end()) throw std::invalid_argument("no requirement " + std::string(id));
  return *found;
}

template <class Op>
Ids with_implied(const Requirement<Op>& requirement) {
  Ids ids(requirement.implies.begin(), requirement.implies.end());
  ids.insert(requirement.id);
  return ids;
}

inline std::string listed(const Ids& ids) {
  std::string text;
  for (const auto id : ids) text.append(id).append(" ");
  return text;
}

/// Calls visit(requirement, violation) for every violation of every requirement.
template <class Op, class Visit>
void each_violation(const Visit& visit) {
  for (const auto& requirement : Op::requirements())
    for (const auto& violation : requirement.violations) visit(requirement, violation);
}

template <class Op>
void expect_ids_in_order() {
  const auto requirements = Op::requirements();
  for (std::size_t k = 1; k < requirements.size(); ++k)
    EXPECT_LT(requirements[k - 1].id, requirements[k].id);
}

/// Checks the sources of the requirements: a documented requirement must name the operator's
/// documentation page, and a requirement from the vendor's code must name a file of the vendor's
/// repository.
template <class Op>
void expect_statements_and_sources(std::string_view page) {
  for (const auto& requirement : Op::requirements()) {
    EXPECT_TRUE(requirement.statement.ends_with('.')) << requirement.id;
    EXPECT_GE(requirement.statement.size(), 15u) << requirement.id;
    EXPECT_FALSE(requirement.source.section.empty()) << requirement.id;
    const bool upstream = requirement.source.document.starts_with("ops-transformer: ");
    EXPECT_TRUE(upstream || requirement.source.document == page) << requirement.id;
    if (requirement.standing == Standing::upstream) {
      EXPECT_TRUE(upstream) << requirement.id;
    }
    if (requirement.standing == Standing::documented || requirement.standing == Standing::derived ||
        requirement.standing == Standing::open) {
      EXPECT_FALSE(upstream) << requirement.id;
    }
    if (!requirement.status.any) {
      EXPECT_TRUE(requirement.standing == Standing::documented ||
                  requirement.standing == Standing::page)
          << requirement.id;
    }
  }
}

template <class Op>
void expect_sides_and_what_they_need() {
  for (const auto& requirement : Op::requirements()) {
    EXPECT_FALSE(requirement.sides.empty()) << requirement.id;
    EXPECT_EQ(requirement.has(Side::reject), !requirement.violations.empty()) << requirement.id;
    const bool unexercised = requirement.has(Side::none) || requirement.has(Side::content);
    if (unexercised) {
      EXPECT_EQ(requirement.sides.size(), 1u) << requirement.id;
    }
    EXPECT_EQ(unexercised, !requirement.reason.empty()) << requirement.id;
    EXPECT_TRUE(requirement.variants.empty() || requirement.has(Side::accept)) << requirement.id;
    if (requirement.standing == Standing::advice) {
      EXPECT_TRUE(requirement.has(Side::none)) << requirement.id;
    }
    if (requirement.standing == Standing::disputed) {
      EXPECT_FALSE(requirement.has(Side::accept)) << requirement.id;
    }
    EXPECT_TRUE(requirement.reaches == nullptr || requirement.has(Side::accept)) << requirement.id;
    EXPECT_TRUE(requirement.status_for.empty() || !requirement.status.any) << requirement.id;
    for (const auto implied : requirement.implies)
      EXPECT_NO_THROW(requirement_of<Op>(implied)) << requirement.id;
    std::set<std::string_view> names;
    for (const auto& violation : requirement.violations)
      EXPECT_TRUE(names.insert(violation.name).second) << requirement.id << ' ' << violation.name;
    for (const auto& variant : requirement.variants)
      EXPECT_TRUE(names.insert(variant.name).second) << requirement.id << ' ' << variant.name;
  }
}

/// Expects exactly the ids from `prefix` + "01" to `prefix` + `last`, and the ids in `readings`.
/// The ids in `readings` end in a letter, because they are interpretations of another requirement.
template <class Op>
void expect_exactly_the_ids(const std::string& prefix, int last, const Ids& readings) {
  std::set<std::string> expected(readings.begin(), readings.end());
  for (int k = 1; k <= last; ++k) expected.insert(prefix + (k < 10 ? "0" : "") + std::to_string(k));
  std::set<std::string> present;
  for (const auto& requirement : Op::requirements()) present.insert(std::string(requirement.id));
  EXPECT_EQ(present, expected);
}

/// Expects that every contradiction of the documentation, with the ids `prefix` + 1 to `prefix` +
/// `last`, is cited in the notes of a requirement.
template <class Op>
void expect_contradictions_in_notes(const std::string& prefix, int last) {
  std::string notes;
  for (const auto& requirement : Op::requirements()) notes.append(requirement.notes).append(", ");
  for (int k = 1; k <= last; ++k)
    EXPECT_NE(notes.find(prefix + std::to_string(k) + ","), std::string::npos) << prefix << k;
}

/// Applies the violation to the call. Returns whether the changed call violates this requirement,
/// and no others except those that it implies.
template <class Op>
bool works_alone(Call<Op> call, const Requirement<Op>& requirement,
                 const Violation<Op>& violation) {
  violation.apply(call);
  const Ids broken = broken_by(call), allowed = with_implied(requirement);
  return broken.contains(requirement.id) && requirement.applies(call) &&
         std::ranges::includes(allowed, broken);
}

template <class Op>
void expect_every_violation_to_work_alone(const std::vector<Call<Op>>& calls) {
  each_violation<Op>([&](const auto& requirement, const auto& violation) {
    EXPECT_TRUE(std::ranges::any_of(
        calls, [&](const Call<Op>& call) { return works_alone(call, requirement, violation); }))
        << requirement.id << ':' << violation.name;
  });
}

/// Applies every violation to a legal call. The changed call must violate nothing, or only the
/// requirement of the violation and those that it implies.
template <class Op>
void assert_violations_break_their_rows_alone(const Call<Op>& legal) {
  each_violation<Op>([&](const auto& requirement, const auto& violation) {
    Call<Op> call = legal;
    violation.apply(call);
    const Ids ids = broken_by(call);
    if (!ids.empty() &&
        (!ids.contains(requirement.id) || !std::ranges::includes(with_implied(requirement), ids)))
      RC_FAIL(std::string(requirement.id) + ':' + std::string(violation.name) + " breaks " +
              listed(ids));
    for (const auto& other : Op::requirements())
      if (!other.applies(call) && !other.holds(call))
        RC_FAIL(std::string(other.id) + " is broken where it does not apply");
  });
}

/// Returns whether a call satisfies every requirement that a kernel must enforce.
template <class Op>
bool is_legal(const Call<Op>& call) {
  return std::ranges::none_of(violations(Op::requirements(), call), [&](const auto* requirement) {
    return requirement->binds(call.entry_point, Policy());
  });
}

/// Expects that every requirement applies to at least one legal call, or to a variant (unusual
/// legal form) of one.
template <class Op>
void expect_every_accept_side_reached(const std::vector<Call<Op>>& calls) {
  const auto reached = [&](const auto& requirement) {
    return std::ranges::any_of(calls, [&](const Call<Op>& c) { return requirement.applies(c); });
  };
  for (const auto& requirement : Op::requirements()) {
    if (requirement.has(Side::accept) && requirement.variants.empty()) {
      EXPECT_TRUE(reached(requirement)) << requirement.id;
    }
    for (const auto& variant : requirement.variants)
      EXPECT_TRUE(std::ranges::any_of(calls,
                                      [&](Call<Op> call) {
                                        variant.apply(call);
                                        return requirement.applies(call) && is_legal(call);
                                      }))
          << requirement.id << ':' << variant.name;
  }
}

/// Applies every variant (an unusual but legal form) to a legal call. The result must be legal,
/// too.
template <class Op>
void assert_variants_are_legal(const Call<Op>& legal) {
  for (const auto& requirement : Op::requirements())
    for (const auto& variant : requirement.variants) {
      Call<Op> call = legal;
      variant.apply(call);
      if (!is_legal(call))
        RC_FAIL(std::string(requirement.id) + ':' + std::string(variant.name) + " breaks " +
                listed(broken_by(call)));
    }
}

/// Asserts that a legal call and all its variants (unusual legal forms) violate nothing. Each test
/// violation, applied to the call, must violate only its own requirement and those that this one
/// implies.
template <class Op>
void assert_legal_in_itself_and_in_variants(const Call<Op>& call) {
  const Ids broken = broken_by(call);
  if (!broken.empty()) RC_FAIL(listed(broken));
  assert_violations_break_their_rows_alone(call);
  assert_variants_are_legal(call);
}

/// A call with only null pointers must violate the requirements about tensors that must be present.
/// Applying any violation to this call must not crash.
template <class Op>
void expect_an_empty_call_to_be_survived(typename Op::EntryPoint entry_point, const Ids& always) {
  const Call<Op> empty{
      .entry_point = entry_point, .product = Product::a2, .parameters = {}, .attributes = {}};
  EXPECT_TRUE(std::ranges::includes(broken_by(empty), always)) << listed(broken_by(empty));
  each_violation<Op>([&](const auto&, const auto& violation) {
    Call<Op> call = empty;
    violation.apply(call);
    EXPECT_FALSE(broken_by(call).empty());
  });
}

template <class Op>
void expect_products(typename Op::EntryPoint entry_point) {
  for (const auto& [product, text] : spellings_of<Product>.entries) {
    const auto& requirement = requirement_of<Op>(product_requirement(entry_point, product));
    EXPECT_EQ(requirement.has(Side::accept), supports(entry_point, product)) << requirement.id;
    EXPECT_EQ(requirement.has(Side::none), !supports(entry_point, product)) << requirement.id;
    EXPECT_TRUE(requirement.applies(
        {.entry_point = entry_point, .product = product, .parameters = {}, .attributes = {}}))
        << requirement.id;
  }
  EXPECT_TRUE(supports(entry_point, Product::a2));
  EXPECT_FALSE(supports(entry_point, Product::a3));
}

/// Returns the ids of the requirements with this standing (the kind of source that states them).
template <class Op>
Ids standing_as(Standing standing) {
  Ids ids;
  for (const auto& row : Op::requirements())
    if (row.standing == standing) ids.insert(row.id);
  return ids;
}

/// Returns the ids of the requirements for which the refusal must have this status code.
template <class Op>
Ids refused_with(Status status) {
  Ids ids;
  for (const auto& row : Op::requirements())
    if (!row.status.any && row.status.code == status) ids.insert(row.id);
  return ids;
}

/// Checks all properties that the requirements of an operator must have. `calls` must contain a
/// legal call for every requirement and a suitable call for every violation.
template <class Op>
void expect_a_complete_table(std::string_view page, const Ids& of_an_empty_call,
                             const std::vector<Call<Op>>& calls) {
  expect_ids_in_order<Op>();
  expect_statements_and_sources<Op>(page);
  expect_sides_and_what_they_need<Op>();
  expect_every_violation_to_work_alone(calls);
  expect_every_accept_side_reached(calls);
  expect_an_empty_call_to_be_survived<Op>(typename Op::EntryPoint(), of_an_empty_call);
  expect_products<Op>(typename Op::EntryPoint());
}

}  // namespace assay::spec
