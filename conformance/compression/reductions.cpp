#include "compression/reductions.hpp"

#include <algorithm>
#include <utility>

#include "case/lengths.hpp"
#include "case/reduction.hpp"

namespace assay::conformance::compression {
namespace {

using Lengths = std::vector<std::int64_t>;

Problem with_lengths(Problem p, Lengths lengths) {
  set_lengths(p, std::move(lengths));
  return p;
}

}  // namespace

std::vector<Problem> without_sequences(const Problem& p) {
  std::vector<Problem> smaller;
  const std::int64_t batch = p.batch;
  const Lengths lengths = all_lengths(p, &Problem::length);
  const auto add = [&](const SequenceChoice& kept) {
    smaller.push_back(with_lengths(p, kept.of(lengths)));
  };
  for (const SequenceChoice& kept : fewer_sequences(batch)) add(kept);
  if (batch > 1) add({batch - 1, 1, false});
  return smaller;
}

std::vector<Problem> shorter_sequences(const Problem& p) {
  std::vector<Problem> smaller;
  for (const std::int64_t most : values_below(p.seq, 1)) {
    Lengths lengths = all_lengths(p, &Problem::length);
    for (std::int64_t& length : lengths) length = std::min(length, most);
    smaller.push_back(with_lengths(p, std::move(lengths)));
  }
  return smaller;
}

std::vector<Problem> shorter_single_sequences(const Problem& p) {
  std::vector<Problem> smaller;
  const Lengths lengths = all_lengths(p, &Problem::length);
  for (std::size_t b = 0; b < std::min<std::size_t>(lengths.size(), most_single_sequences); ++b)
    for (const std::int64_t length : values_below(lengths[b], 0)) {
      Lengths shorter = lengths;
      shorter[b] = length;
      smaller.push_back(with_lengths(p, std::move(shorter)));
    }
  return smaller;
}

std::vector<Problem> fewer_heads(const Problem& p) {
  std::vector<Problem> smaller;
  for (const std::int64_t heads : values_below(p.heads, 1)) {
    smaller.push_back(p);
    smaller.back().heads = heads;
  }
  return smaller;
}

std::vector<Problem> smaller_heads(const Problem& p) {
  constexpr std::int64_t step = 16;
  std::vector<Problem> smaller;
  for (const std::int64_t steps : values_below((p.head_dim + step - 1) / step, 1)) {
    smaller.push_back(p);
    smaller.back().head_dim = steps * step;
  }
  return smaller;
}

std::vector<Problem> smaller_windows(const Problem& p) {
  constexpr std::int64_t step = 16;
  const std::int64_t size = p.compress_block_size, stride = p.compress_stride;
  std::vector<Problem> smaller;
  const auto add = [&](std::int64_t new_size, std::int64_t new_stride) {
    if (new_size > size || new_stride > stride || (new_size == size && new_stride == stride))
      return;
    smaller.push_back(p);
    smaller.back().compress_block_size = new_size;
    smaller.back().compress_stride = new_stride;
  };
  add(2 * step, step);
  for (const std::int64_t steps : values_below(stride / step, 1)) add(size, steps * step);
  for (const std::int64_t steps : values_below(size / step, 2)) add(steps * step, stride);
  return smaller;
}

}  // namespace assay::conformance::compression
