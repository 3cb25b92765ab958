#pragma once

#include <string>
#include <vector>

#include "assay/optimized/estimate.hpp"

namespace assay::optimized {

/// A tiling that fits, in words, and how it would run.
struct Alternative {
  std::string text;  ///< one line
  Estimate estimate;
};

/// The fastest of some tilings and the next, with what holds each up, for people; the order of sums
/// is another than that of the tiling that runs. Empty without any.
std::string to_text(std::vector<Alternative> alternatives, const device::Spec& device,
                    std::string_view utilised);

}  // namespace assay::optimized
