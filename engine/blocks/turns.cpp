#include "assay/engine/blocks/turns.hpp"

namespace assay::engine {

void Turns::wait(std::int64_t key_block, std::int64_t row_block) {
  auto& next = next_[static_cast<std::size_t>(key_block)];
  for (std::int64_t seen = next; seen != row_block; seen = next) next.wait(seen);
}

void Turns::pass(std::int64_t key_block, std::int64_t row_block) {
  auto& next = next_[static_cast<std::size_t>(key_block)];
  next = row_block + 1;
  next.notify_all();
}

}  // namespace assay::engine
