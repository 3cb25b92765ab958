#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/pairwise.hpp"

/// What the tables of factors of every operator are read with.
namespace assay::conformance {

/// The value that `choice` takes of a factor's values; the first where it is undecided.
template <class Values>
const auto& value_of(const Choice& choice, std::size_t factor, const Values& values) {
  return values[choice[factor] == undecided ? 0 : choice[factor]];
}

/// The name of a factor's value. Errors: std::out_of_range.
template <std::size_t count>
std::string_view nth(const std::array<std::string_view, count>& names, std::size_t value) {
  return names.at(value);
}

/// The exclusions of all groups, in their order.
inline std::vector<Exclusion> joined(std::initializer_list<std::vector<Exclusion>> groups) {
  std::vector<Exclusion> all;
  for (const auto& group : groups)
    for (Exclusion exclusion : group) {
      std::ranges::sort(exclusion.factors);
      all.push_back(std::move(exclusion));
    }
  return all;
}

}  // namespace assay::conformance
