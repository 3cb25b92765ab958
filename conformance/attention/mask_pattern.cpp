#include "attention/mask_pattern.hpp"

#include <algorithm>
#include <numeric>

namespace assay::conformance::attention {

bool MaskPattern::count(const spec::RowPosition& query, std::span<const std::int64_t> keys,
                        std::span<std::uint8_t> times) const {
  bool any = false;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const bool kept = mask_.keeps(query.b, query.n, query.s, keys[k]);
    times[k] = kept ? 1 : 0;
    any |= kept;
  }
  return any;
}

std::vector<std::int64_t> MaskPattern::keys(const spec::RowPosition& query) const {
  const reference::KeyRange kept = range(query);
  std::vector<std::int64_t> all(static_cast<std::size_t>(std::max<std::int64_t>(kept.size(), 0)));
  std::iota(all.begin(), all.end(), kept.first);
  return all;
}

}  // namespace assay::conformance::attention
