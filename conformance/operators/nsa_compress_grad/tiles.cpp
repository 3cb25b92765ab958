#include "operators/nsa_compress_grad/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "judge/tolerance.hpp"

namespace assay::conformance::tiles {
namespace {

constexpr std::size_t tiles_at_once = 16;

/// E38. Adds the rows of tile k to the sums; the first of them has the index `row` in the
/// expectation. Errors before the final cast are much smaller than the rows, so their worst cases
/// are added.
void add_rows(const Expectation& e, std::int64_t row, std::size_t k, TileSums& sums) {
  for (std::int64_t r = row; r < row + sums.tiles[k].count; ++r) {
    const auto place = static_cast<std::size_t>(r);
    const double sign = sums.signs(e.rows[place]);
    sums.exempt[k] |= e.exempt[place];
    for (std::int64_t d = 0; d < e.dim(); ++d) {
      const auto from = static_cast<std::size_t>(r * e.dim() + d);
      const std::size_t to = k * static_cast<std::size_t>(e.dim()) + static_cast<std::size_t>(d);
      // The terms are stored in fp32; the factor covers their rounding.
      const double before_cast = (1 + 0x1p-20) * (static_cast<double>(e.core[from]) +
                                                  e.accumulation[from] + e.extra[from]);
      sums.value[to] += sign * e.value[from];
      sums.radius[to] += e.radius[from];
      sums.tolerance[to] += before_cast;
      sums.tolerance_det[to] += e.tau_det[from];
    }
  }
}

/// Computes the sums of all tiles. `expected(rows)` returns the expectation of these rows of the
/// tensor.
template <class ExpectedRows>
TileSums summed(const std::string& name, const spec::Extents& extents, std::uint64_t seed,
                ExpectedRows&& expected) {
  TileSums sums{
      .name = name, .extents = extents, .tiles = tiles_of(extents), .signs = RowSigns(seed)};
  sums.resize(sums.tiles.size());
  sums.lambda = azuma_factor(std::ssize(sums.tiles) * extents.dim);
  for (std::size_t first = 0; first < sums.tiles.size(); first += tiles_at_once) {
    const std::size_t last = std::min(first + tiles_at_once, sums.tiles.size());
    std::vector<std::int64_t> rows;
    for (std::size_t k = first; k < last; ++k)
      for (std::int64_t r = 0; r < sums.tiles[k].count; ++r)
        rows.push_back(extents.row(sums.tiles[k].b, sums.tiles[k].n, sums.tiles[k].first + r));
    const Expectation e = expected(rows);
    std::int64_t row = 0;
    for (std::size_t k = first; k < last; row += sums.tiles[k++].count) add_rows(e, row, k, sums);
  }
  return sums;
}

}  // namespace

std::vector<TileSums> tile_sums(const compress::Dense& dense, const Arithmetic& arithmetic,
                                const compress::JudgedRows& judged, std::uint64_t seed) {
  std::vector<TileSums> all;
  if (std::ssize(judged.input) < dense.inputs.rows())
    all.push_back(
        summed("input_grad", dense.inputs, seed, [&](const std::vector<std::int64_t>& rows) {
          return std::move(compress::expectations(dense, arithmetic, {rows, {}})[0]);
        }));
  if (std::ssize(judged.weight) < dense.weights.rows())
    all.push_back(
        summed("weight_grad", dense.weights, seed + 1, [&](const std::vector<std::int64_t>& rows) {
          return std::move(compress::expectations(dense, arithmetic, {{}, rows})[1]);
        }));
  return all;
}

}  // namespace assay::conformance::tiles
