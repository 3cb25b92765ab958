#pragma once

#include <initializer_list>
#include <span>
#include <vector>

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

}  // namespace assay::conformance
