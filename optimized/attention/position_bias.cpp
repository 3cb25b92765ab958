#include "attention/position_bias.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "operands/rows.hpp"

namespace assay::optimized {
namespace {

using spec::PseShape;
using Problem = spec::AttentionProblem;

/// Returns the position of key 0 minus the position of query 0. In sparse mode 8 the start indices
/// apply only to the first sequence.
std::int64_t start_distance(const Problem& p, std::int64_t b) {
  const bool counts = !p.q_start_idx.empty() && !p.kv_start_idx.empty() &&
                      (b == 0 || p.sparse_mode != 8 || !is_packed(p.input_layout));
  return counts ? p.kv_start_idx[0] - p.q_start_idx[0] : 0;
}

bool is_compressed(PseShape shape) { return shape == PseShape::bnhs || shape == PseShape::one_nhs; }

}  // namespace

PositionBias::PositionBias(const spec::AttentionProblem& problem, const AttentionInputs& inputs,
                           const tile::Kernels& kernels)
    : problem_(&problem), kernels_(&kernels) {
  if (problem.pse_shift == PseShape::absent) return;
  tensor_ = &inputs.pse_shift.value();
  storage_ = storage_of(tensor_->dtype);
  element_size_ = spec::size_of(tensor_->dtype);
  const bool keys_only = problem.pse_shift == PseShape::packed_bn1s;
  if (!keys_only && problem.pse_shift != PseShape::packed_bnss) return;
  std::int64_t element = 0;
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    first_elements_.push_back(element);
    element += problem.heads_q * problem.length_kv(b) * (keys_only ? 1 : problem.length_q(b));
  }
}

BiasRows PositionBias::read(const Block& block, const Tile& space) const {
  const PseShape shape = problem_->pse_shift;
  if (depends_on_distance()) return by_distance(block, space.at);
  if (shape == PseShape::bn1s || shape == PseShape::packed_bn1s) return single_row(block, space);
  for (std::int64_t i = 0; i < block.rows; ++i) {
    const std::int64_t row = block.first_row + i;
    if (is_compressed(shape)) {
      compressed_row(block, row, space.row(i));
      continue;
    }
    if (shape == PseShape::packed_bnss) {
      const std::int64_t seq_q = problem_->length_q(block.b), seq_kv = problem_->length_kv(block.b);
      const std::int64_t number = first_elements_[static_cast<std::size_t>(block.b)] +
                                  (block.n * seq_q + row) * seq_kv + block.first_column;
      const std::int64_t step = tensor_->strides[0];
      widen({tensor_->offset + number * step, step, block.columns}, space.row(i));
      continue;
    }
    widen(
        {element({block.b, block.n, row, block.first_column}), tensor_->strides[3], block.columns},
        space.row(i));
  }
  return {.at = space.at, .stride = space.stride};
}

bool PositionBias::depends_on_distance() const {
  return problem_->pse_type >= 2 ||
         (is_packed(problem_->input_layout) && is_compressed(problem_->pse_shift));
}

/// Fills `line` with the bias of every distance j - i in the block. Row i + 1 of the block starts
/// one element before row i in this line.
BiasRows PositionBias::by_distance(const Block& block, float* line) const {
  const std::int64_t first = block.first_column - (block.first_row + block.rows - 1);
  if (problem_->pse_type >= 2)
    slopes(block, first, line);
  else
    compressed_tnd(block, first, line);
  return {.at = line + block.rows - 1, .stride = -1};
}

void PositionBias::slopes(const Block& block, std::int64_t first, float* line) const {
  const spec::Shape& s = tensor_->strides;
  const bool per_batch = problem_->pse_shift == PseShape::slopes_bn;
  const std::int64_t from =
      tensor_->offset + (per_batch ? block.b * s[0] + block.n * s[1] : block.n * s[0]);
  float slope = 0;
  widen({from, 1, 1}, &slope);
  const std::int64_t start = first + start_distance(*problem_, block.b);
  for (std::int64_t k = 0; k < block.rows + block.columns - 1; ++k) {
    const auto distance = static_cast<float>(std::abs(start + k));
    line[k] = -slope * (problem_->pse_type == 3 ? std::sqrt(distance) : distance);
  }
}

/// Reads the compressed bias. For distances i - j >= S - 1024, the bias is in the first column of
/// the tensor; for smaller distances, it is in the first row. The first row ends above the
/// diagonal.
void PositionBias::compressed_tnd(const Block& block, std::int64_t first, float* line) const {
  constexpr std::int64_t stored = spec::compressed_pse_rows;
  const std::int64_t columns = tensor_->shape[3];
  for (std::int64_t k = 0; k < block.rows + block.columns - 1; ++k) {
    line[k] = 0;
    const std::int64_t row = -(first + k) - (columns - stored);
    if (row >= stored || -row >= columns) continue;
    widen({row >= 0 ? element({block.b, block.n, row, 0}) : element({block.b, block.n, 0, -row}), 1,
           1},
          line + k);
  }
}

BiasRows PositionBias::single_row(const Block& block, const Tile& space) const {
  if (problem_->pse_shift == PseShape::bn1s) {
    widen({element({block.b, block.n, 0, block.first_column}), tensor_->strides[3], block.columns},
          space.at);
  } else {
    const std::int64_t number = first_elements_[static_cast<std::size_t>(block.b)] +
                                block.n * problem_->length_kv(block.b) + block.first_column;
    const std::int64_t step = tensor_->strides[0];
    widen({tensor_->offset + number * step, step, block.columns}, space.at);
  }
  return {.at = space.at, .stride = 0};
}

/// Reads one row of the compressed bias. Each of the last 1024 queries has its own row of the bias
/// tensor. An earlier query i uses row i mod 1024, shifted to the column with the same distance.
/// Columns outside the bias tensor are above the diagonal and therefore masked.
void PositionBias::compressed_row(const Block& block, std::int64_t i, float* to) const {
  constexpr std::int64_t stored = spec::compressed_pse_rows;
  const std::int64_t first_stored = problem_->seq_q - stored;
  const std::int64_t row = i >= first_stored ? i - first_stored : i % stored;
  const std::int64_t shift = i >= first_stored ? 0 : row - i + problem_->seq_kv - stored;
  std::fill_n(to, block.columns, 0.0F);
  const std::int64_t from = block.first_column + shift;
  const std::int64_t skipped = std::clamp<std::int64_t>(-from, 0, block.columns);
  const std::int64_t end = std::min(from + block.columns, problem_->seq_kv);
  widen(
      {element({block.b, block.n, row, from + skipped}), tensor_->strides[3], end - from - skipped},
      to + skipped);
}

std::int64_t PositionBias::element(const std::array<std::int64_t, 4>& index) const {
  const spec::Shape& s = tensor_->strides;
  const std::int64_t b = tensor_->shape[0] == 1 ? 0 : index[0];
  return tensor_->offset + b * s[0] + index[1] * s[1] + index[2] * s[2] + index[3] * s[3];
}

void PositionBias::widen(const Run& run, float* to) const {
  if (run.count <= 0) return;
  const std::byte* const from = tensor_->bytes.data() + run.element * element_size_;
  if (run.step == 1) {
    kernels_->widen(from, storage_, run.count, to);
    return;
  }
  for (std::int64_t k = 0; k < run.count; ++k)
    kernels_->widen(from + k * run.step * element_size_, storage_, 1, to + k);
}

}  // namespace assay::optimized
