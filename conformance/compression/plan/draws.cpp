#include "compression/plan/draws.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace assay::conformance::compression {
namespace {

using Counts = std::vector<std::int64_t>;  // windows of each sequence; sequences without windows
                                           // are inserted later

/// The largest number of elements of an ordinary random case.
constexpr std::int64_t ordinary_elements = 150'000;

/// Returns whether the chosen values already lead to many elements. In this case all other sizes
/// must be small.
bool is_large(const Categories& k) {
  return k.amount == Amount::beyond || k.lengths == LengthsKind::many || k.heads == Heads::many ||
         k.head_dim == HeadDim::widest;
}

void draw_window(Problem& p, const Categories& k, Draws& draws) {
  const bool is_frugal = is_large(k);
  const auto set = [&](std::int64_t size, std::int64_t stride) {
    p.compress_block_size = 16 * size, p.compress_stride = 16 * stride;
  };
  // The random sizes are in units of 16 tokens. A window has at most eight units.
  switch (k.overlap) {
    case Overlap::part: {
      const std::int64_t stride = is_frugal ? 2 : draws.integer(2, 7);
      return set(draws.integer(stride + 1, std::min<std::int64_t>(2 * stride - 1, 8)), stride);
    }
    case Overlap::two: {
      const std::int64_t stride = is_frugal ? 1 : draws.integer(1, 4);
      return set(2 * stride, stride);
    }
    case Overlap::few: {
      const std::int64_t stride = is_frugal ? 1 : draws.integer(1, 2);
      return set(stride * draws.integer(3, 4), stride);
    }
    case Overlap::odd: {
      const std::int64_t stride = is_frugal ? 2 : draws.integer(2, 3);
      return set(stride == 2 ? draws.one_of({5, is_frugal ? 5 : 7}) : draws.integer(7, 8), stride);
    }
    case Overlap::many:
      return set(draws.integer(5, is_frugal ? 6 : 8), 1);
    case Overlap::none: {
      const std::int64_t size = is_frugal ? 2 : draws.integer(1, 8);
      return set(size, size);
    }
  }
}

std::int64_t draw_heads(const Categories& k, Draws& draws) {
  const bool is_frugal = is_large(k);
  switch (k.heads) {
    case Heads::one:
      return 1;
    case Heads::few:
      return draws.integer(2, is_frugal ? 3 : 15);
    case Heads::many:
      return k.head_dim == HeadDim::least ? draws.integer(16, 24) : 16;
  }
  return 1;
}

std::int64_t draw_head_dim(const Categories& k, Draws& draws) {
  const bool is_frugal = is_large(k);
  switch (k.head_dim) {
    case HeadDim::least:
      return 16;
    case HeadDim::narrow:
      return 16 * draws.integer(2, is_frugal ? 3 : 7);
    case HeadDim::wide:
      return 16 * draws.integer(8, is_frugal ? 9 : 12);
    case HeadDim::widest:
      return 16 * draws.integer(13, 16);
  }
  return 16;
}

/// Chooses a random total number of windows of all sequences.
std::int64_t draw_total(const Problem& p, Amount amount, Draws& draws) {
  if (amount == Amount::beyond) return draws.integer(65, 72);
  const std::int64_t affordable = ordinary_elements / (p.heads * p.head_dim * p.compress_stride);
  const std::int64_t most = std::clamp<std::int64_t>(affordable, 6, 60);
  // In half of the random cases, the total is close to the number of cores of a chip (24 or 48).
  const std::int64_t cores = draws.one_of({24, 48}) + draws.integer(-1, 1);
  return draws.integer(0, 1) == 0 && cores <= most ? cores : draws.integer(6, most);
}

/// Chooses a random number of windows for each sequence. Every sequence gets at least one window,
/// and some get more.
Counts draw_counts(LengthsKind lengths, std::int64_t total, Draws& draws) {
  if (lengths == LengthsKind::single) return {total};
  if (lengths == LengthsKind::equal) {
    const std::int64_t sequences = draws.one_of<std::int64_t>({2, 3, draws.integer(4, 6)});
    const std::int64_t windows = std::max<std::int64_t>(2, (total + sequences - 1) / sequences);
    return Counts(static_cast<std::size_t>(sequences), windows);
  }
  if (lengths == LengthsKind::many) {
    Counts counts(static_cast<std::size_t>(draws.integer(16, 20)), 1);
    ++counts[0];
    for (std::int64_t left = total - std::ssize(counts); left > 0; --left)
      ++counts[static_cast<std::size_t>(draws.integer(0, std::ssize(counts) - 1))];
    return counts;
  }
  Counts counts = {total / 2, total / 3, total - total / 2 - total / 3};
  std::int64_t more = draws.one_of<std::int64_t>({0, 0, draws.integer(1, 5)});
  for (; more > 0 && counts[0] > 2; --more) --counts[0], counts.push_back(1);
  return counts;
}

/// Returns sequence lengths for which the sequences have the given numbers of windows.
std::vector<std::int64_t> lengths_of(const Problem& p, const Counts& counts, const Categories& k,
                                     Draws& draws) {
  std::vector<std::int64_t> lengths;
  std::int64_t rest = k.tail == Tail::none ? 0 : draws.integer(1, p.compress_stride - 1);
  for (const std::int64_t count : counts) {
    lengths.push_back(p.compress_block_size + (count - 1) * p.compress_stride + rest);
    if (k.tail == Tail::some && k.lengths != LengthsKind::equal)
      rest = draws.integer(0, p.compress_stride - 1);
  }
  return lengths;
}

std::vector<std::int64_t> draw_lengths(const Problem& p, const Categories& k, Draws& draws) {
  if (k.lengths == LengthsKind::one_window) {
    const std::int64_t sequences =
        k.amount == Amount::beyond ? draws.integer(65, 70) : draws.integer(2, 6);
    return lengths_of(p, Counts(static_cast<std::size_t>(sequences), 1), k, draws);
  }
  const Counts counts = draw_counts(k.lengths, draw_total(p, k.amount, draws), draws);
  std::vector<std::int64_t> lengths = lengths_of(p, counts, k, draws);
  const auto insert = [&](std::int64_t place, std::int64_t times, std::int64_t length) {
    lengths.insert(lengths.begin() + place, static_cast<std::size_t>(times), length);
  };
  const std::int64_t full = p.compress_block_size;
  const std::int64_t too_short =
      draws.one_of({std::int64_t{1}, full - 1, draws.integer(1, full - 1)});
  const std::int64_t times = draws.integer(1, 3);
  switch (k.lengths) {
    case LengthsKind::leading_empty:
      insert(0, 1, 0);
      break;
    case LengthsKind::repeated:
      insert(draws.integer(1, std::ssize(lengths)), times, 0);
      break;
    case LengthsKind::short_first:
      insert(0, times, too_short);
      break;
    case LengthsKind::short_last:
      insert(std::ssize(lengths), times, too_short);
      break;
    case LengthsKind::short_middle:
      insert(draws.integer(1, 2), times, too_short);
      break;
    default:
      break;
  }
  // Places an empty sequence next to a sequence that is too short for a window.
  if ((k.lengths == LengthsKind::leading_empty || k.lengths == LengthsKind::repeated) && times == 2)
    insert(1, 1, too_short);
  return lengths;
}

}  // namespace

Problem draw_problem(const Categories& k, Draws& draws) {
  Problem p;
  p.dtype = k.dtype;
  draw_window(p, k, draws);
  p.head_dim = draw_head_dim(k, draws);
  p.heads = draw_heads(k, draws);
  set_lengths(p, draw_lengths(p, k, draws));
  return p;
}

Problem problem_with_many_tokens(std::uint64_t seed) {
  Problem p;
  p.head_dim = 16;
  Draws draws(seed);
  std::vector<std::int64_t> lengths;
  for (std::int64_t tokens = 0; tokens <= 0xffff; tokens += lengths.back())
    lengths.push_back(draws.edge(1, 20'000));
  set_lengths(p, std::move(lengths));
  return p;
}

}  // namespace assay::conformance::compression
