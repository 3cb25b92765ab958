#include "operators/nsa_compress_grad_reductions.hpp"

#include <algorithm>
#include <utility>

#include "operators/nsa_compress_grad_sampling.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaCompressGrad;
using compress::CompressCase;
using Lengths = std::vector<std::int64_t>;

/// Sequences of which one is left out, or shortened alone, at a time.
constexpr std::int64_t most_sequences = 8;

Lengths all_lengths(const Op::Problem& p) {
  Lengths lengths;
  for (std::int64_t b = 0; b < p.batch; ++b) lengths.push_back(p.length(b));
  return lengths;
}

CompressCase with_lengths(CompressCase c, Lengths lengths) {
  compress::set_lengths(c.problem, std::move(lengths));
  return c;
}

/// The sequences [first, first + count) alone, or all others.
void add_sequences(std::vector<CompressCase>& cases, const CompressCase& c, std::int64_t first,
                   std::int64_t count, bool keep) {
  Lengths some;
  for (std::int64_t b = 0; b < c.problem.batch; ++b)
    if ((b >= first && b < first + count) == keep) some.push_back(c.problem.length(b));
  cases.push_back(with_lengths(c, std::move(some)));
}

std::vector<CompressCase> fewer_sequences(const CompressCase& c) {
  const std::int64_t batch = c.problem.batch, half = batch / 2;
  std::vector<CompressCase> cases;
  if (batch < 2) return cases;
  const std::int64_t singles = std::min(batch, most_sequences);
  for (std::int64_t b = 0; b < singles; ++b) add_sequences(cases, c, b, 1, true);
  add_sequences(cases, c, batch - 1, 1, true);
  add_sequences(cases, c, 0, half, true);
  add_sequences(cases, c, half, batch - half, true);
  for (std::int64_t b = 0; b < singles; ++b) add_sequences(cases, c, b, 1, false);
  add_sequences(cases, c, batch - 1, 1, false);
  return cases;
}

std::vector<CompressCase> shorter_sequences(const CompressCase& c) {
  std::vector<CompressCase> cases;
  for (const std::int64_t most : values_below(c.problem.seq, 1)) {
    Lengths lengths = all_lengths(c.problem);
    for (std::int64_t& length : lengths) length = std::min(length, most);
    cases.push_back(with_lengths(c, std::move(lengths)));
  }
  return cases;
}

std::vector<CompressCase> shorter_single_sequences(const CompressCase& c) {
  std::vector<CompressCase> cases;
  const Lengths lengths = all_lengths(c.problem);
  for (std::size_t b = 0; b < std::min<std::size_t>(lengths.size(), most_sequences); ++b)
    for (const std::int64_t length : values_below(lengths[b], 0)) {
      Lengths shorter = lengths;
      shorter[b] = length;
      cases.push_back(with_lengths(c, std::move(shorter)));
    }
  return cases;
}

std::vector<CompressCase> fewer_heads(const CompressCase& c) {
  std::vector<CompressCase> cases;
  for (const std::int64_t heads : values_below(c.problem.heads, 1)) {
    cases.push_back(c);
    cases.back().problem.heads = heads;
  }
  return cases;
}

/// Multiples of 16, since others are disputed.
std::vector<CompressCase> smaller_heads(const CompressCase& c) {
  constexpr std::int64_t step = 16;
  std::vector<CompressCase> cases;
  for (const std::int64_t steps : values_below((c.problem.head_dim + step - 1) / step, 1)) {
    cases.push_back(c);
    cases.back().problem.head_dim = steps * step;
  }
  return cases;
}

/// Other windows, the documents' smallest first; of a case whose windows change the sequences stay.
std::vector<CompressCase> smaller_windows(const CompressCase& c) {
  constexpr std::int64_t step = 16;
  const std::int64_t size = c.problem.compress_block_size, stride = c.problem.compress_stride;
  std::vector<CompressCase> cases;
  const auto add = [&](std::int64_t new_size, std::int64_t new_stride) {
    if (new_size > size || new_stride > stride || (new_size == size && new_stride == stride)) return;
    cases.push_back(c);
    cases.back().problem.compress_block_size = new_size;
    cases.back().problem.compress_stride = new_stride;
  };
  add(2 * step, step);
  for (const std::int64_t steps : values_below(stride / step, 1)) add(size, steps * step);
  for (const std::int64_t steps : values_below(size / step, 2)) add(steps * step, stride);
  return cases;
}

}  // namespace

std::span<const Reduction<Op>> reductions(std::type_identity<Op>) {
  static constexpr Reduction<Op> all[] = {
      {"fewer sequences", fewer_sequences},
      {"shorter sequences", shorter_sequences},
      {"fewer heads", fewer_heads},
      {"smaller heads", smaller_heads},
      {"sequences shortened one by one", shorter_single_sequences},
      {"smaller windows", smaller_windows}};
  return all;
}

std::span<const std::string_view> fields_of_reductions(std::type_identity<Op>) {
  static constexpr std::string_view names[] = {"batch",    "heads",
                                               "seq",      "lengths",
                                               "head_dim", "compress_block_size",
                                               "compress_stride"};
  return names;
}

}  // namespace assay::conformance
