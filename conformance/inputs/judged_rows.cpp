#include <algorithm>
#include <set>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/inputs/random.hpp"

namespace assay::conformance {
namespace {

/// For every tile size, returns the rows next to the first and to the last tile boundary. Rows
/// nearest to the ends come first.
std::vector<std::int64_t> tile_edges(std::int64_t extent) {
  std::vector<std::int64_t> edges;
  for (const std::int64_t tile : {128, 16, 64, 512}) {
    const std::int64_t last = (extent - 1) / tile * tile;
    for (const std::int64_t row : {tile - 1, tile, last - 1, last})
      if (row > 0 && row < extent) edges.push_back(row);
  }
  return edges;
}

}  // namespace

std::vector<std::int64_t> judged_rows(std::int64_t extent, std::int64_t wanted,
                                      std::uint64_t seed) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(std::max<std::int64_t>(extent, 0)));
  for (std::size_t row = 0; row < all.size(); ++row) all[row] = static_cast<std::int64_t>(row);
  if (wanted <= 0 || wanted >= extent) return all;

  // Half of the rows are random, because a fault may be far from any tile boundary.
  std::set<std::int64_t> rows = {extent - 1};
  const auto size = [&] { return static_cast<std::int64_t>(rows.size()); };
  if (size() < wanted) rows.insert(0);
  for (const std::int64_t edge : tile_edges(extent))
    if (size() < wanted && 2 * size() < wanted + 2) rows.insert(edge);
  const Random random = stream(seed, Stream::sampling);
  for (std::uint64_t draw = 0; size() < wanted; ++draw)
    rows.insert(random.integer(draw, 0, extent - 1));
  return {rows.begin(), rows.end()};
}

}  // namespace assay::conformance
