#include "assay/reference/mask.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace assay::reference {
namespace {

std::string text_of(const spec::Shape& shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

}  // namespace

Mask::Mask(const spec::FlashAttentionScoreGrad::Problem& problem, const spec::Tensor* atten_mask)
    : seq_kv_(problem.seq_kv), atten_mask_(atten_mask) {
  if (atten_mask == nullptr || atten_mask->shape.empty()) return;
  switch (problem.sparse_mode) {
    case 0:
    case 1: rule_ = Rule::tensor; break;
    case 2: rule_ = Rule::diagonal; break;
    case 3:
      rule_ = Rule::diagonal;
      diagonal_ = problem.seq_kv - problem.seq_q;
      break;
    case 4:
      // Both tokens count from the diagonal that ends in the lower right corner.
      rule_ = Rule::band;
      diagonal_ = problem.seq_kv - problem.seq_q + problem.next_tokens;
      first_ = problem.seq_kv - problem.seq_q - problem.pre_tokens;
      break;
    default:
      throw std::invalid_argument("mask: sparse mode " + std::to_string(problem.sparse_mode) +
                                  " has no predicate, only 0..4 have");
  }
  if (rule_ == Rule::tensor) broadcast(problem);
}

void Mask::broadcast(const spec::FlashAttentionScoreGrad::Problem& problem) {
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

void Mask::read_row(std::int64_t b, std::int64_t n, std::int64_t i,
                    std::span<std::uint8_t> keep) const {
  if (rule_ == Rule::tensor) {
    for (std::size_t j = 0; j < keep.size(); ++j)
      keep[j] = keeps(b, n, i, static_cast<std::int64_t>(j)) ? 1 : 0;
    return;
  }
  const auto size = static_cast<std::int64_t>(keep.size());
  const std::int64_t end = rule_ == Rule::all ? size : std::clamp<std::int64_t>(i + diagonal_ + 1, 0, size);
  const std::int64_t start = rule_ == Rule::band ? std::clamp<std::int64_t>(i + first_, 0, end) : 0;
  std::fill(keep.begin(), keep.end(), std::uint8_t{0});
  std::fill(keep.begin() + start, keep.begin() + end, std::uint8_t{1});
}

std::int64_t Mask::kept_end(std::int64_t i) const {
  if (rule_ != Rule::diagonal && rule_ != Rule::band) return seq_kv_;
  return std::clamp<std::int64_t>(i + diagonal_ + 1, 0, seq_kv_);
}

}  // namespace assay::reference
