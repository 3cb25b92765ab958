#include <algorithm>

#include "bilinear/bound.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::bilinear {
namespace {

constexpr std::size_t tiles_at_once = 16;

/// Equation E38: adds the rows of tile k to the tile sums. `row`: the index of the tile's first row
/// in the expectation. Errors before the final cast are small compared with the rows, so their
/// worst-case bounds are simply added.
void add_rows(const Expectation& e, std::int64_t row, std::size_t k, TileSums& sums) {
  for (std::int64_t r = row; r < row + sums.tiles[k].count; ++r) {
    const auto place = static_cast<std::size_t>(r);
    const double sign = sums.signs(e.rows[place]);
    sums.exempt[k] |= e.exempt[place];
    for (std::int64_t d = 0; d < e.dim(); ++d) {
      const auto from = static_cast<std::size_t>(r * e.dim() + d);
      const std::size_t to = k * static_cast<std::size_t>(e.dim()) + static_cast<std::size_t>(d);
      // The terms are stored in fp32; the factor 1 + 2^-20 covers their rounding errors.
      const double before_cast = (1 + 0x1p-20) * (static_cast<double>(e.core[from]) +
                                                  e.accumulation[from] + e.extra[from]);
      sums.value[to] += sign * e.value[from];
      sums.radius[to] += e.radius[from];
      sums.tolerance[to] += before_cast;
      sums.tolerance_det[to] += e.tau_det[from];
    }
  }
}

TileSums summed(const Operands& operands, const Arithmetic& arithmetic, std::size_t sum,
                std::uint64_t seed) {
  const spec::Extents& extents = operands.form().sums[sum].extents;
  TileSums sums{.name = std::string(operands.form().sums[sum].name),
                .extents = extents,
                .tiles = tiles_of(extents),
                .signs = RowSigns(seed)};
  sums.resize(sums.tiles.size());
  sums.lambda = azuma_factor(std::ssize(sums.tiles) * extents.dim);
  for (std::size_t first = 0; first < sums.tiles.size(); first += tiles_at_once) {
    const std::size_t last = std::min(first + tiles_at_once, sums.tiles.size());
    std::vector<std::int64_t> rows;
    for (std::size_t k = first; k < last; ++k)
      for (std::int64_t r = 0; r < sums.tiles[k].count; ++r)
        rows.push_back(extents.row(sums.tiles[k].b, sums.tiles[k].n, sums.tiles[k].first + r));
    const Expectation e = expected_rows(operands, arithmetic, sum, rows, rows.size());
    std::int64_t row = 0;
    for (std::size_t k = first; k < last; row += sums.tiles[k++].count) add_rows(e, row, k, sums);
  }
  return sums;
}

}  // namespace

std::vector<TileSums> tile_sums(const Operands& operands, const Arithmetic& arithmetic,
                                const std::vector<std::vector<std::int64_t>>& judged,
                                std::uint64_t seed) {
  std::vector<TileSums> all;
  for (std::size_t k = 0; k < judged.size(); ++k)
    if (std::ssize(judged[k]) < operands.form().sums[k].extents.rows())
      all.push_back(summed(operands, arithmetic, k, seed + k));
  return all;
}

}  // namespace assay::conformance::bilinear
