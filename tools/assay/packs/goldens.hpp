#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/fixtures/pack.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::cli {

/// Elements of an output in a sampled pack: five outputs of 32 bytes an element keep a case below
/// 100 kB.
inline constexpr std::int64_t sampled_elements = 384;

/// The judged elements of an output, ascending by place, or where `whole` is not asked for a sample
/// of them, one of each of 384 equal shares, drawn by `seed`.
/// `rounded`: as `conformance::rounded_rows`. `places`: as `conformance::places_of`.
std::vector<fixtures::GoldenElement> goldens_of(const conformance::Expected& expected,
                                                const spec::Tensor& rounded,
                                                const std::vector<std::int64_t>& places,
                                                std::uint64_t seed, bool whole);

}  // namespace assay::cli
