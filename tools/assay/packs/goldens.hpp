#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/fixtures/pack.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::cli {

/// Maximum number of elements of an output in a sampled pack. A case has up to five outputs with 32
/// bytes per element, so it stays below 100 kB.
inline constexpr std::int64_t sampled_elements = 384;

/// Returns the judged elements of an output, in ascending order of their index. Without `whole`,
/// returns only a sample: one element, chosen at random with `seed`, from each of 384 equal ranges.
/// `rounded`: as `conformance::rounded_rows`. `places`: as `conformance::places_of`.
std::vector<fixtures::GoldenElement> goldens_of(const conformance::Expected& expected,
                                                const spec::Tensor& rounded,
                                                const std::vector<std::int64_t>& places,
                                                std::uint64_t seed, bool whole);

}  // namespace assay::cli
