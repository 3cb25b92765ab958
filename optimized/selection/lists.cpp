#include "selection/lists.hpp"

#include <cstring>
#include <string>

#include "assay/spec/status.hpp"

namespace assay::optimized::selected {

Lists::Lists(const spec::SelectionProblem& problem, const spec::Tensor& topk_indices,
             std::string_view requirement)
    : problem_(&problem),
      tensor_(&topk_indices),
      index_(topk_indices, spec::Layout::tnd, topk_extents(problem)),
      slots_(problem.selected_block_count),
      size_(problem.selected_block_size),
      causal_(has_mask(problem)) {
  refuse_unless_inside(requirement);
}

std::int64_t Lists::block(std::int64_t b, std::int64_t kv, std::int64_t token,
                          std::int64_t slot) const {
  std::int32_t block;
  std::memcpy(&block, tensor_->bytes.data() + index_(b, kv, token, slot) * 4, sizeof block);
  return block;
}

/// Rejects block indices outside the sequence. The documents do not define such indices; without
/// this check, the kernel would access the memory of other rows.
void Lists::refuse_unless_inside(std::string_view requirement) const {
  const spec::Extents& extents = index_.extents();
  for (std::int64_t b = 0; b < extents.batch; ++b)
    for (std::int64_t kv = 0; kv < extents.heads; ++kv)
      for (std::int64_t token = 0; token < extents.length(b); ++token)
        for (std::int64_t slot = 0; slot < slots_; ++slot) {
          const std::int64_t index = block(b, kv, token, slot);
          if (0 <= index && index < blocks(b)) continue;
          throw spec::Rejected(spec::Status::param_invalid,
                               std::string(requirement) + ": entry " + std::to_string(slot) +
                                   " of topk_indices of token " + std::to_string(token) +
                                   " of sequence " + std::to_string(b) + ", key head " +
                                   std::to_string(kv) + " is " + std::to_string(index) +
                                   "; it must be 0 to " + std::to_string(blocks(b) - 1));
        }
}

}  // namespace assay::optimized::selected
