#include "scores.hpp"

#include <algorithm>
#include <cmath>

namespace assay::conformance::exact_case_test {
namespace {

using spec::PseShape;

/// The first (mode 8) or last (mode 7) sequence that has queries.
std::int64_t band_sequence(const Op::Problem& p) {
  std::int64_t band = 0;
  for (std::int64_t b = p.batch - 1; b >= 0; --b)
    if (p.length_q(b) > 0) {
      band = b;
      if (p.sparse_mode == 7) break;
    }
  return band;
}

}  // namespace

Scores::Scores(Bug bug, const Op::Problem& problem, const Op::Inputs& inputs)
    : bug_(bug),
      p_(problem),
      inputs_(inputs),
      queries_(query_extents(problem)),
      keys_(key_extents(problem)) {}

bool Scores::in_band(std::int64_t b, std::int64_t i, std::int64_t j) const {
  const std::int64_t corner = p_.length_kv(b) - p_.length_q(b);
  return j >= i + corner - p_.pre_tokens && j <= i + corner + p_.next_tokens;
}

bool Scores::in_window(std::int64_t b, std::int64_t i, std::int64_t j) const {
  const std::int64_t corner = p_.length_kv(b) - p_.length_q(b);
  const bool lower_right = j <= i + (bug_ == Bug::left_anchor ? 0 : corner);
  switch (p_.sparse_mode) {
    case 2:
      return j <= i;
    case 3:
      return lower_right;
    case 4:
      return in_band(b, i, j);
    case 6: {
      const std::int64_t more = bug_ == Bug::longer_prefix ? 1 : 0;
      const std::int64_t sequence = bug_ == Bug::first_prefix ? 0 : b;
      return lower_right || j < p_.prefix[static_cast<std::size_t>(sequence)] + more;
    }
    default:
      break;
  }
  const bool banded = b == band_sequence(p_) || bug_ == Bug::band_everywhere;
  if (banded) return in_band(b, i, j);
  return p_.sparse_mode == 7 ? lower_right : j <= i;
}

bool Scores::keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
  if (bug_ == Bug::mask_ignored) return true;
  if (bug_ == Bug::last_key_dropped && j == p_.length_kv(b) - 1) return false;
  if (!inputs_.atten_mask) return true;
  if (bug_ == Bug::mask_off_by_one) j = std::max<std::int64_t>(0, j - 1);
  if (p_.sparse_mode > 1 && p_.sparse_mode != 5) return in_window(b, i, j);
  const spec::Tensor& mask = *inputs_.atten_mask;
  const spec::Shape& stride = mask.strides;
  const std::size_t rank = stride.size();
  std::int64_t element = mask.offset + i * stride[rank - 2] + j * stride[rank - 1];
  if (rank == 4)
    element += (mask.shape[0] > 1 ? b * stride[0] : 0) + (mask.shape[1] > 1 ? n * stride[1] : 0);
  return mask.load(element) == 0;
}

/// Number of a score, or of a key, when sequences follow one another head by head.
std::int64_t Scores::packed(const spec::RowPosition& row, std::int64_t j, bool one_row) const {
  std::int64_t earlier = 0;
  for (std::int64_t b = 0; b < row.b; ++b)
    earlier += (one_row ? 1 : p_.length_q(b)) * p_.length_kv(b);
  const std::int64_t in_head = one_row ? 0 : row.s;
  const std::int64_t rows = one_row ? 1 : p_.length_q(row.b);
  return p_.heads_q * earlier + (row.n * rows + in_head) * p_.length_kv(row.b) + j;
}

float Scores::outer(const spec::RowPosition& row, std::int64_t j) const {
  const spec::Tensor& pse = *inputs_.pse_shift;
  const spec::Shape& stride = pse.strides;
  const std::int64_t n = bug_ == Bug::bias_of_head_0 ? 0 : row.n;
  const auto at = [&](std::int64_t b, std::int64_t i, std::int64_t column) {
    return static_cast<float>(
        pse.load(pse.offset + b * stride[0] + n * stride[1] + i * stride[2] + column * stride[3]));
  };
  const auto flat = [&](bool one_row) {
    const spec::RowPosition place{row.b, n, row.s};
    return static_cast<float>(pse.load(pse.offset + packed(place, j, one_row) * stride[0]));
  };
  switch (p_.pse_shift) {
    case PseShape::bnss:
      return at(row.b, row.s, j);
    case PseShape::bn1s:
      return at(row.b, 0, j);
    case PseShape::one_nss:
      return at(0, row.s, j);
    case PseShape::packed_bn1s:
      return flat(true);
    case PseShape::packed_bnss:
      return flat(false);
    default:
      break;
  }
  const std::int64_t b = p_.pse_shift == PseShape::bnhs ? row.b : 0;
  const std::int64_t past = row.s - j - (p_.seq_kv - spec::compressed_pse_rows);
  if (row.s < j) return 0;
  if (is_packed(p_.input_layout)) return past >= 0 ? at(b, past, 0) : at(b, 0, -past);
  const std::int64_t top = p_.seq_q - spec::compressed_pse_rows;
  if (row.s >= top) return at(b, row.s - top, j);
  const std::int64_t line = row.s % spec::compressed_pse_rows;
  return at(b, line, j - row.s + line + top);
}

float Scores::slope(const spec::RowPosition& row, std::int64_t j) const {
  const spec::Tensor& pse = *inputs_.pse_shift;
  const std::int64_t n = bug_ == Bug::bias_of_head_0 ? 0 : row.n;
  const std::int64_t element = p_.pse_shift == PseShape::slopes_n
                                   ? pse.offset + n * pse.strides[0]
                                   : pse.offset + row.b * pse.strides[0] + n * pse.strides[1];
  const bool starts = !p_.q_start_idx.empty() && !p_.kv_start_idx.empty() &&
                      bug_ != Bug::start_ignored &&
                      !(is_packed(p_.input_layout) && p_.sparse_mode == 8 && row.b > 0);
  const std::int64_t shift = starts ? p_.kv_start_idx[0] - p_.q_start_idx[0] : 0;
  const auto distance = static_cast<float>(std::abs(j + shift - row.s));
  const bool root = (p_.pse_type == 3) != (bug_ == Bug::bias_type_confused);
  const float sign = bug_ == Bug::slope_sign ? 1.0f : -1.0f;
  return sign * static_cast<float>(pse.load(element)) * (root ? std::sqrt(distance) : distance);
}

float Scores::biased(float product, float scale, const spec::RowPosition& row,
                     std::int64_t j) const {
  if (!inputs_.pse_shift || bug_ == Bug::bias_ignored) return product * scale;
  if (p_.pse_type >= 2) return product * scale + slope(row, j);
  const bool first = (p_.pse_type == 1) != (bug_ == Bug::bias_type_confused);
  return first ? (product + outer(row, j)) * scale : product * scale + outer(row, j);
}

bool Scores::survives(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
  if (!p_.has_dropout()) return true;
  const std::int64_t head = bug_ == Bug::drop_bits_of_head_0 ? 0 : n;
  const std::int64_t score = packed({b, head, i}, j, false);
  const std::int64_t bit = bug_ == Bug::drop_bits_reversed ? 7 - score % 8 : score % 8;
  const spec::Tensor& mask = *inputs_.drop_mask;
  const auto byte = mask.bytes[static_cast<std::size_t>(mask.offset + score / 8)];
  return (std::to_integer<unsigned>(byte) >> bit & 1u) != 0;
}

std::int64_t Scores::statistics_element(const spec::Tensor& tensor,
                                        const spec::RowPosition& row) const {
  const spec::Shape& stride = tensor.strides;
  if (!is_packed(p_.input_layout))
    return tensor.offset + row.b * stride[0] + row.n * stride[1] + row.s * stride[2];
  const bool by_head =
      (p_.softmax_in_layout == spec::StatisticsOrder::packed) != (bug_ == Bug::statistics_order);
  std::int64_t token = queries_.start(row.b) + row.s, head = row.n;
  if (by_head) {
    const std::int64_t flat =
        p_.heads_q * queries_.start(row.b) + row.n * p_.length_q(row.b) + row.s;
    token = flat / p_.heads_q, head = flat % p_.heads_q;
  }
  return tensor.offset + token * stride[0] + head * stride[1];
}

}  // namespace assay::conformance::exact_case_test
