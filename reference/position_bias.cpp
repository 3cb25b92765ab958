#include "assay/reference/position_bias.hpp"

#include <stdexcept>
#include <string>

namespace assay::reference {
namespace {

using Problem = spec::AttentionProblem;

/// Returns the start index of the keys minus the start index of the queries; 0 unless both are
/// given.
std::int64_t start_shift(const Problem& p) {
  if (p.q_start_idx.empty() || p.kv_start_idx.empty()) return 0;
  return p.kv_start_idx.front() - p.q_start_idx.front();
}

}  // namespace

PositionBias::PositionBias(const Problem& problem, const spec::Tensor* pse_shift)
    : pse_shift_(pse_shift), order_(problem), bias_keys_(spec::key_extents(problem)) {
  bias_keys_.heads = problem.heads_q;
  if (pse_shift == nullptr || pse_shift->shape.empty()) return;
  if (problem.pse_shift == spec::PseShape::absent || pse_shift->shape != spec::pse_shape(problem))
    throw std::invalid_argument("pse_shift: its shape is not " +
                                std::string(to_string(problem.pse_shift)) + " of the problem");
  offset_ = pse_shift->offset;
  take_strides(problem);
}

void PositionBias::take_strides(const Problem& p) {
  using enum spec::PseShape;
  const spec::Shape& shape = pse_shift_->shape;
  const spec::Shape& strides = pse_shift_->strides;
  switch (p.pse_shift) {
    case packed_bn1s:
    case packed_bnss:
      kind_ = p.pse_shift == packed_bn1s ? Kind::packed_keys : Kind::packed_scores;
      key_ = strides[0];
      return;
    case slopes_n:
    case slopes_bn:
      kind_ = p.pse_type == 3 ? Kind::root : Kind::linear;
      head_ = strides.back();
      batch_ = p.pse_shift == slopes_bn ? strides[0] : 0;
      shift_ = start_shift(p);
      shift_of_first_only_ = p.sparse_mode == 8 && is_packed(p.input_layout);
      return;
    default:
      break;
  }
  kind_ = Kind::strided;
  batch_ = shape[0] == 1 ? 0 : strides[0];
  head_ = strides[1];
  query_ = shape[2] == 1 ? 0 : strides[2];
  key_ = strides[3];
  if (p.pse_shift != bnhs && p.pse_shift != one_nhs) return;
  kind_ = Kind::toeplitz;
  columns_ = shape[3];
  if (columns_ < p.seq_q)
    throw std::invalid_argument("pse_shift: " + std::to_string(columns_) +
                                " columns are too few for the distances of " +
                                std::to_string(p.seq_q) + " queries");
}

double PositionBias::outer(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
  switch (kind_) {
    case Kind::toeplitz: {
      if (j > i) return 0.0;
      // The last row of the tensor belongs to the last query, and the last column to a key at
      // distance 0 from this query.
      const std::int64_t row = spec::compressed_pse_rows - 1, column = columns_ - 1 - (i - j);
      return pse_shift_->load(offset_ + b * batch_ + n * head_ + row * query_ + column * key_);
    }
    case Kind::packed_keys:
      return pse_shift_->load(offset_ + bias_keys_.row(b, n, j) * key_);
    case Kind::packed_scores:
      return pse_shift_->load(offset_ + order_(b, n, i, j) * key_);
    default:
      return pse_shift_->load(offset_ + b * batch_ + n * head_ + i * query_ + j * key_);
  }
}

void PositionBias::read_row(std::int64_t b, std::int64_t n, std::int64_t i, std::span<double> row,
                            std::int64_t first) const {
  for (std::size_t k = 0; k < row.size(); ++k)
    row[k] = value(b, n, i, first + static_cast<std::int64_t>(k));
}

}  // namespace assay::reference
