#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::spec {

/// Returns an index that is not negative as the standard containers count.
constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace assay::spec
