#pragma once

#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/case.hpp"
#include "limits.hpp"

/// What the lists of relations of every operator have in common. A Relation has `name`, `domain` and `applies(problem)`.
namespace assay::conformance {

/// The relations of all groups, in their order.
template <class Relation>
std::vector<const Relation*> relation_list(
    std::initializer_list<std::span<const Relation>> groups) {
  std::vector<const Relation*> all;
  for (const auto group : groups)
    for (const Relation& relation : group) all.push_back(&relation);
  return all;
}

/// The relation with that name. `other`: a name accepted beside theirs.
/// Errors: std::invalid_argument naming those there are.
template <class Relation>
const Relation& relation_named(std::string_view name, const std::vector<const Relation*>& relations,
                               std::string_view other = {}) {
  std::string known;
  for (const Relation* relation : relations) {
    if (relation->name == name) return *relation;
    known += (known.empty() ? "" : ", ") + std::string(relation->name);
  }
  if (!other.empty()) known += ", " + std::string(other);
  throw std::invalid_argument("--relation=" + std::string(name) + ": accepted: " + known);
}

/// A relation and its track come together, on ordinary data and on a problem of the relation's domain. `other`: as above.
/// Errors: std::invalid_argument naming the field, its value and what is accepted.
template <class Op, class Relation>
void require_relation(const Case<Op>& c, const std::vector<const Relation*>& relations,
                      std::string_view other = {}) {
  std::string names(other);
  for (const Relation* relation : relations)
    names += (names.empty() ? "" : ", ") + std::string(relation->name);
  if (!require_track(c.track, c.relation, c.profile, names)) return;
  const Relation& relation = relation_named(c.relation, relations, other);
  if (!relation.applies(c.problem))
    refuse("relation", c.relation,
           "only in its domain, " + std::string(relation.domain) + "; 'assay explain " +
               c.relation + "' prints lines of it");
}

}  // namespace assay::conformance
