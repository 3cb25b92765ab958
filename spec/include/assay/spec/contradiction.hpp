#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "assay/spec/requirement.hpp"

namespace assay::spec {

/// What one source says of a point.
struct Claim {
  Source source;
  std::string_view says;
};

/// A point on which sources differ, or which they leave open. Requirements name its id in their
/// notes.
struct Contradiction {
  std::string_view id;
  std::string_view subject;
  std::vector<Claim> claims;  ///< one claim: the source says too little, or something impossible
  std::string_view reading;   ///< how this suite reads the point
};

/// All of them: those of FlashAttentionScoreGrad, then those of the two NSA operators.
std::span<const Contradiction> contradictions();

}  // namespace assay::spec
