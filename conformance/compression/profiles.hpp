#pragma once

#include <span>
#include <string>
#include <string_view>

#include "assay/spec/call.hpp"
#include "compression/problem.hpp"
#include "inputs/input_profiles.hpp"

namespace assay::conformance::compression {

/// An input profile.
struct Profile {
  std::string_view name, sentence;
  ProfileValue value;
  double mean = 0, deviation = 1;  ///< of a product of two inputs in fp16
  bool is_drawn = true;            ///< false: only hand-made cases use it
};

/// Returns the profile (distribution of the input values) with this name. Errors:
/// std::invalid_argument for an unknown name.
const Profile& profile_named(std::span<const Profile> profiles, const std::string& name);

/// Returns a power of two for token rows of fp16. If the rows are multiplied by it, a sum of
/// `products` products stays in the range of fp16.
double token_factor(const Problem& problem, const Profile& profile, std::int64_t products);

}  // namespace assay::conformance::compression
