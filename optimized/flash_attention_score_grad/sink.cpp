#include "flash_attention_score_grad/sink.hpp"

#include <algorithm>
#include <cstring>

#include "assay/parallel/loop.hpp"

namespace assay::optimized {
namespace {

constexpr std::int64_t fp32_size = 4;

}  // namespace

SinkGradient::SinkGradient(const Op::Problem& problem, const Op::Inputs& inputs,
                           const Tiling& tiling, const tile::Kernels& kernels,
                           const spec::Extents& queries, float* row_sums)
    : tiling_(tiling),
      kernels_(kernels),
      queries_(queries),
      sinks_(inputs.sink.value()),
      max_(problem, inputs.softmax_max, queries),
      sum_(problem, inputs.softmax_sum, queries),
      heads_(problem.heads_q),
      row_sums_(row_sums) {}

void SinkGradient::add(const RowSpan& rows, const float* block_sums, tile::Sum sum) const {
  float* const sums = row_sums_ + queries_.row(rows.b, rows.n, rows.first);
  for (std::int64_t i = 0; i < rows.count; ++i)
    sums[i] = sum == tile::Sum::start ? block_sums[i] : sums[i] + block_sums[i];
}

void SinkGradient::store(spec::Tensor& dsink, std::int64_t threads) const {
  const FlatView view(dsink);
  const auto work = [&](std::int64_t) {
    return [&, buffer = Floats()](std::int64_t n) mutable {
      const float gradient = of_head(n, buffer);
      std::memcpy(dsink.bytes.data() + view(n) * fp32_size, &gradient, fp32_size);
    };
  };
  parallel::work_off(parallel::numbers(heads_), work, std::min(threads, heads_));
}

/// Skips row tiles without keys: they contribute 0, and their sums were never written, because no
/// key tile adds to them.
float SinkGradient::of_head(std::int64_t n, Floats& buffer) const {
  float sink = 0;
  std::memcpy(&sink, sinks_.tensor().bytes.data() + sinks_(n) * fp32_size, fp32_size);
  const std::int64_t line = padded(tiling_.rows);
  float* const prob = buffer.reserve(2 * line);
  float* const sum = prob + line;
  float total = 0;
  for (std::int64_t b = 0; b < tiling_.batch; ++b) {
    const SequenceTiles& sequence = tiling_.sequence(b);
    for (std::int64_t r = 0; r < sequence.row_tiles; ++r) {
      if (sequence.keys_of(r).empty()) continue;
      const RowSpan rows = {
          .b = b, .n = n, .first = r * sequence.rows, .count = sequence.rows_of(r)};
      max_.read(rows, prob);
      sum_.read(rows, sum);
      for (std::int64_t i = 0; i < rows.count; ++i) prob[i] = sink - prob[i];
      kernels_.exponential(prob, rows.count, prob);
      for (std::int64_t i = 0; i < rows.count; ++i) prob[i] /= sum[i];
      total += kernels_.dot(prob, row_sums_ + queries_.row(b, n, rows.first), rows.count);
    }
  }
  return 0.0F - total;  // not -total: a sum of 0 gives 0, not -0
}

}  // namespace assay::optimized
