#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/spec/table.hpp"
#include "bilinear/traits.hpp"

/// The input profiles of an operator with sums of products.
namespace assay::conformance::bilinear {

/// Returns the profiles of random cases: the common ones, and those of the operator.
template <class Op>
std::vector<Profile> random_profiles() {
  std::vector<Profile> all = {
      {"normal", "nearly normally distributed, with mean 0 and standard deviation 1",
       profile::normal},
      {"all_positive", "uniformly distributed in [0, 1), so that no sum cancels",
       profile::all_positive}};
  all.insert(all.end(), std::begin(Traits<Op>::profiles), std::end(Traits<Op>::profiles));
  return all;
}

template <class Op>
std::vector<std::string_view> drawn_profiles() {
  std::vector<std::string_view> names;
  for (const Profile& profile : random_profiles<Op>()) names.push_back(profile.name);
  return names;
}

/// Adds the profile in which one input is negated. `number`: its row in the table of tensors; does
/// nothing if this row is not an input.
template <class Op, std::size_t number>
void add_negative(std::vector<Profile>& all) {
  constexpr auto row = std::get<number>(spec::table_of<Op>);
  if constexpr (requires(typename Op::Inputs & inputs) { inputs.*row.member; }) {
    static const std::string name = std::string("negative_") + row.name,
                             sentence = std::string("like normal, but ") + row.name + " is negated";
    all.push_back({name, sentence, profile::negative<stream_named(row.name)>});
  }
}

/// Returns all profiles: those of random cases, and one for each input, in which it is negated.
template <class Op>
const std::vector<Profile>& profiles_of() {
  static const std::vector<Profile> profiles = [] {
    std::vector<Profile> all = random_profiles<Op>();
    constexpr auto rows = std::tuple_size_v<std::remove_const_t<decltype(spec::table_of<Op>)>>;
    [&]<std::size_t... k>(std::index_sequence<k...>) { (add_negative<Op, k>(all), ...); }
    (std::make_index_sequence<rows>());
    return all;
  }();
  return profiles;
}

}  // namespace assay::conformance::bilinear
