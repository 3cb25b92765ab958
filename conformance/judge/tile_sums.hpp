#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/conformance/inputs/random.hpp"
#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/layout.hpp"

/// A case of which some rows are judged is judged whole by sums over the rows of tiles. Derivation:
/// conformance/README.md, "Tile sums".
namespace assay::conformance {

/// Rows of a tile: fewer than what kernels lose, negate or shift at once.
inline constexpr std::int64_t tile_rows = 64;

/// Consecutive rows of one head.
struct Tile {
  std::int64_t b, n, first, count;
};

/// The tiles of every head, the last of a head with what is left. Errors: none; no rows, no tiles.
std::vector<Tile> tiles_of(const spec::Extents& extents);

/// With which sign a row takes part in the sum of its tile: drawn for every row, so that a kernel
/// that exchanges, shifts or repeats rows of a tile changes the sum.
class RowSigns {
 public:
  explicit RowSigns(std::uint64_t seed) : random_(stream(seed, Stream::sampling)) {}
  /// Of the row's number in Extents::row.
  double operator()(std::int64_t row) const {
    return random_.bits(static_cast<std::uint64_t>(row)) >> 63 == 0 ? 1 : -1;
  }

 private:
  Random random_;
};

/// What the judge knows of the signed sums of one output tensor before it sees an output. The final
/// cast is not in the tolerances: what it may have added follows from what was written.
struct TileSums {
  std::string name;
  spec::Extents extents;
  std::vector<Tile> tiles;
  RowSigns signs{0};

  // One entry per tile and channel, (tiles, dim) row-major.
  std::vector<double> value, radius, tolerance, tolerance_det;
  std::vector<std::uint8_t> exempt;  ///< per tile: a staged value may overflow, or nothing is known

  double written_share = 0;  ///< of |what was written|: roundings between sum and final cast
  double lambda = 0;         ///< of the probable member; 0: only the worst case of casts counts

  void resize(std::size_t tile_count);
};

/// Judges the sum of every tile that is not exempt. Findings of the rule `tile_sum` name tile and
/// size; the grade is as of `compare`. Completes the report of the tensor.
Decision compare_tiles(const TileSums& sums, const RowReader& rows, const Arithmetic& arithmetic,
                       TensorReport& report, std::vector<Finding>& findings);

}  // namespace assay::conformance
