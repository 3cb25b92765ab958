#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "assay/spec/requirement.hpp"

namespace assay::spec {

/// The statement of one source about a disputed or open question.
struct Claim {
  Source source;
  std::string_view says;
};

/// A question on which the sources disagree, or which they leave open. The notes of requirements
/// cite its id.
struct Contradiction {
  std::string_view id;
  std::string_view subject;
  std::vector<Claim> claims;  ///< one claim: the source says too little, or something impossible
  std::string_view reading;   ///< how this suite reads the point
};

/// Returns all contradictions: for FlashAttentionScoreGrad, for FlashAttentionScore, and for the
/// two NSA operators.
std::span<const Contradiction> contradictions();

}  // namespace assay::spec
