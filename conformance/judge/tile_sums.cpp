#include "judge/tile_sums.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "assay/spec/at.hpp"
#include "assay/spec/dtype.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance {
namespace {

constexpr std::size_t most_printed = 4;

using spec::at;

/// Sums over the rows of a tile that the kernel wrote, for one channel.
struct Written {
  double sum = 0, magnitude = 0;
  double casts = 0,
         casts_squared = 0;  ///< sums of the final casts' largest errors, and of their squares
  bool countable = true;     ///< true if no infinity was written, also not as the largest number
};

/// Sums the numbers that the kernel wrote.
class Reader {
 public:
  explicit Reader(const Arithmetic& arithmetic)
      : arithmetic_(arithmetic), limit_(largest_finite(arithmetic.io)) {
    const spec::FloatFormat format = spec::format_of(arithmetic.io);
    smallest_ = std::ldexp(1.0, format.min_exponent + 1 - format.significand_bits);
  }

  void add(double sign, double x, Written& written) const {
    // If the kernel wrote 0, the value before the cast may have been any small number. Therefore
    // the rounding error of a 0 is that of the smallest number of the type.
    const double cast = arithmetic_.out_error(std::max(std::abs(x), smallest_));
    written.countable &= std::abs(x) < limit_;
    written.sum += sign * x;
    written.magnitude += std::abs(x);
    written.casts += cast;
    written.casts_squared += cast * cast;
  }

 private:
  const Arithmetic& arithmetic_;
  double limit_, smallest_;
};

/// The channel of a tile with a wrong sum, and the error of the sum.
struct TileError {
  std::size_t tile = 0;
  std::int64_t channel = 0;
  double sum = 0, tolerance = 0, ratio = 0;
  bool proven = false;
};

Finding finding_of(const TileSums& sums, const TileError& d) {
  const Tile& tile = sums.tiles[d.tile];
  return {
      .rule = FindingRule::tile_sum,
      .tensor = sums.name,
      .b = tile.b,
      .n = tile.n,
      .s = tile.first,
      .d = d.channel,
      .actual = d.sum,
      .expected = sums.value[d.tile * at(sums.extents.dim) + at(d.channel)],
      .tolerance = d.tolerance,
      .fact = {d.proven ? FactKind::sum_beyond_rigorous_bound : FactKind::sum_beyond_probable_bound,
               tile.first + tile.count - 1}};
}

/// Finds the channel of a tile with the largest error of the sum. Ignores sums with an infinite
/// tolerance.
class TileJudge {
 public:
  TileJudge(const TileSums& sums, const RowReader& rows, const Arithmetic& arithmetic)
      : sums_(sums), rows_(rows), arithmetic_(arithmetic), reader_(arithmetic) {}

  /// Judges all channels of tile k. `worst` is the channel with the largest error. Returns whether
  /// any channel could be judged.
  bool judge(std::size_t k, TileError& worst) const {
    const std::vector<Written> channels = read(sums_.tiles[k]);
    worst = {.tile = k};
    bool judged = false;
    for (std::int64_t d = 0; d < sums_.extents.dim; ++d) {
      const TileError deviation = judged_channel(k, d, channels[at(d)]);
      if (std::isnan(deviation.ratio)) continue;
      judged = true;
      if (deviation.ratio >= worst.ratio) worst = deviation;
    }
    return judged;
  }

  /// Returns whether the tile sum would show that all rows of the tile are missing (zeros). If all
  /// expected sums are 0, returns true, because zeros may be correct.
  bool shows_loss(std::size_t k) const {
    Written zeros;
    for (std::int64_t r = 0; r < sums_.tiles[k].count; ++r) reader_.add(1, 0, zeros);
    bool is_zero = true;
    for (std::int64_t d = 0; d < sums_.extents.dim; ++d) {
      if (judged_channel(k, d, zeros).ratio > 1) return true;
      is_zero &= sums_.value[k * at(sums_.extents.dim) + at(d)] == 0;
    }
    return is_zero;
  }

 private:
  std::vector<Written> read(const Tile& tile) const {
    std::vector<std::int64_t> numbers(at(tile.count));
    std::iota(numbers.begin(), numbers.end(), sums_.extents.row(tile.b, tile.n, tile.first));
    const std::vector<double> values = rows_(numbers);
    std::vector<Written> channels(at(sums_.extents.dim));
    for (std::size_t r = 0; r < numbers.size(); ++r)
      for (std::size_t d = 0; d < channels.size(); ++d)
        reader_.add(sums_.signs(numbers[r]), values[r * channels.size() + d], channels[d]);
    return channels;
  }

  /// E37.
  TileError judged_channel(std::size_t tile, std::int64_t d, const Written& w) const {
    const std::size_t k = tile * at(sums_.extents.dim) + at(d);
    TileError result{.tile = tile, .channel = d, .sum = w.sum, .ratio = std::nan("")};
    const double radius = sums_.radius[k] + 0x1p-46 * w.magnitude;
    if (!w.countable || !std::isfinite(radius)) return result;
    const bool averages = arithmetic_.mean_free && sums_.lambda > 0;
    const double casts = engine::core_error(
        w.casts, engine::probable_error(0.0, sums_.lambda, w.casts_squared, 0.0), averages);
    const double shared = radius + sums_.written_share * w.magnitude;
    result.tolerance = sums_.tolerance[k] + casts + shared;
    const double error = std::abs(w.sum - sums_.value[k]);
    result.ratio = error == 0 ? 0 : error / result.tolerance;
    result.proven = error > sums_.tolerance_det[k] + w.casts + shared;
    return result;
  }

  const TileSums& sums_;
  const RowReader& rows_;
  const Arithmetic& arithmetic_;
  Reader reader_;
};

}  // namespace

std::vector<Tile> tiles_of(const spec::Extents& e) {
  std::vector<Tile> tiles;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.length(b); s += tile_rows)
        tiles.push_back({b, n, s, std::min(tile_rows, e.length(b) - s)});
  return tiles;
}

void TileSums::resize(std::size_t tile_count) {
  const std::size_t size = tile_count * at(extents.dim);
  for (auto* field : {&value, &radius, &tolerance, &tolerance_det}) field->assign(size, 0.0);
  exempt.assign(tile_count, 0);
}

Decision compare_tiles(const TileSums& sums, const RowReader& rows, const Arithmetic& arithmetic,
                       TensorReport& report, std::vector<Finding>& findings) {
  const TileJudge judge(sums, rows, arithmetic);
  std::vector<TileError> failing;
  bool proven = false;
  for (std::size_t k = 0; k < sums.tiles.size(); ++k) {
    TileError worst;
    if (sums.exempt[k] != 0 || !judge.judge(k, worst)) continue;
    if (judge.shows_loss(k)) report.rows_summed += sums.tiles[k].count;
    report.worst_tile = std::max(report.worst_tile, worst.ratio);
    if (worst.ratio <= 1) continue;
    proven |= worst.proven;
    failing.push_back(worst);
  }
  if (failing.size() > most_printed)
    findings.push_back({.rule = FindingRule::tile_sum,
                        .tensor = sums.name,
                        .count = FailureCount{std::ssize(failing), std::ssize(sums.tiles)}});
  for (std::size_t k = 0; k < std::min(failing.size(), most_printed); ++k)
    findings.push_back(finding_of(sums, failing[k]));
  if (failing.empty()) return no_objection();
  const auto gravest = std::ranges::find(failing, proven, &TileError::proven);
  return {Rule::tile_sum, proven ? Ground::certain : Ground::likely,
          fact_of(finding_of(sums, *gravest))};
}

}  // namespace assay::conformance
