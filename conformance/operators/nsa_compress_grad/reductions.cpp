#include <algorithm>
#include <utility>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "case/lengths.hpp"
#include "case/reduction.hpp"
#include "operators/nsa_compress_grad/plan/sampling.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaCompressGrad;
using compress::CompressCase;
using Lengths = std::vector<std::int64_t>;

CompressCase with_lengths(CompressCase c, Lengths lengths) {
  compress::set_lengths(c.problem, std::move(lengths));
  return c;
}

std::vector<CompressCase> without_sequences(const CompressCase& c) {
  std::vector<CompressCase> cases;
  const std::int64_t batch = c.problem.batch;
  const Lengths lengths = all_lengths(c.problem, &Op::Problem::length);
  const auto add = [&](const SequenceChoice& kept) {
    cases.push_back(with_lengths(c, kept.of(lengths)));
  };
  for (const SequenceChoice& kept : fewer_sequences(batch)) add(kept);
  if (batch > 1) add({batch - 1, 1, false});
  return cases;
}

std::vector<CompressCase> shorter_sequences(const CompressCase& c) {
  std::vector<CompressCase> cases;
  for (const std::int64_t most : values_below(c.problem.seq, 1)) {
    Lengths lengths = all_lengths(c.problem, &Op::Problem::length);
    for (std::int64_t& length : lengths) length = std::min(length, most);
    cases.push_back(with_lengths(c, std::move(lengths)));
  }
  return cases;
}

std::vector<CompressCase> shorter_single_sequences(const CompressCase& c) {
  std::vector<CompressCase> cases;
  const Lengths lengths = all_lengths(c.problem, &Op::Problem::length);
  for (std::size_t b = 0; b < std::min<std::size_t>(lengths.size(), most_single_sequences); ++b)
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

/// Returns cases with head sizes that are multiples of 16, as in every example of the documents.
std::vector<CompressCase> smaller_heads(const CompressCase& c) {
  constexpr std::int64_t step = 16;
  std::vector<CompressCase> cases;
  for (const std::int64_t steps : values_below((c.problem.head_dim + step - 1) / step, 1)) {
    cases.push_back(c);
    cases.back().problem.head_dim = steps * step;
  }
  return cases;
}

/// Returns cases with smaller windows, first the smallest window of the documents. The lengths of
/// the sequences do not change.
std::vector<CompressCase> smaller_windows(const CompressCase& c) {
  constexpr std::int64_t step = 16;
  const std::int64_t size = c.problem.compress_block_size, stride = c.problem.compress_stride;
  std::vector<CompressCase> cases;
  const auto add = [&](std::int64_t new_size, std::int64_t new_stride) {
    if (new_size > size || new_stride > stride || (new_size == size && new_stride == stride))
      return;
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

std::span<const Reduction<Op>> Suite<Op>::reductions() {
  static constexpr Reduction<Op> all[] = {
      {"fewer sequences", without_sequences},
      {"shorter sequences", shorter_sequences},
      {"fewer heads", fewer_heads},
      {"smaller heads", smaller_heads},
      {"sequences shortened one by one", shorter_single_sequences},
      {"smaller windows", smaller_windows}};
  return all;
}

std::span<const std::string_view> Suite<Op>::fields_of_reductions() {
  static constexpr std::string_view names[] = {
      "batch", "heads", "seq", "lengths", "head_dim", "compress_block_size", "compress_stride"};
  return names;
}

}  // namespace assay::conformance
