#include "assay/optimized/nsa_compress_grad/traffic.hpp"

#include "model/block_planner.hpp"

namespace assay::optimized::compress {
namespace {

using device::Bytes;
using Problem = spec::NsaCompressGrad::Problem;

constexpr std::int64_t block_bytes = 32;

/// Returns the memory traffic of one unit of work. The weights of a head are far apart in memory,
/// so each read also fetches the bytes around the weight. Tokens without a window are not read, but
/// their gradients are written.
Traffic item(const Problem& p, const Tiling& t, std::int64_t part, std::int64_t channels) {
  const std::int64_t element = spec::size_of(p.dtype), weights = t.windows.size();
  Traffic all = {.read = {weights * block_bytes}, .written = {weights * fp32_bytes}};
  PartTiles tiles(t, part);
  while (const auto tile = tiles.next()) {
    const std::int64_t tokens = tile->count() * channels * element;
    const WindowRange over = t.windows.over(*tile);
    if (!over.empty()) all.read += Bytes{tokens + over.count() * channels * element};
    all.written += Bytes{tokens};
  }
  return all;
}

}  // namespace

Traffic traffic(const Problem& p, const Tiling& t) {
  const std::int64_t last = t.channels_of(t.slices - 1, p.head_dim);
  Traffic all;
  for (std::int64_t part = 0; part < t.parts; ++part) {
    all += p.heads * item(p, t, part, last);
    if (t.slices > 1) all += p.heads * (t.slices - 1) * item(p, t, part, t.channels);
  }
  const std::int64_t weights = p.heads * p.compress_block_size;
  all += {.read = {t.partials() * weights * fp32_bytes},
          .written = {weights * spec::size_of(p.dtype)}};
  return all;
}

}  // namespace assay::optimized::compress
