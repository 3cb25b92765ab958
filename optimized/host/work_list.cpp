#include "host/work_list.hpp"

namespace assay::optimized {

std::optional<HeadTile> HeadTiles::next() {
  for (; at_.b < batch_; ++at_.b, at_.head = 0, at_.index = 0)
    for (; at_.head < heads_; ++at_.head, at_.index = 0)
      if (at_.index < tiles_of_(at_.b))
        return HeadTile{.b = at_.b, .head = at_.head, .index = at_.index++};
  return std::nullopt;
}

}  // namespace assay::optimized
