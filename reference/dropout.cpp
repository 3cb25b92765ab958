#include "assay/reference/dropout.hpp"

#include <stdexcept>
#include <string>

namespace assay::reference {

Dropout::Dropout(const spec::AttentionProblem& problem, const spec::Tensor* drop_mask)
    : keep_prob_(static_cast<float>(problem.keep_prob)), order_(problem) {
  if (!problem.has_dropout()) return;
  if (drop_mask == nullptr)
    throw std::invalid_argument("dropout: keep_prob " + std::to_string(problem.keep_prob) +
                                " needs a drop mask");
  const std::int64_t bytes = (spec::score_count(problem) + 7) / 8;
  if (drop_mask->dtype != spec::DType::uint8 || drop_mask->shape.size() != 1 ||
      drop_mask->shape[0] < bytes)
    throw std::invalid_argument("dropout: the mask must be a row of at least " +
                                std::to_string(bytes) + " bytes");
  drop_mask_ = drop_mask;
}

}  // namespace assay::reference
