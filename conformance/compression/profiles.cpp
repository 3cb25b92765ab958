#include "compression/profiles.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace assay::conformance::compression {

const Profile& profile_named(std::span<const Profile> profiles, const std::string& name) {
  const auto found = std::ranges::find(profiles, name, &Profile::name);
  if (found == profiles.end()) throw std::invalid_argument("unknown input profile '" + name + "'");
  return *found;
}

double token_factor(const Problem& p, const Profile& profile, std::int64_t products) {
  if (p.dtype != spec::DType::fp16) return 1;
  constexpr double limit = 0x1p14, deviations = 6;
  const auto count = static_cast<double>(products);
  const double largest = profile.mean * count + deviations * profile.deviation * std::sqrt(count);
  double factor = 1;
  while (factor * largest > limit) factor /= 2;
  return factor;
}

}  // namespace assay::conformance::compression
