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

/// Half-open range of windows of one sequence.
struct WindowRange {
  std::int64_t first = 0, last = 0;

  bool empty() const { return first >= last; }
  std::int64_t count() const { return empty() ? 0 : last - first; }
  friend bool operator==(const WindowRange&, const WindowRange&) = default;
};

/// Half-open range of tokens of sequence b, counted from its first.
struct TokenRange {
  std::int64_t b = 0, first = 0, last = 0;

  std::int64_t count() const { return last - first; }
  friend bool operator==(const TokenRange&, const TokenRange&) = default;
};

/// Windows that lie within `length` tokens.
std::int64_t windows_in(std::int64_t length, std::int64_t size, std::int64_t stride);

/// The windows over the sequences of a problem.
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
  /// Inclusive sums, as a tensor that holds all tokens or all windows is cut.
  const std::vector<std::int64_t>& token_ends() const { return token_ends_; }
  const std::vector<std::int64_t>& window_ends() const { return window_ends_; }
  std::int64_t all_tokens() const { return first_token(sequences()); }

  /// The windows that hold a token of the range.
  WindowRange over(const TokenRange& range) const;
  /// The longest beginning of the range, which is not empty, whose tokens lie in the same windows
  /// and in no more tokens than a stride: no two of its pairs of token and window share a weight.
  TokenRange alike(const TokenRange& range) const;

 private:
  static std::int64_t end(const std::vector<std::int64_t>& ends, std::int64_t b) {
    return b < 0 ? 0 : ends[static_cast<std::size_t>(b)];
  }

  std::int64_t size_, stride_;
  std::vector<std::int64_t> token_ends_, window_ends_;
};

/// How one problem is cut for a device; everything else follows from it. A vector core holds tiles
/// of consecutive tokens of one sequence in a slice of the channels of one head. Part, head and
/// slice make an item of work, which has its own sum per weight.
struct Tiling {
  Windows windows;
  std::int64_t tokens;        ///< of a tile, a multiple of 16
  std::int64_t channels;      ///< of a slice, a multiple of 16
  std::int64_t slices;        ///< of the channels of a head
  std::int64_t parts;         ///< contiguous shares of all tokens
  std::int64_t most_windows;  ///< that a tile meets
  std::vector<Buffer> buffers;
  device::Bytes ub;  ///< peak occupancy

  /// Partial sums of a weight's gradient.
  std::int64_t partials() const { return parts * slices; }
  /// Channels of a slice of heads with `head_dim` channels: fewer in the last one.
  std::int64_t channels_of(std::int64_t slice, std::int64_t head_dim) const;
};

/// Counts through the tiles of a part in ascending order. A tile belongs to the part in which its
/// first token lies.
class PartTiles {
 public:
  /// It refers to the tiling.
  PartTiles(const Tiling& tiling, std::int64_t part);

  std::optional<TokenRange> next();

 private:
  const Tiling* tiling_;
  std::int64_t last_;  ///< first token, counted through all sequences, that is of a later part
  TokenRange at_;      ///< begins where the next tile does
};

/// The tiling of a non-empty problem. Pure: the same arguments give the same tiling.
/// Errors: device::DeviceFault, naming buffer, tile and limit, if not even the smallest tiles fit.
Tiling plan(const spec::NsaCompressGrad::Problem& problem, const device::Spec& device);

/// The tiling of so many tokens and channels in a tile, with as many parts as `plan` would take.
/// Errors: device::DeviceFault, naming buffer, tile and limit, if it does not fit.
Tiling tiling_of(const spec::NsaCompressGrad::Problem& problem, const device::Spec& device,
                 std::int64_t tokens, std::int64_t channels);

/// Extents of a tile that schedules may have, whether they fit or not: the first widest.
struct TileExtents {
  std::int64_t tokens, channels;
};
std::vector<TileExtents> tile_extents(const spec::NsaCompressGrad::Problem& problem);

/// Whole tiles and tails, whole slices of a head and the last, narrower ones, tokens in one part
/// and in several, and tiles that no window meets.
std::vector<spec::Metric> regimes_of(const Tiling& tiling, std::int64_t head_dim);

/// The extents for people, one line.
std::string extents_text(const Tiling& tiling);
/// The plan for people: extents, then one line per buffer.
std::string to_text(const Tiling& tiling);

}  // namespace assay::optimized::compress
