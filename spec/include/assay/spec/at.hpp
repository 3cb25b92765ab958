#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::spec {

/// Converts a nonnegative index to the index type of the standard containers.
constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace assay::spec
