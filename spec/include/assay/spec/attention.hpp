#pragma once

#include <cstdint>

/// Numbers that the documents of all attention operators share.
namespace assay::spec {

/// Edge of a compressed mask.
inline constexpr std::int64_t compressed_mask_edge = 2048;
/// Softmax statistics are stored this many times in a row, all equal.
inline constexpr std::int64_t statistics_replicas = 8;

}  // namespace assay::spec
