#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/device/ascend.hpp"
#include "assay/device/units.hpp"
#include "assay/optimized/buffer.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::optimized::compress {

/// Half-open range [first, last) of windows of one sequence.
struct WindowRange {
  std::int64_t first = 0, last = 0;

  bool empty() const { return first >= last; }
  std::int64_t count() const { return empty() ? 0 : last - first; }
  friend bool operator==(const WindowRange&, const WindowRange&) = default;
};

/// Half-open range [first, last) of tokens of sequence b, counted from the start of the sequence.
struct TokenRange {
  std::int64_t b = 0, first = 0, last = 0;

  std::int64_t count() const { return last - first; }
  friend bool operator==(const TokenRange&, const TokenRange&) = default;
};

/// Returns how many full windows a sequence of `length` tokens has.
std::int64_t windows_in(std::int64_t length, std::int64_t size, std::int64_t stride);

/// The windows of compression in every sequence of a problem.
class Windows {
 public:
  explicit Windows(const spec::NsaCompressGrad::Problem& problem);

  std::int64_t size() const { return size_; }
  std::int64_t stride() const { return stride_; }
  std::int64_t sequences() const { return static_cast<std::int64_t>(token_ends_.size()); }
  std::int64_t tokens(std::int64_t b) const { return first_token(b + 1) - first_token(b); }
  std::int64_t windows(std::int64_t b) const {
    return end(window_ends_, b) - end(window_ends_, b - 1);
  }
  std::int64_t first_token(std::int64_t b) const { return end(token_ends_, b - 1); }
  /// For each sequence: the position after its last token in a tensor of all tokens. window_ends:
  /// the position after its last window in a tensor of all windows.
  const std::vector<std::int64_t>& token_ends() const { return token_ends_; }
  const std::vector<std::int64_t>& window_ends() const { return window_ends_; }
  std::int64_t all_tokens() const { return first_token(sequences()); }

  /// Returns the windows that cover at least one token of the range.
  WindowRange over(const TokenRange& range) const;
  /// Returns the longest part of the non-empty range that begins at its start and satisfies two
  /// conditions: all tokens of the part are in the same windows, and the part spans at most one
  /// stride. No two pairs (token, window) of the part use the same weight.
  TokenRange alike(const TokenRange& range) const;

 private:
  static std::int64_t end(const std::vector<std::int64_t>& ends, std::int64_t b) {
    return b < 0 ? 0 : ends[static_cast<std::size_t>(b)];
  }

  std::int64_t size_, stride_;
  std::vector<std::int64_t> token_ends_, window_ends_;
};

/// The tiling of one problem for a device, which determines the order of every sum. A tile consists
/// of consecutive tokens of one sequence, in a slice of the channels of one head. All tokens are
/// split into `parts`. Each combination of part, head and slice is one unit of work with its own
/// partial sums, one per weight.
struct Tiling {
  Windows windows;
  std::int64_t tokens;        ///< of a tile; a multiple of 16
  std::int64_t channels;      ///< of a slice; a multiple of 16
  std::int64_t slices;        ///< number of slices of a head
  std::int64_t parts;         ///< number of contiguous parts of all tokens
  std::int64_t most_windows;  ///< largest number of windows that cover tokens of a tile
  std::vector<Buffer> buffers;
  device::Bytes ub;  ///< peak occupancy

  /// Returns how many partial sums are added for one element of weight_grad.
  std::int64_t partials() const { return parts * slices; }
  /// Returns the number of channels in this slice of a head with `head_dim` channels. The last
  /// slice may be narrower.
  std::int64_t channels_of(std::int64_t slice, std::int64_t head_dim) const;
};

/// Iterates over the tiles of a part in ascending order. A tile belongs to the part that contains
/// the first token of the tile.
class PartTiles {
 public:
  /// Keeps a reference to the tiling.
  PartTiles(const Tiling& tiling, std::int64_t part);

  std::optional<TokenRange> next();

 private:
  const Tiling* tiling_;
  std::int64_t last_;  ///< first token of the next part, counted over all sequences
  TokenRange at_;      ///< starts at the next tile
};

/// Returns the tiling of a non-empty problem. Deterministic: the same arguments give the same
/// tiling.
/// Errors: device::DeviceFault, naming buffer, tile and limit, if even the smallest tiles do not
/// fit.
Tiling plan(const spec::NsaCompressGrad::Problem& problem, const device::Spec& device);

/// Returns the tiling with tiles of `tokens` x `channels`. The function `plan` chooses the number
/// of parts. Errors: device::DeviceFault, naming buffer, tile and limit, if the tiles do not fit.
Tiling tiling_of(const spec::NsaCompressGrad::Problem& problem, const device::Spec& device,
                 std::int64_t tokens, std::int64_t channels);

/// A tile size: the number of tokens, and the number of channels of one head. tile_extents returns
/// the sizes to try, the widest first; some may not fit the device.
struct TileExtents {
  std::int64_t tokens, channels;
};
std::vector<TileExtents> tile_extents(const spec::NsaCompressGrad::Problem& problem);

/// Counts, for each branch of the tiling, how often it occurs: full tiles and smaller last tiles,
/// full and narrower last slices of a head, one part or several, and tiles without a window.
std::vector<spec::Metric> regimes_of(const Tiling& tiling, std::int64_t head_dim);

/// Formats the tile sizes in one line for people.
std::string extents_text(const Tiling& tiling);
/// Formats the tiling as text for people: tile sizes, then one line per buffer.
std::string to_text(const Tiling& tiling);

}  // namespace assay::optimized::compress
