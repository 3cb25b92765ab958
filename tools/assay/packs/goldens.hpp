#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/fixtures/pack.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::cli {

/// Maximum number of stored elements per output, for packs that store only a sample of each output.
/// A case has up to five outputs, and an element needs 32 bytes, so a case needs less than 100 kB.
inline constexpr std::int64_t sampled_elements = 384;

/// Returns the judged elements of an output, sorted by index. If `whole` is false, returns only a
/// sample: divides the elements into 384 ranges of equal size, and selects one random element of
/// each range, with the seed `seed`. `rounded` is a result of `conformance::rounded_rows`, and
/// `places` a result of `conformance::places_of`.
std::vector<fixtures::GoldenElement> goldens_of(const conformance::Expected& expected,
                                                const spec::Tensor& rounded,
                                                const std::vector<std::int64_t>& places,
                                                std::uint64_t seed, bool whole);

}  // namespace assay::cli
