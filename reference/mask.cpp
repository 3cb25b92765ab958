#include "assay/reference/mask.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "dense.hpp"

namespace assay::reference {
namespace {

using Problem = spec::AttentionProblem;

/// An unlimited window: larger than every length, but small enough that sums with lengths do not
/// overflow.
constexpr std::int64_t unbounded = std::int64_t{1} << 40;

/// In sparse modes 7 and 8 the window restricts only one sequence. Returns the number of this
/// sequence: the last one with queries (mode 7) or the first one (mode 8). Returns 0 if no sequence
/// has queries.
std::int64_t band_sequence(const Problem& p) {
  std::int64_t found = 0;
  for (std::int64_t b = p.batch; b-- > 0;) {
    if (p.length_q(b) == 0) continue;
    found = b;
    if (p.sparse_mode == 7) break;
  }
  return found;
}

/// Returns the sparse mode that applies to sequence b. Modes 7 and 8 split a causal mask between
/// several calls, so different sequences have different modes.
std::int64_t mode_of(const Problem& p, std::int64_t b, std::int64_t band) {
  if (p.sparse_mode == 7) return b == band ? 4 : 3;
  if (p.sparse_mode == 8) return b == band ? 4 : 2;
  return p.sparse_mode;
}

void check(const Problem& p) {
  if (p.sparse_mode < 0 || p.sparse_mode > 8)
    throw std::invalid_argument("mask: sparse mode " + std::to_string(p.sparse_mode) +
                                " is not supported: accepted are 0 to 8");
  if (p.sparse_mode == 6 && static_cast<std::int64_t>(p.prefix.size()) != p.batch)
    throw std::invalid_argument("mask: sparse mode 6 needs a prefix for each of " +
                                std::to_string(p.batch) + " sequences, " +
                                std::to_string(p.prefix.size()) + " are given");
}

}  // namespace

Mask::Mask(const Problem& problem, const spec::Tensor* atten_mask) : atten_mask_(atten_mask) {
  const bool absent = atten_mask == nullptr || atten_mask->shape.empty();
  if (!absent) {
    check(problem);
    user_mask_ = problem.sparse_mode <= 1 || problem.sparse_mode == 5;
  }
  const bool everything = absent || user_mask_;
  const bool alike = problem.lengths_q.empty() && problem.lengths_kv.empty() &&
                     (everything || (problem.sparse_mode >= 2 && problem.sparse_mode <= 4));
  const std::int64_t band = band_sequence(problem);
  const std::int64_t count = alike ? 1 : problem.batch;
  windows_.reserve(static_cast<std::size_t>(count));
  for (std::int64_t b = 0; b < count; ++b)
    windows_.push_back(window(problem, b, everything ? 0 : mode_of(problem, b, band)));
  if (user_mask_) broadcast(problem);
}

Mask::Window Mask::window(const Problem& p, std::int64_t b, std::int64_t sparse_mode) {
  const std::int64_t length_q = p.length_q(b), length_kv = p.length_kv(b);
  // Modes 3, 4 and 6 count positions from the diagonal that ends at the last query and the last
  // key.
  const std::int64_t last_diagonal = length_kv - length_q;
  Window result{.prefix = 0,
                .left = -unbounded,
                .right = last_diagonal,
                .length_q = length_q,
                .length_kv = length_kv};
  switch (sparse_mode) {
    case 2:
      result.right = 0;
      break;
    case 3:
      break;
    case 4:
      result.left = last_diagonal - std::clamp(p.pre_tokens, -unbounded, unbounded);
      result.right = last_diagonal + std::clamp(p.next_tokens, -unbounded, unbounded);
      break;
    case 6:
      result.prefix = p.prefix[static_cast<std::size_t>(b)];
      break;
    default:
      result.prefix = length_kv;
      break;
  }
  return result;
}

void Mask::broadcast(const Problem& problem) {
  const spec::Shape& shape = atten_mask_->shape;
  const spec::Shape& strides = atten_mask_->strides;
  const std::size_t rank = shape.size();
  const bool fits = (rank == 2 || rank == 4) && shape[rank - 2] == problem.seq_q &&
                    shape[rank - 1] == problem.seq_kv &&
                    (rank == 2 || ((shape[0] == 1 || shape[0] == problem.batch) &&
                                   (shape[1] == 1 || shape[1] == problem.heads_q)));
  if (!fits)
    throw std::invalid_argument(
        "mask: shape " + text_of(shape) + " does not broadcast to " +
        text_of({problem.batch, problem.heads_q, problem.seq_q, problem.seq_kv}));
  offset_ = atten_mask_->offset;
  query_ = strides[rank - 2];
  key_ = strides[rank - 1];
  if (rank == 4) {
    batch_ = shape[0] == 1 ? 0 : strides[0];
    head_ = shape[1] == 1 ? 0 : strides[1];
  }
}

void Mask::read_row(std::int64_t b, std::int64_t n, std::int64_t i, std::span<std::uint8_t> keep,
                    std::int64_t first) const {
  const auto size = static_cast<std::int64_t>(keep.size());
  if (user_mask_) {
    for (std::int64_t k = 0; k < size; ++k)
      keep[static_cast<std::size_t>(k)] = keeps(b, n, i, first + k) ? 1 : 0;
    return;
  }
  const KeyRange kept = kept_range(b, i);
  const std::int64_t start = std::clamp<std::int64_t>(kept.first - first, 0, size);
  const std::int64_t end = std::clamp<std::int64_t>(kept.last - first, start, size);
  std::fill(keep.begin(), keep.end(), std::uint8_t{0});
  std::fill(keep.begin() + start, keep.begin() + end, std::uint8_t{1});
}

KeyRange Mask::kept_range(std::int64_t b, std::int64_t i) const {
  const Window& window = window_of(b);
  const std::int64_t last =
      std::clamp<std::int64_t>(std::max(window.prefix, i + window.right + 1), 0, window.length_kv);
  // A prefix occurs only in windows without a left edge, so the unmasked keys are contiguous.
  return {.first = std::clamp<std::int64_t>(i + window.left, 0, last), .last = last};
}

QueryRange Mask::kept_queries(std::int64_t b, std::int64_t j) const {
  const Window& window = window_of(b);
  if (j < window.prefix) return {.first = 0, .last = window.length_q};
  const std::int64_t last = std::clamp<std::int64_t>(j - window.left + 1, 0, window.length_q);
  return {.first = std::clamp<std::int64_t>(j - window.right, 0, last), .last = last};
}

}  // namespace assay::reference
