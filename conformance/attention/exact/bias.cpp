#include "attention/exact/bias.hpp"

#include <algorithm>
#include <cmath>

#include "assay/spec/at.hpp"
#include "attention/exact/exact_store.hpp"

namespace assay::conformance::exact {
namespace {

constexpr std::int64_t lowered = 128;

using spec::at;

bool is_compressed(spec::PseShape shape) {
  return shape == spec::PseShape::bnhs || shape == spec::PseShape::one_nhs;
}

/// Returns the exponent of the slopes for pse_type 3 (square roots). A slope must be so large that
/// neighbouring keys have scores 128 apart, even at the largest distance between a query and its
/// nearest key. At much larger distances some slopes are too small.
int root_bits_of(const Op::Problem& p) {
  constexpr int most = 10;
  const std::int64_t shift = std::abs(centre_of(p, 0, 0));
  return std::min(
      most,
      bit_length(static_cast<std::int64_t>(2 * std::sqrt(static_cast<double>(shift) + 1)) + 1));
}

}  // namespace

Bias::Bias(const ExactPlan& plan)
    : plan_(&plan),
      queries_(query_extents(plan.problem)),
      random_(stream(plan.seed, Stream::exact_case).bits(~std::uint64_t{0}),
              static_cast<std::uint64_t>(Stream::exact_case)),
      root_bits_(root_bits_of(plan.problem)) {
  // A query selects keys by the bits of their codes. Codes with only a few bits cannot select a few
  // keys out of many. For small head sizes the bias therefore lowers the scores of all but a few
  // keys.
  constexpr std::int64_t few_channels = 8, few_keys = 4, scores = 1 << 16;
  const std::int64_t keys = std::max<std::int64_t>(plan.problem.seq_kv, 1);
  const std::int64_t half = scores / 2;
  rare_ = static_cast<std::uint64_t>(
      plan.width() < few_channels ? std::min(half, few_keys * scores / keys) : half);
}

/// Returns a number that is the same for all rows that read the same elements of pse_shift.
std::uint64_t Bias::slice(std::int64_t b, std::int64_t n, std::int64_t i) const {
  const Op::Problem& p = plan_->problem;
  switch (p.pse_shift) {
    case spec::PseShape::bnss:
      return static_cast<std::uint64_t>((b * p.heads_q + n) * p.seq_q + i);
    case spec::PseShape::packed_bnss:
      return static_cast<std::uint64_t>(queries_.row(b, n, i));
    case spec::PseShape::one_nss:
      return static_cast<std::uint64_t>(n * p.seq_q + i);
    case spec::PseShape::one_nhs:
      return static_cast<std::uint64_t>(n);
    default:
      return static_cast<std::uint64_t>(b * p.heads_q + n);
  }
}

bool Bias::lowers(std::uint64_t slice, std::int64_t column) const {
  const Random row(random_.bits(slice), static_cast<std::uint64_t>(Stream::exact_case));
  return (row.bits(static_cast<std::uint64_t>(column)) & 0xffff) >= rare_;
}

std::int64_t Bias::share(std::uint64_t slice) const {
  if (plan_->raises == 0) return 0;
  const Random row(random_.bits(slice), static_cast<std::uint64_t>(Stream::sampling));
  // If scale.factor is 3, the result must be even: bf16 cannot represent 3 * n for odd n above 128.
  return plan_->scale.factor == 1 ? row.integer(0, -8, 8) : 2 * row.integer(0, -1, 1);
}

bool Bias::lowers(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
  if (plan_->bias != BiasForm::flags) return false;
  return lowers(slice(b, n, i), is_compressed(plan_->problem.pse_shift) ? i - j : j);
}

std::int64_t Bias::share(std::int64_t b, std::int64_t n, std::int64_t i) const {
  return plan_->bias == BiasForm::flags ? share(slice(b, n, i)) : 0;
}

std::int64_t Bias::steepness(std::int64_t b, std::int64_t n) const {
  if (plan_->bias < BiasForm::nearest) return 0;
  const bool shared = plan_->problem.pse_shift == spec::PseShape::slopes_n;
  const std::int64_t head = n + (shared ? 0 : b * (plan_->problem.heads_q + 1));
  const std::int64_t sign = sign_of_slope(n, head);
  if (plan_->bias == BiasForm::cancelled) return sign * (1 + (head + 1) % 4);
  if (plan_->problem.pse_type == 3) return sign * (lowered << (root_bits_ + head % 2));
  return sign * (lowered << head % 3);
}

/// A slope is 0 with probability 1/8, and negative with probability 1/4. One head always has a
/// positive slope, so that most of its rows are exact. With pse_type 3 (square roots) no slope is
/// negative: the farthest keys would have the largest weights, and few of their distances have an
/// integer root.
std::int64_t Bias::sign_of_slope(std::int64_t n, std::int64_t head) const {
  const auto heads = static_cast<std::uint64_t>(plan_->problem.heads_q);
  if (static_cast<std::uint64_t>(n) == plan_->seed % heads) return 1;
  const Random slopes(random_.bits(static_cast<std::uint64_t>(head)),
                      static_cast<std::uint64_t>(Stream::pse));
  const std::int64_t lot = slopes.integer(0, 0, 7);
  if (lot == 0) return 0;
  return lot <= 2 && plan_->problem.pse_type == 2 ? -1 : 1;
}

std::optional<std::int64_t> Bias::depth(std::int64_t b, std::int64_t n,
                                        std::int64_t distance) const {
  const std::int64_t slope = steepness(b, n);
  if (plan_->problem.pse_type != 3) return slope * distance;
  const auto exact = static_cast<double>(distance);
  const std::int64_t root = std::llround(std::sqrt(exact));
  const double gap = static_cast<double>(slope) * (std::sqrt(exact + 1) - std::sqrt(exact));
  if (root * root != distance || gap < lowered) return std::nullopt;
  return slope * root;
}

double Bias::outer(std::uint64_t slice, std::int64_t column) const {
  const Scale& scale = plan_->scale;
  const std::int64_t taken = share(slice) + (lowers(slice, column) ? lowered : 0);
  if (plan_->problem.pse_type == 0) return -static_cast<double>(taken * scale.factor);
  return std::ldexp(-static_cast<double>(scale.sign * taken), scale.shift);
}

void Bias::write(spec::Tensor& tensor) const {
  const std::vector<std::int64_t> elements = spec::viewed_elements(tensor);
  const Op::Problem& p = plan_->problem;
  const auto count = static_cast<std::int64_t>(elements.size());
  if (plan_->bias >= BiasForm::nearest) {
    for (std::int64_t e = 0; e < count; ++e)
      store_exactly(
          tensor, elements[at(e)],
          static_cast<double>(plan_->scale.factor * steepness(e / p.heads_q, e % p.heads_q)));
  } else if (tensor.shape.size() == 1) {
    write_packed(tensor);
  } else {
    const std::int64_t columns = tensor.shape.back(), rows = spec::compressed_pse_rows;
    for (std::int64_t e = 0; e < count; ++e) {
      const std::int64_t row = e / columns, column = e % columns;
      store_exactly(tensor, elements[at(e)],
                    is_compressed(p.pse_shift) ? outer(static_cast<std::uint64_t>(row / rows),
                                                       columns - rows + row % rows - column)
                                               : outer(static_cast<std::uint64_t>(row), column));
    }
  }
}

void Bias::write_packed(spec::Tensor& tensor) const {
  const Op::Problem& p = plan_->problem;
  std::int64_t element = tensor.offset;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n) {
      const std::int64_t rows = p.pse_shift == spec::PseShape::packed_bn1s ? 1 : p.length_q(b);
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < p.length_kv(b); ++j, element += tensor.strides[0])
          store_exactly(tensor, element, outer(slice(b, n, i), j));
    }
}

}  // namespace assay::conformance::exact
