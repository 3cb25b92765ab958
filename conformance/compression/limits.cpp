#include "compression/limits.hpp"

#include <string>

#include "case/limits.hpp"

namespace assay::conformance::compression {

void require_windows(const Problem& p, std::string_view tensor, std::string_view requirement) {
  if (all_windows(p) > 0) return;
  const std::string accepted = "at least " + std::to_string(p.compress_block_size) +
                               " (compress_block_size) tokens in --seq or in one of --lengths; "
                               "otherwise " +
                               std::string(tensor) + " is empty, see " + std::string(requirement);
  if (p.lengths.empty()) refuse("seq", std::to_string(p.seq), accepted);
  refuse("lengths", list_text(p.lengths), accepted);
}

}  // namespace assay::conformance::compression
