#include <algorithm>

#include "assay/optimized/nsa_compress_grad/tiling.hpp"

namespace assay::optimized::compress {

Windows::Windows(const spec::NsaCompressGrad::Problem& problem)
    : size_(problem.compress_block_size), stride_(problem.compress_stride) {
  std::int64_t tokens = 0, windows = 0;
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    tokens += problem.length(b);
    windows += windows_in(problem.length(b), size_, stride_);
    token_ends_.push_back(tokens);
    window_ends_.push_back(windows);
  }
}

WindowRange Windows::over(const TokenRange& range) const {
  const std::int64_t before = range.first < size_ ? 0 : (range.first - size_) / stride_ + 1;
  return {.first = before, .last = std::min(windows(range.b), (range.last - 1) / stride_ + 1)};
}

TokenRange Windows::alike(const TokenRange& range) const {
  const WindowRange covering = over({range.b, range.first, range.first + 1});
  std::int64_t last = std::min(range.last, (range.first / stride_ + 1) * stride_);
  if (!covering.empty()) last = std::min(last, covering.first * stride_ + size_);
  return {range.b, range.first, last};
}

std::int64_t windows_in(std::int64_t length, std::int64_t size, std::int64_t stride) {
  return length < size ? 0 : (length - size) / stride + 1;
}

}  // namespace assay::optimized::compress
