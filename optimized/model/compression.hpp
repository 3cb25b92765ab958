#pragma once

#include <vector>

#include "assay/optimized/schedules/compress.hpp"
#include "assay/spec/compression.hpp"

namespace assay::optimized {

/// Returns the properties of a problem that determine its modelled time.
inline schedules::Compression compression_of(const spec::CompressionProblem& p,
                                             schedules::Direction direction) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t b = 0; b < p.batch; ++b) lengths.push_back(p.length(b));
  return {.heads = p.heads,
          .head_dim = p.head_dim,
          .size = p.compress_block_size,
          .stride = p.compress_stride,
          .lengths = lengths,
          .element = {spec::size_of(p.dtype)},
          .direction = direction};
}

}  // namespace assay::optimized
