#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/conformance/inputs/random.hpp"
#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/layout.hpp"

/// Tile sums: sums over 64 rows, each row with a random sign. They check all rows of a case, even
/// if only some rows are judged element by element. Derivation: conformance/README.md, "Tile sums".
namespace assay::conformance {

/// Number of rows of a tile. A kernel that loses, negates or shifts rows usually does this with
/// more than 64 rows.
inline constexpr std::int64_t tile_rows = 64;

/// A tile: consecutive rows of one head.
struct Tile {
  std::int64_t b, n, first, count;
};

/// Divides the rows of every head into tiles. The last tile of a head contains the remaining rows.
/// A head without rows has no tiles.
std::vector<Tile> tiles_of(const spec::Extents& extents);

/// The sign with which each row is added to the sum of its tile. The signs are random, so that the
/// sum changes if a kernel exchanges, shifts or repeats rows.
class RowSigns {
 public:
  explicit RowSigns(std::uint64_t seed) : random_(stream(seed, Stream::sampling)) {}
  /// Returns the sign of row number `row` (in the order of Extents::row).
  double operator()(std::int64_t row) const {
    return random_.bits(static_cast<std::uint64_t>(row)) >> 63 == 0 ? 1 : -1;
  }

 private:
  Random random_;
};

/// The tile sums (signed sums of 64 rows) of one output tensor, computed before any output is
/// judged. Their tolerances do not include the error of the final cast, which is computed later
/// from the written values.
struct TileSums {
  std::string name;
  spec::Extents extents;
  std::vector<Tile> tiles;
  RowSigns signs{0};

  // Each list has one number per tile and channel, (tiles, dim) row-major.
  std::vector<double> value, radius, tolerance, tolerance_det;
  std::vector<std::uint8_t> exempt;  ///< per tile: 1 if it cannot be judged, e.g. overflow

  double written_share = 0;  ///< roundings between sum and final cast, relative to |written|
  double lambda = 0;         ///< factor of probable errors; 0: use the casts' largest errors

  void resize(std::size_t tile_count);
};

/// Judges the sum of every tile that is not exempt (excluded because of a possible overflow).
/// Completes the report of the tensor. Findings have the rule `tile_sum`, and contain the tile and
/// the size of the error. Errors are graded as in `compare`.
Decision compare_tiles(const TileSums& sums, const RowReader& rows, const Arithmetic& arithmetic,
                       TensorReport& report, std::vector<Finding>& findings);

}  // namespace assay::conformance
