#include <cmath>

#include "oracle.hpp"

namespace assay::test {
namespace {

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
  x = (x ^ x >> 27) * 0x94D049BB133111EBU;
  return x ^ x >> 31;
}

std::uint64_t number_of(std::initializer_list<std::int64_t> parts) {
  std::uint64_t hash = 0;
  for (const std::int64_t part : parts) hash = mixed(hash ^ static_cast<std::uint64_t>(part));
  return hash;
}

/// Returns one of 255 numbers with at most 7 significant bits.
double small_number(std::uint64_t hash) { return (static_cast<double>(hash % 255) - 127) / 64; }

bool in_band(const Op::Problem& p, const Pair& x) {
  const std::int64_t right = x.i + p.length_kv(x.b) - p.length_q(x.b);
  return right - p.pre_tokens <= x.j && x.j <= right + p.next_tokens;
}

/// Returns whether the band mask applies to sequence b. In mode 7 it applies to the last sequence
/// with queries, in mode 8 to the first one.
bool is_band(const Op::Problem& p, std::int64_t b) {
  if (p.length_q(b) == 0) return false;
  for (std::int64_t other = 0; other < p.batch; ++other)
    if (p.length_q(other) > 0 && (p.sparse_mode == 7 ? other > b : other < b)) return false;
  return true;
}

}  // namespace

bool kept(const Example& e, const Pair& x) {
  const Op::Problem& p = e.problem;
  if (p.atten_mask == spec::MaskShape::absent) return true;
  const bool left_up = x.j <= x.i;
  const bool right_down = x.j <= x.i + p.length_kv(x.b) - p.length_q(x.b);
  switch (p.sparse_mode) {
    case 2:
      return left_up;
    case 3:
      return right_down;
    case 4:
      return in_band(p, x);
    case 6:
      return right_down || x.j < p.prefix[static_cast<std::size_t>(x.b)];
    case 7:
      return is_band(p, x.b) ? in_band(p, x) : right_down;
    case 8:
      return is_band(p, x.b) ? in_band(p, x) : left_up;
    default:
      break;
  }
  const bool per_head = p.atten_mask == spec::MaskShape::bnss;
  const bool per_batch = per_head || p.atten_mask == spec::MaskShape::b_one_ss;
  return !e.excludes(per_batch ? x.b : 0, per_head ? x.n : 0, x.i, x.j);
}

double bias_of_pair(const Pair& x) { return small_number(number_of({x.b, x.n, x.i, x.j})); }

double bias_of_distance(std::int64_t b, std::int64_t n, std::int64_t distance) {
  return small_number(number_of({17, b, n, distance}));
}

double slope(std::int64_t b, std::int64_t n) { return small_number(number_of({23, b, n})) / 32; }

bool dropped(const Pair& x) { return number_of({5, x.b, x.n, x.i, x.j}) % 3 == 0; }

double bias(const Op::Problem& p, const Pair& x) {
  using spec::PseShape;
  const bool first_only = p.sparse_mode == 8 && is_packed(p.input_layout);
  std::int64_t start_q = 0, start_kv = 0;
  if (!p.q_start_idx.empty() && !p.kv_start_idx.empty() && (!first_only || x.b == 0))
    start_q = p.q_start_idx[0], start_kv = p.kv_start_idx[0];
  const auto distance = static_cast<double>(std::abs((x.j + start_kv) - (x.i + start_q)));
  const auto sloped = [&](std::int64_t b) {
    return -slope(b, x.n) * (p.pse_type == 3 ? std::sqrt(distance) : distance);
  };
  switch (p.pse_shift) {
    case PseShape::absent:
      return 0;
    case PseShape::bnss:
    case PseShape::packed_bnss:
      return bias_of_pair(x);
    case PseShape::bn1s:
    case PseShape::packed_bn1s:
      return bias_of_pair({x.b, x.n, 0, x.j});
    case PseShape::one_nss:
      return bias_of_pair({0, x.n, x.i, x.j});
    case PseShape::bnhs:
      return bias_of_distance(x.b, x.n, x.i - x.j);
    case PseShape::one_nhs:
      return bias_of_distance(0, x.n, x.i - x.j);
    case PseShape::slopes_n:
      return sloped(0);
    case PseShape::slopes_bn:
      return sloped(x.b);
  }
  return 0;
}

}  // namespace assay::test
