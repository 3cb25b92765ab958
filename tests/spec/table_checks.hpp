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

#include "assay/spec/constraint.hpp"

/// What every table of rows promises.
namespace assay::spec {

using Ids = std::set<std::string_view>;

/// first..last, both included.
inline std::int64_t integer(std::int64_t first, std::int64_t last) {
  return *rc::gen::inRange<std::int64_t>(first, last + 1);
}

/// Every field of a problem as name=value.
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
  for (const auto* row : violations(Op::constraints(), call)) ids.insert(row->id);
  return ids;
}

template <class Op>
const Constraint<Op>& row_of(std::string_view id) {
  const auto rows = Op::constraints();
  const auto found = std::ranges::find(rows, id, &Constraint<Op>::id);
  if (found == rows.end()) throw std::invalid_argument("no row " + std::string(id));
  return *found;
}

template <class Op>
Ids with_implied(const Constraint<Op>& row) {
  Ids ids(row.implies.begin(), row.implies.end());
  ids.insert(row.id);
  return ids;
}

inline std::string listed(const Ids& ids) {
  std::string text;
  for (const auto id : ids) text.append(id).append(" ");
  return text;
}

/// Calls visit(row, violation) for every way to break a row.
template <class Op, class Visit>
void each_violation(const Visit& visit) {
  for (const auto& row : Op::constraints())
    for (const auto& violation : row.violations) visit(row, violation);
}

template <class Op>
void expect_ids_in_order() {
  const auto rows = Op::constraints();
  for (std::size_t k = 1; k < rows.size(); ++k) EXPECT_LT(rows[k - 1].id, rows[k].id);
}

/// The page is the operator's; upstream rows name a file of the upstream repository.
template <class Op>
void expect_statements_and_sources(std::string_view page) {
  for (const auto& row : Op::constraints()) {
    EXPECT_TRUE(row.statement.ends_with('.')) << row.id;
    EXPECT_GE(row.statement.size(), 15u) << row.id;
    EXPECT_FALSE(row.source.section.empty()) << row.id;
    const bool upstream = row.source.document.starts_with("ops-transformer: ");
    EXPECT_TRUE(upstream || row.source.document == page) << row.id;
    if (row.standing == Standing::upstream) {
      EXPECT_TRUE(upstream) << row.id;
    }
    if (row.standing == Standing::documented || row.standing == Standing::derived) {
      EXPECT_FALSE(upstream) << row.id;
    }
    if (!row.status.any) {
      EXPECT_EQ(row.standing, Standing::documented) << row.id;
    }
  }
}

template <class Op>
void expect_sides_and_what_they_need() {
  for (const auto& row : Op::constraints()) {
    EXPECT_FALSE(row.sides.empty()) << row.id;
    EXPECT_EQ(row.has(Side::reject), !row.violations.empty()) << row.id;
    const bool unexercised = row.has(Side::none) || row.has(Side::content);
    if (unexercised) {
      EXPECT_EQ(row.sides.size(), 1u) << row.id;
    }
    EXPECT_EQ(unexercised, !row.reason.empty()) << row.id;
    EXPECT_TRUE(row.variants.empty() || row.has(Side::accept)) << row.id;
    if (row.standing == Standing::advice) {
      EXPECT_TRUE(row.has(Side::none)) << row.id;
    }
    if (row.standing == Standing::disputed) {
      EXPECT_FALSE(row.has(Side::accept)) << row.id;
    }
    for (const auto implied : row.implies) EXPECT_NO_THROW(row_of<Op>(implied)) << row.id;
    std::set<std::string_view> names;
    for (const auto& violation : row.violations)
      EXPECT_TRUE(names.insert(violation.name).second) << row.id << ' ' << violation.name;
    for (const auto& variant : row.variants)
      EXPECT_TRUE(names.insert(variant.name).second) << row.id << ' ' << variant.name;
  }
}

/// Of the ids `prefix` + "01" ... `prefix` + `last`, those without letter, and the readings of them
/// in `readings`.
template <class Op>
void expect_exactly_the_ids(const std::string& prefix, int last, const Ids& readings) {
  std::set<std::string> expected(readings.begin(), readings.end());
  for (int k = 1; k <= last; ++k) expected.insert(prefix + (k < 10 ? "0" : "") + std::to_string(k));
  std::set<std::string> present;
  for (const auto& row : Op::constraints()) present.insert(std::string(row.id));
  EXPECT_EQ(present, expected);
}

/// Contradictions `prefix` + 1 ... `last` of the specification are each a note of some row.
template <class Op>
void expect_contradictions_in_notes(const std::string& prefix, int last) {
  std::string notes;
  for (const auto& row : Op::constraints()) notes.append(row.notes).append(", ");
  for (int k = 1; k <= last; ++k)
    EXPECT_NE(notes.find(prefix + std::to_string(k) + ","), std::string::npos) << prefix << k;
}

/// Whether the violation breaks its row in `call`, and nothing that the row does not imply.
template <class Op>
bool works_alone(Call<Op> call, const Constraint<Op>& row, const Violation<Op>& violation) {
  violation.apply(call);
  const Ids broken = broken_by(call), allowed = with_implied(row);
  return broken.contains(row.id) && row.applies(call) && std::ranges::includes(allowed, broken);
}

template <class Op>
void expect_every_violation_to_work_alone(const std::vector<Call<Op>>& calls) {
  each_violation<Op>([&](const auto& row, const auto& violation) {
    EXPECT_TRUE(std::ranges::any_of(
        calls, [&](const Call<Op>& call) { return works_alone(call, row, violation); }))
        << row.id << ':' << violation.name;
  });
}

/// In any legal call a violation breaks nothing, or its row and what that implies.
template <class Op>
void assert_violations_break_their_rows_alone(const Call<Op>& legal) {
  each_violation<Op>([&](const auto& row, const auto& violation) {
    Call<Op> call = legal;
    violation.apply(call);
    const Ids ids = broken_by(call);
    if (!ids.empty() && (!ids.contains(row.id) || !std::ranges::includes(with_implied(row), ids)))
      RC_FAIL(std::string(row.id) + ':' + std::string(violation.name) + " breaks " + listed(ids));
    for (const auto& other : Op::constraints())
      if (!other.applies(call) && !other.holds(call))
        RC_FAIL(std::string(other.id) + " is broken where it does not apply");
  });
}

/// Whether a call breaks nothing but what is disputed.
template <class Op>
bool is_legal(const Call<Op>& call) {
  return std::ranges::none_of(violations(Op::constraints(), call), [&](const auto* row) {
    return row->binds(call.surface, Upstream::on);
  });
}

/// Rows of which legal calls speak, or which a variant makes one of them speak of.
template <class Op>
void expect_every_accept_side_reached(const std::vector<Call<Op>>& calls) {
  const auto reached = [&](const auto& row) {
    return std::ranges::any_of(calls, [&](const Call<Op>& c) { return row.applies(c); });
  };
  for (const auto& row : Op::constraints()) {
    if (row.has(Side::accept) && row.variants.empty()) {
      EXPECT_TRUE(reached(row)) << row.id;
    }
    for (const auto& variant : row.variants)
      EXPECT_TRUE(std::ranges::any_of(calls,
                                      [&](Call<Op> call) {
                                        variant.apply(call);
                                        return row.applies(call) && is_legal(call);
                                      }))
          << row.id << ':' << variant.name;
  }
}

/// A legal call stays one in every variant.
template <class Op>
void assert_variants_are_legal(const Call<Op>& legal) {
  for (const auto& row : Op::constraints())
    for (const auto& variant : row.variants) {
      Call<Op> call = legal;
      variant.apply(call);
      if (!is_legal(call))
        RC_FAIL(std::string(row.id) + ':' + std::string(variant.name) + " breaks " +
                listed(broken_by(call)));
    }
}

/// A call of null pointers breaks rows of presence, and every violation of it is survived.
template <class Op>
void expect_an_empty_call_to_be_survived(typename Op::Surface surface, const Ids& always) {
  const Call<Op> empty{
      .surface = surface, .product = Product::a2, .parameters = {}, .attributes = {}};
  EXPECT_TRUE(std::ranges::includes(broken_by(empty), always)) << listed(broken_by(empty));
  each_violation<Op>([&](const auto&, const auto& violation) {
    Call<Op> call = empty;
    violation.apply(call);
    EXPECT_FALSE(broken_by(call).empty());
  });
}

template <class Op>
void expect_products(typename Op::Surface surface) {
  for (const auto& [product, text] : spellings_of<Product>.entries) {
    const auto& row = row_of<Op>(product_row(surface, product));
    EXPECT_EQ(row.has(Side::accept), supports(surface, product)) << row.id;
    EXPECT_EQ(row.has(Side::none), !supports(surface, product)) << row.id;
    EXPECT_TRUE(
        row.applies({.surface = surface, .product = product, .parameters = {}, .attributes = {}}))
        << row.id;
  }
  EXPECT_TRUE(supports(surface, Product::a2));
  EXPECT_FALSE(supports(surface, Product::a3));
}

}  // namespace assay::spec
