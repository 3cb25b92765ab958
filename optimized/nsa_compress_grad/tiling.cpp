#include "assay/optimized/nsa_compress_grad/tiling.hpp"

#include <algorithm>
#include <sstream>

#include "assay/device/scratchpad.hpp"
#include "model/block_planner.hpp"
#include "model/regime.hpp"

namespace assay::optimized::compress {
namespace {

using device::ceil_divide;
using device::round_up;
using Problem = spec::NsaCompressGrad::Problem;

constexpr std::int64_t granule = 16;  // tokens and channels of a tile are multiples of it
constexpr std::int64_t widest_slice = 256;
constexpr std::int64_t enough_tokens = 32;  // 16 KiB with 256 channels: copies reach full bandwidth
constexpr std::int64_t most_tokens = 256;
constexpr std::int64_t block_bytes = 32;
constexpr std::int64_t sum_lanes = 16;  // chains per weight
constexpr double tolerated_imbalance = 1.01;

/// Returns the buffers of a vector core for a tile. There are enough buffers to overlap the loads
/// and stores of one tile with the arithmetic of another.
std::vector<Piece> pieces(const Tiling& t, std::int64_t element) {
  const std::int64_t tile = t.tokens * t.channels, gradients = t.most_windows * t.channels;
  std::vector<Piece> all;
  for (const char* half : {" ping", " pong"}) {
    all.push_back({std::string("input") + half, {tile * element}});
    all.push_back({std::string("output gradient") + half, {gradients * element}});
    all.push_back({std::string("input gradient") + half, {tile * element}});
  }
  all.push_back({"wide input", {tile * fp32_bytes}});
  all.push_back({"wide output gradient", {gradients * fp32_bytes}});
  all.push_back({"input gradient sums", {tile * fp32_bytes}});
  all.push_back({"products", {tile * fp32_bytes}});
  all.push_back({"stored weights", {t.windows.size() * element}});
  all.push_back({"weights", {t.windows.size() * fp32_bytes}});
  all.push_back({"weight blocks", {t.windows.size() * block_bytes}});
  all.push_back({"weight gradient chains", {t.windows.size() * sum_lanes * fp32_bytes}});
  return all;
}

/// Returns the maximum number of windows that `tokens` consecutive tokens can touch, at any
/// position.
std::int64_t most_windows_over(const Windows& windows, std::int64_t tokens) {
  std::int64_t most = 0;
  for (std::int64_t b = 0; b < windows.sequences(); ++b) most = std::max(most, windows.windows(b));
  return std::min(most, (tokens + windows.size() - 2) / windows.stride() + 1);
}

/// Returns the number of tokens in the longest sequence, rounded up to a multiple of 16.
std::int64_t longest_of(const Windows& windows) {
  std::int64_t tokens = 1;
  for (std::int64_t b = 0; b < windows.sequences(); ++b)
    tokens = std::max(tokens, windows.tokens(b));
  return round_up(tokens, granule);
}

class Planner {
 public:
  Planner(const Problem& problem, const device::Spec& device, Tiling& tiling)
      : problem_(problem),
        device_(device),
        element_(spec::size_of(problem.dtype)),
        tiling_(tiling) {}

  /// Chooses the widest slices for which enough tokens fit in the unified buffer. If no width is
  /// small enough, chooses the narrowest slices.
  void cut() {
    const std::int64_t channels = round_up(problem_.head_dim, granule);
    for (std::int64_t cuts = ceil_divide(channels, widest_slice);; ++cuts) {
      tiling_.channels = round_up(ceil_divide(channels, cuts), granule);
      tiling_.slices = ceil_divide(channels, tiling_.channels);
      const std::int64_t enough = std::min(enough_tokens, longest());
      if (take_tokens() >= enough || tiling_.channels == granule) break;
    }
  }

  /// Chooses the smallest number of parts with a load balance within 1 % of the best.
  void share() {
    const auto cores = static_cast<std::int64_t>(device_.cores.vector.value);
    std::int64_t tiles = 0;
    for (std::int64_t b = 0; b < tiling_.windows.sequences(); ++b)
      tiles += ceil_divide(tiling_.windows.tokens(b), tiling_.tokens);
    const std::int64_t columns = problem_.heads * tiling_.slices, most = std::min(cores, tiles);
    const auto share_of_busiest = [&](std::int64_t parts) {
      return static_cast<double>(ceil_divide(parts * columns, cores)) / static_cast<double>(parts);
    };
    double best = share_of_busiest(1);
    for (std::int64_t parts = 2; parts <= most; ++parts)
      best = std::min(best, share_of_busiest(parts));
    tiling_.parts = 1;
    while (share_of_busiest(tiling_.parts) > tolerated_imbalance * best) ++tiling_.parts;
  }

  /// Sets the given tile size, without a check that it fits.
  void take(std::int64_t tokens, std::int64_t channels) {
    tiling_.channels = channels;
    tiling_.slices = ceil_divide(round_up(problem_.head_dim, granule), channels);
    set_tokens(tokens);
  }

  void place() {
    auto [ub] = device::VectorBuffers(device_);
    for (const auto& [what, size] : pieces(tiling_, element_)) ub.allocate(size, what);
    for (const auto& tile : ub.tiles())
      tiling_.buffers.push_back({ub.name(), tile.what, tile.offset, tile.size});
    tiling_.ub = ub.used();
  }

 private:
  std::int64_t longest() const { return longest_of(tiling_.windows); }

  void set_tokens(std::int64_t tokens) {
    tiling_.tokens = tokens;
    tiling_.most_windows = most_windows_over(tiling_.windows, tokens);
  }

  bool fits() const {
    const std::int64_t alignment = bytes_of(device_.memories.ub_alignment).count;
    std::int64_t total = 0;
    for (const Piece& piece : pieces(tiling_, element_))
      total += round_up(piece.size.count, alignment);
    return total <= bytes_of(device_.memories.ub).count;
  }

  /// Sets and returns the largest number of tokens that fits in the unified buffer. The number is
  /// rounded down to full strides if at least one stride fits.
  std::int64_t take_tokens() {
    std::int64_t tokens = std::min(most_tokens, longest());
    set_tokens(tokens);
    while (tokens > granule && !fits()) set_tokens(tokens -= granule);
    const std::int64_t stride = tiling_.windows.stride();
    if (stride % granule == 0 && stride < tokens) set_tokens(tokens - tokens % stride);
    return tokens;
  }

  const Problem& problem_;
  const device::Spec& device_;
  std::int64_t element_;
  Tiling& tiling_;
};

}  // namespace

std::int64_t Tiling::channels_of(std::int64_t slice, std::int64_t head_dim) const {
  return std::min(channels, head_dim - slice * channels);
}

PartTiles::PartTiles(const Tiling& tiling, std::int64_t part) : tiling_(&tiling) {
  const Windows& windows = tiling.windows;
  const std::int64_t from = ceil_divide(part * windows.all_tokens(), tiling.parts);
  last_ = ceil_divide((part + 1) * windows.all_tokens(), tiling.parts);
  const auto& ends = windows.token_ends();
  at_.b = std::ranges::upper_bound(ends, from) - ends.begin();
  if (at_.b < windows.sequences())
    at_.first = round_up(from - windows.first_token(at_.b), tiling.tokens);
}

std::optional<TokenRange> PartTiles::next() {
  const Windows& windows = tiling_->windows;
  for (; at_.b < windows.sequences(); ++at_.b, at_.first = 0) {
    const std::int64_t length = windows.tokens(at_.b);
    if (at_.first >= length) continue;
    if (windows.first_token(at_.b) + at_.first >= last_) break;
    at_.last = std::min(at_.first + tiling_->tokens, length);
    const TokenRange tile = at_;
    at_.first = at_.last;
    return tile;
  }
  return std::nullopt;
}

Tiling plan(const Problem& problem, const device::Spec& device) {
  Tiling tiling{.windows = Windows(problem), .buffers = {}};
  Planner planner(problem, device, tiling);
  planner.cut();
  planner.share();
  planner.place();
  return tiling;
}

Tiling tiling_of(const Problem& problem, const device::Spec& device, std::int64_t tokens,
                 std::int64_t channels) {
  Tiling tiling{.windows = Windows(problem), .buffers = {}};
  Planner planner(problem, device, tiling);
  planner.take(tokens, channels);
  planner.share();
  planner.place();
  return tiling;
}

std::vector<TileExtents> tile_extents(const Problem& problem) {
  const std::int64_t longest = longest_of(Windows(problem));
  const std::int64_t channels = round_up(problem.head_dim, granule);
  std::vector<TileExtents> all;
  for (std::int64_t slice = channels, last = 0; slice >= granule;
       last = slice, slice = round_up(slice / 2, granule)) {
    if (slice == last) break;
    for (std::int64_t tokens = granule; tokens <= std::min(most_tokens, longest); tokens *= 2)
      all.push_back({tokens, slice});
  }
  return all;
}

std::vector<spec::Metric> regimes_of(const Tiling& tiling, std::int64_t head_dim) {
  std::int64_t tiles = 0, tails = 0, idle = 0;
  for (std::int64_t part = 0; part < tiling.parts; ++part) {
    PartTiles of_part(tiling, part);
    while (const auto tile = of_part.next()) {
      ++tiles;
      if (tile->count() < tiling.tokens) ++tails;
      if (tiling.windows.over(*tile).empty()) ++idle;
    }
  }
  const std::int64_t narrow =
      tiling.channels_of(tiling.slices - 1, head_dim) < tiling.channels ? 1 : 0;
  return {regime("token_tile.whole", tiles - tails),
          regime("token_tile.tail", tails),
          regime("token_tile.without_window", idle),
          regime("slice.whole", tiling.slices - narrow),
          regime("slice.tail", narrow),
          regime("tokens.in_one_part", tiling.parts == 1 ? 1 : 0),
          regime("tokens.in_several_parts", tiling.parts == 1 ? 0 : 1)};
}

std::string extents_text(const Tiling& t) {
  std::ostringstream text;
  text << "tile " << t.tokens << " tokens x " << t.channels << " channels, covered by at most "
       << t.most_windows << " windows, " << t.slices << " slices of a head, " << t.parts
       << " parts of " << t.windows.all_tokens() << " tokens\n";
  return text.str();
}

std::string to_text(const Tiling& t) {
  std::ostringstream text;
  text << extents_text(t);
  for (const Buffer& buffer : t.buffers)
    text << buffer.memory << ' ' << buffer.what << ": " << buffer.size.count << " B at "
         << buffer.offset.count << '\n';
  text << "peak: UB " << t.ub.count << " B\n";
  return text.str();
}

}  // namespace assay::optimized::compress
