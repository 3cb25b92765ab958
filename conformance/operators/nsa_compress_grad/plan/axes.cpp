#include <algorithm>

#include "assay/conformance/plan/sizes.hpp"
#include "operators/nsa_compress_grad/plan/factors.hpp"

namespace assay::conformance {
namespace compress {
namespace {

using Op = spec::NsaCompressGrad;

/// Sequences from which on a case counts as one of many, and windows beyond which tiles cross
/// sequences.
constexpr std::int64_t many_sequences = 16, few_windows = 64;

std::int64_t windows_of(const Op::Problem& p, std::int64_t b) {
  return spec::window_count(p.length(b), p.compress_block_size, p.compress_stride);
}

Heads heads_of(const Op::Problem& p) {
  if (p.heads == 1) return Heads::one;
  return p.heads < 16 ? Heads::few : Heads::many;
}

HeadDim head_dim_of(const Op::Problem& p) {
  if (p.head_dim <= 16) return HeadDim::least;
  if (p.head_dim <= 112) return HeadDim::narrow;
  return p.head_dim <= 192 ? HeadDim::wide : HeadDim::widest;
}

Overlap overlap_of(const Op::Problem& p) {
  const std::int64_t size = p.compress_block_size, stride = p.compress_stride;
  if (size < 2 * stride) return Overlap::part;
  if (size == 2 * stride) return Overlap::two;
  if (size % stride != 0) return Overlap::odd;
  return size <= 4 * stride ? Overlap::few : Overlap::many;
}

Lengths lengths_of(const Op::Problem& p) {
  bool has_empty = false, has_short = false, alike = true, single_windows = true;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    has_empty |= p.length(b) == 0;
    has_short |= windows_of(p, b) == 0;
    alike &= p.length(b) == p.length(0);
    single_windows &= windows_of(p, b) == 1;
  }
  if (single_windows) return Lengths::one_window;
  if (p.batch == 1) return Lengths::single;
  if (p.batch >= many_sequences) return Lengths::many;
  if (has_empty) return p.length(0) == 0 ? Lengths::leading_empty : Lengths::repeated;
  if (windows_of(p, 0) == 0) return Lengths::short_first;
  if (windows_of(p, p.batch - 1) == 0) return Lengths::short_last;
  if (has_short) return Lengths::short_middle;
  return alike ? Lengths::equal : Lengths::unequal;
}

Tail tail_of(const Op::Problem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    if (windows_of(p, b) > 0 && (p.length(b) - p.compress_block_size) % p.compress_stride != 0)
      return Tail::some;
  return Tail::none;
}

template <class Value>
std::size_t position(Value value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

// The tables of the factors list the enumerators of each type in their order.
Choice axes_of(const CompressCase& c) {
  const Op::Problem& p = c.problem;
  Choice choice(factor_count, undecided);
  choice[dtype] = position(p.dtype) - position(spec::DType::fp16);
  choice[heads] = position(heads_of(p));
  choice[head_dim] = position(head_dim_of(p));
  choice[overlap] = position(overlap_of(p));
  choice[lengths] = position(lengths_of(p));
  choice[tail] = position(tail_of(p));
  choice[amount] =
      position(output_extents(p).tokens() <= few_windows ? Amount::few : Amount::beyond);
  choice[inputs] = position(c.inputs);
  choice[outputs] = position(c.outputs);
  return choice;
}

}  // namespace compress

const Axes* Suite<spec::NsaCompressGrad>::axes() { return &compress::axes(); }

Choice Suite<spec::NsaCompressGrad>::choice_of(const Case<Op>& c) { return compress::axes_of(c); }

std::vector<Size> Suite<spec::NsaCompressGrad>::sizes(const Case<Op>& c) {
  constexpr std::int64_t of_16_bits = 0xffff;
  const auto& p = c.problem;
  return {{"head_dim", p.head_dim},
          {"heads", p.heads},
          {"sequences", p.batch},
          {"window", p.compress_block_size},
          {"tokens", input_extents(p).tokens(), of_16_bits}};
}

}  // namespace assay::conformance
