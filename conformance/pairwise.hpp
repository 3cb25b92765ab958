#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace assay::conformance {

/// One value index per factor; `undecided` where none is chosen yet.
using Choice = std::vector<std::size_t>;
inline constexpr std::size_t undecided = ~std::size_t{0};

/// Whether a choice, complete or not, holds no forbidden combination.
using Admissible = std::function<bool(const Choice&)>;

/// Complete admissible choices in which every pair of values of two factors occurs that some
/// admissible choice holds. Greedy and deterministic; `seed` decides between equally good values.
/// Cost: choices * factors * values calls of `admissible`, more where it forces backtracking.
std::vector<Choice> pairwise_cover(std::span<const std::size_t> sizes, const Admissible& admissible,
                                   std::uint64_t seed);

/// A complete admissible choice, uniform but for what is forbidden. Errors: std::logic_error if
/// there is none.
Choice random_choice(std::span<const std::size_t> sizes, const Admissible& admissible,
                     std::uint64_t seed);

}  // namespace assay::conformance
