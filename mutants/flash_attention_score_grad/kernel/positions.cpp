#include <cmath>
#include <cstdlib>

#include "flash_attention_score_grad/kernel/kernel.hpp"

namespace assay::mutants {

bool Kernel::excluded(const AttentionWork& w, Query q, std::int64_t j) const {
  const spec::Tensor& mask = *w.atten_mask;
  const std::size_t rank = mask.shape.size();
  std::int64_t element = mask.offset + q.i * mask.strides[rank - 2] + j * mask.strides[rank - 1];
  if (rank == 4) {
    if (mask.shape[0] > 1) element += q.b * mask.strides[0];
    if (mask.shape[1] > 1) element += q.n * mask.strides[1];
  }
  return mask.load(element) != 0;
}

std::int64_t Kernel::corner(const AttentionWork& w, std::int64_t b) const {
  return w.problem.length_kv(b) - w.problem.length_q(b);
}

std::int64_t Kernel::prefix(const AttentionWork& w, std::int64_t b) const {
  return w.problem.prefix[static_cast<std::size_t>(b)];
}

std::int64_t Kernel::band_batch(const AttentionWork& w) const {
  const Op::Problem& p = w.problem;
  std::int64_t b = p.sparse_mode == 7 ? p.batch - 1 : 0;
  const std::int64_t step = p.sparse_mode == 7 ? -1 : 1;
  while (b >= 0 && b < p.batch && p.length_q(b) == 0) b += step;
  return b;
}

std::int64_t Kernel::sparse_mode(const AttentionWork& w, std::int64_t b) const {
  const std::int64_t mode = w.problem.sparse_mode;
  if (mode < 7) return mode;
  if (b == band_batch(w)) return 4;
  return mode == 7 ? 3 : 2;
}

bool Kernel::keeps(const AttentionWork& w, Query q, std::int64_t j) const {
  if (w.atten_mask == nullptr) return true;
  const std::int64_t diagonal = q.i + corner(w, q.b);
  switch (sparse_mode(w, q.b)) {
    case 2:
      return j <= q.i;
    case 3:
      return j <= diagonal;
    case 4:
      return diagonal - w.problem.pre_tokens <= j && j <= diagonal + w.problem.next_tokens;
    case 6:
      return j < prefix(w, q.b) || j <= diagonal;
    default:
      return !excluded(w, q, j);
  }
}

std::int64_t Kernel::compressed_pse_element(const AttentionWork& w, Query q, std::int64_t j) const {
  const std::int64_t columns = w.problem.seq_kv;
  std::int64_t row = q.i - (columns - spec::compressed_pse_rows), column = j;
  if (row < 0) column -= row, row = 0;
  // A column beyond the last one occurs only for pairs above the diagonal, and the mask excludes
  // these pairs.
  return column < columns ? row * columns + column : 0;
}

std::int64_t Kernel::pse_element(const AttentionWork& w, Query q, std::int64_t j) const {
  const Op::Problem& p = w.problem;
  const std::int64_t head = q.b * p.heads_q + q.n;
  const std::int64_t block = spec::compressed_pse_rows * p.seq_kv;
  switch (p.pse_shift) {
    case spec::PseShape::bnss:
      return (head * p.seq_q + q.i) * p.seq_kv + j;
    case spec::PseShape::bn1s:
      return head * p.seq_kv + j;
    case spec::PseShape::one_nss:
      return (q.n * p.seq_q + q.i) * p.seq_kv + j;
    case spec::PseShape::bnhs:
      return head * block + compressed_pse_element(w, q, j);
    case spec::PseShape::one_nhs:
      return q.n * block + compressed_pse_element(w, q, j);
    case spec::PseShape::packed_bn1s:
      return p.heads_q * w.key.extents.start(q.b) + q.n * p.length_kv(q.b) + j;
    case spec::PseShape::slopes_n:
      return q.n;
    case spec::PseShape::slopes_bn:
      return head;
    default:
      return w.first_score[static_cast<std::size_t>(q.b)] +
             (q.n * p.length_q(q.b) + q.i) * p.length_kv(q.b) + j;
  }
}

std::int64_t Kernel::start_shift(const AttentionWork& w, std::int64_t b) const {
  const Op::Problem& p = w.problem;
  if (p.q_start_idx.empty() || p.kv_start_idx.empty()) return 0;
  if (is_packed(p.input_layout) && p.sparse_mode == 8 && b > 0) return 0;
  return p.kv_start_idx[0] - p.q_start_idx[0];
}

float Kernel::distance(const AttentionWork& w, Query q, std::int64_t j) const {
  return static_cast<float>(std::abs(j - q.i + start_shift(w, q.b)));
}

float Kernel::bias(const AttentionWork& w, Query q, std::int64_t j) const {
  const float element = w.pse[static_cast<std::size_t>(pse_element(w, q, j))];
  if (pse_type(w) < 2) return element;
  const float far = distance(w, q, j);
  return -element * (pse_type(w) == 3 ? std::sqrt(far) : far);
}

std::int64_t Kernel::drop_bit(const AttentionWork& w, Query q, std::int64_t j) const {
  const Op::Problem& p = w.problem;
  return w.first_score[static_cast<std::size_t>(q.b)] +
         (q.n * p.length_q(q.b) + q.i) * p.length_kv(q.b) + j;
}

bool Kernel::bit_is_set(const AttentionWork& w, std::int64_t bit) const {
  return ((w.drop_bytes[static_cast<std::size_t>(bit / 8)] >> (bit % 8)) & 1) != 0;
}

}  // namespace assay::mutants
