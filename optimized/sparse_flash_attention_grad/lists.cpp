#include "sparse_flash_attention_grad/lists.hpp"

#include <algorithm>
#include <string>

#include "assay/device/units.hpp"
#include "assay/spec/status.hpp"

namespace assay::optimized::sparse_flash {

using Problem = spec::SparseFlashProblem;

std::int64_t visible_keys(const Problem& p, std::int64_t b, std::int64_t token) {
  const std::int64_t keys = p.length_kv(b);
  if (p.sparse_mode == 0) return keys;
  return std::max<std::int64_t>(0, keys - p.length_q(b) + token + 1);
}

KeyLists::KeyLists(const Problem& problem, const spec::Tensor& sparse_indices)
    : problem_(&problem),
      tensor_(&sparse_indices),
      index_(sparse_indices, problem.layout, sparse_indices_extents(problem)) {
  std::vector<std::int64_t> keys;
  for (std::int64_t b = 0; b < problem.batch; ++b)
    for (std::int64_t token = 0; token < problem.length_q(b); ++token) read(b, token, keys);
}

void KeyLists::read(std::int64_t b, std::int64_t token, std::vector<std::int64_t>& keys) const {
  const std::int64_t size = problem_->sparse_block_size,
                     visible = visible_keys(*problem_, b, token),
                     blocks = device::ceil_divide(visible, size),
                     used = std::min(blocks, problem_->sparse_block_count);
  keys.clear();
  for (std::int64_t slot = 0; slot < used; ++slot) {
    const auto block = static_cast<std::int64_t>(tensor_->load(index_(b, 0, token, slot)));
    if (block < 0) break;
    if (block >= blocks)
      throw spec::Rejected(spec::Status::param_invalid,
                           "SFAG-C32: entry " + std::to_string(slot) + " of the list of query " +
                               std::to_string(token) + " of sequence " + std::to_string(b) +
                               " is block " + std::to_string(block) + "; the query sees " +
                               std::to_string(blocks) + " blocks");
    for (std::int64_t key = block * size; key < std::min((block + 1) * size, visible); ++key)
      keys.push_back(key);
  }
  std::ranges::sort(keys);
}

}  // namespace assay::optimized::sparse_flash
